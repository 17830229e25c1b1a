/** Pages to take text from: those of the project's own documents and examples, as they are served, and odd ones. */
import { decodeHtml } from "../../src/html/decode.ts";
import { ROOT } from "../house/fence/source.ts";
import { docs } from "../kit/markdown-site.ts";

const bytesOf = (path: string): Promise<Uint8Array> => Bun.file(`${ROOT}/${path}`).bytes();

async function rendered(folder: string): Promise<[name: string, html: string][]> {
  const paths = await Array.fromAsync(new Bun.Glob("**/*.md").scan({ cwd: `${ROOT}/${folder}` }));
  const files = await Promise.all(paths.map(async (path) => [path, await bytesOf(`${folder}/${path}`)] as const));
  const site = docs(Object.fromEntries(files));
  return site.made
    .filter((path) => path.endsWith(".html"))
    .map((path) => [`${folder}/${path}`, site.page(path)] as [string, string])
    .toSorted();
}

async function written(folder: string): Promise<[name: string, html: string][]> {
  const paths = await Array.fromAsync(new Bun.Glob("**/*.html").scan({ cwd: `${ROOT}/${folder}` }));
  return Promise.all(
    paths
      .toSorted()
      .map(async (path) => [`${folder}/${path}`, decodeHtml(await bytesOf(`${folder}/${path}`))] as const),
  ) as Promise<[string, string][]>;
}

/** Name → HTML. */
export const realPages = async (): Promise<[name: string, html: string][]> => [
  ...(await rendered("docs")),
  ...(await rendered("examples/docs")),
  ...(await written("examples")),
];

/** Each is a body's content. */
export const ODD_PAGES: readonly (readonly [name: string, html: string])[] = [
  ["paragraphs without a space between", "<p>one</p><p>two</p>three<div>four</div>five"],
  ["inline elements join", "a<b>b</b><span>c</span> <i> d</i>e<a href=x>f</a>"],
  ["line breaks, rules, cells and items", "a<br>b<br/>c<hr>d<table><tr><td>e<td>f<th>g</table><ul><li>h<li>i</ul>"],
  ["white space runs, in pre too", "a \n\t b\f c&nbsp;&#160; d<pre>\n  x\n\n\ty  </pre>   e\u2003f"],
  [
    "what shows nothing",
    "so\u00adft ze\u200bro bo\ufeffm le\u200eft &shy;h &ZeroWidthSpace;w &#x202e;turn&#x202c; j\u200doin",
  ],
  ["accents apart", "Cafe\u0301 A\u030a \u1112\u1161\u11ab \u0958 &eacute; e&#x301;"],
  ["references by name", "&amp;&lt;&gt;&quot;&apos;&nbsp;&copy;&hellip;&ngtr;&NotEqualTilde;&fjlig;&bigstar;&nope;&;&"],
  ["references without an end", "&ampx &copy2 &notit; &notin; &ltd &AMP &frac12x &sup1 &para&sect; &hellip x &nbspx"],
  ["references by number", "&#65;&#x42;&#x1F600;&#128;&#0;&#xD800;&#x110000;&#99999999999;&#x;&#; &#9;a&#10;b &#x43 d"],
  ["scripts and styles", "a<script>var a = '<p>no</p>';</script>b<style>p{}</style>c<noscript><p>n</p></noscript>d"],
  ["a script in a comment in a script", "a<script><!-- <script>x</script> --></script>b"],
  ["templates, one in another", "a<template>x<template>y</template>z</template>b"],
  ["frames and what never shows", "a<iframe><p>no</iframe>b<noembed>x</noembed>c<noframes>y</noframes>d"],
  [
    "fields and lists to choose from",
    "a<textarea>\nb &amp; c</textarea>d<select><option>e<option>f</select><button>g</button>h",
  ],
  [
    "drawings",
    "a<svg><title>no</title><style>x</style><text>b</text><desc/><text>c</text></svg>d<math><mi>x</mi></math>",
  ],
  ["a drawing with HTML in it", "a<svg><foreignObject><p>b</p>c</foreignObject><script/></svg>d"],
  ["comments and what looks like one", "a<!-- x --><!>b<!--->c<?php x ?>d</ >e<! y>f< g<3h"],
  ["paragraphs that end by themselves", "<p>a<p>b<div>c<p>d</div>e</p>f"],
  ["end tags of nothing", "a</div>b</span>c</p>d</br>e</li>f</h2>g</body>h</html>i"],
  ["headings that end each other", "<h1>a</h2>b<h3>c</h3>d"],
  ["formatting across blocks", "<b>a<p>b</b>c</p>d<i>e<div>f</i>g</div>h"],
  [
    "definitions, figures, details",
    "<dl><dt>a<dd>b</dl><figure>c<figcaption>d</figcaption></figure><details><summary>e</summary>f</details>",
  ],
  ["words of many scripts", "漢字と<ruby>仮名<rt>かな</rt></ruby>、한국어 עברית <bdi>العربية</bdi> ไทย 👩‍👩‍👧 e"],
  ["elements that nobody knows", "a<x-note>b</x-note>c<o:p>d</o:p>e"],
  ["a second body and head", "a<body class=x>b<head>c<html>d"],
  ["text alone", "just text"],
  ["nothing", ""],
  ["white space alone", " \n <div> </div> "],
  ["attributes that look like tags", "a<p title='>x<p>y'>b</p><a href=\"/?a=1&amp;b=<i>\">c</a>"],
  ["an unclosed tag at the end", "a<b>b<p>c<d"],
  ["an unclosed comment at the end", "a<p>b<!-- c <p>d"],
  ["plain text to the end", "a<plaintext>b<p>c &amp; d</p>"],
  ["listings and examples", "<xmp>a <b>&amp;</b></xmp>b<listing>\nc</listing>d"],
];
