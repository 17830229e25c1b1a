/** What the lint reads out of scripts, styles and pages (PIPELINE 4): code is told from text that only looks like it. */
import { describe, expect, test } from "bun:test";
import { Page } from "../../src/html/page.ts";
import { pageReferences } from "../../src/pipeline/references/page.ts";
import { scriptReferences } from "../../src/pipeline/references/script.ts";
import { styleReferences } from "../../src/pipeline/references/style.ts";

describe("scripts", () => {
  const imports = (code: string) => scriptReferences(code).imports.map(({ specifier }) => specifier);

  test.each<[code: string, found: string[]]>([
    [`import a from "./a.js"`, ["./a.js"]],
    [`import{a as b,c}from'./a.js';import"./b.js"`, ["./b.js", "./a.js"]],
    [`import * as a from "./a.js"; export * from "./b.js"; export {c} from './c.js'`, ["./a.js", "./b.js", "./c.js"]],
    [`import("./a.js"); await import( /* why */ './b.js' ); import(\`./c.js\`)`, ["./a.js", "./b.js", "./c.js"]],
    [`import("./a/" + name); import(\`./\${name}.js\`); import(name)`, []],
    [`import a from "\\u002e/a.js"`, ["./a.js"]],
    [`// import "./a.js"\n/* import "./b.js" */`, []],
    [
      `const s = 'import "./a.js"', t = "from './b.js'", u = \`import "./c.js" \${v + 'from "./d.js"'} import "./e.js"\``,
      [],
    ],
    [`const r = /import "a"/g, q = a / b / "x".length; import "./c.js"`, ["./c.js"]],
    [`if (a) /["']/.test(b); import "./c.js"`, ["./c.js"]],
    [`const x = f(a) / 2; const y = "'"; import "./c.js"`, ["./c.js"]],
    [`a++ / 2; "x"; b = c[0] / d["'"]; import "./c.js"`, ["./c.js"]],
    [`return /[/"']/.exec(x)\nimport "./c.js"`, ["./c.js"]],
    [`\`\${{a: {b: \`\${'}'}\`}}}\`; import "./c.js"`, ["./c.js"]],
    [`a.import("./a.js"); b.from("./b.js"); $import("./c.js")`, []],
    [`"unclosed\nimport "./a.js"`, ["./a.js"]],
    [`/* unclosed import "./a.js"`, []],
  ])("%j imports %j", (code, found) => {
    expect(imports(code)).toEqual(found);
  });

  test.each<[code: string, urls: string[]]>([
    [`fetch("a.json"); window.fetch('b.json', {cache: "no-store"})`, ["a.json", "b.json"]],
    [`fetch("/api", {method: "POST"}); fetch("x" + id); cache.fetch("a"); prefetch("b")`, []],
    [`fetch("/x/" + id); fetch("/y?z=" + id)`, ["/x/", "/y?z="]],
    [`new Worker("a.js"); navigator.serviceWorker.register('/sw.js'); plugins.register("x.js")`, ["a.js"]],
    [`x.open("GET", "a.json"); x.open("POST", "b.json"); window.open("c.html", "d")`, ["a.json"]],
  ])("%j asks for %j", (code, urls) => {
    expect(
      scriptReferences(code)
        .by_page.map(({ url }) => url)
        .toSorted(),
    ).toEqual(urls.toSorted());
  });

  test("service workers are told apart, for not all of them are missed", () => {
    const { service_workers } = scriptReferences(
      "navigator.serviceWorker.register('/sw.js'); plugins.register('x.js')",
    );
    expect(service_workers).toEqual([{ url: "/sw.js", use: "worker" }]);
  });

  test.each<[code: string, urls: string[]]>([
    [`new WebSocket("ws://localhost:1/"); new EventSource('/events')`, ["ws://localhost:1/", "/events"]],
    [`const A = "http://localhost:1"; fetch(A + "/x")`, ["http://localhost:1"]],
    [`const A = "http://localhost:1"; fetch(\`\${A}/x\`)`, ["http://localhost:1"]],
    [`const A = dev ? "http://localhost:1" : ""; fetch(A + "/x")`, []],
    [`const A = "http://localhost:1"; show(A)`, []],
    [
      `axios.get("http://localhost:1/x"); axios.create({ baseURL: "http://localhost:2" })`,
      ["http://localhost:1/x", "http://localhost:2"],
    ],
  ])("%j calls %j", (code, urls) => {
    expect(scriptReferences(code).calls).toEqual(urls);
  });

  test.each<[code: string, is_module: boolean]>([
    [`import "./a.js"`, true],
    [`const a = 1;\nexport default a`, true],
    [`export{a}`, true],
    [`import("./a.js")`, false],
    [`module.export = 1; exports.a = 2; x.export`, false],
  ])("%j is a module: %p", (code, is_module) => {
    expect(scriptReferences(code).is_module).toBe(is_module);
  });
});

describe("styles", () => {
  test.each<[css: string, found: string[]]>([
    [`a{background:url(a.png)}b{background:url("b.png")}c{background:url( 'c.png' )}`, ["a.png", "b.png", "c.png"]],
    [`@import "a.css"; @import url(b.css) screen; @IMPORT url('c.css')`, ["a.css", "b.css", "c.css"]],
    [`/* url(a.png) */ p::after{content:"url(b.png)"} q{content:'/*'} r{background:url(c.png)}`, ["c.png"]],
    [
      `@font-face{src:url(a.eot?#iefix) format("embedded-opentype"),url(a.woff2) format("woff2"),url(a.svg#a) format("svg")}`,
      ["a.woff2"],
    ],
    [`a{background:url(a\\ b.png)}c{background:url("\\64.png")}`, ["a b.png", "d.png"]],
    [`a{behavior:url(PIE.htc)}`, []],
    [`a{content:"\nb:url(c.png)}`, ["c.png"]],
    [`a{background:url(`, []],
  ])("%j loads %j", (css, found) => {
    expect(styleReferences(css).map(({ url }) => url)).toEqual(found);
  });
});

describe("pages", () => {
  test.each<[html: string, found: string[]]>([
    [`<img src=a.png srcset="b.png 1x, c.png 2x"><source srcset="d.png">`, ["a.png", "b.png", "c.png", "d.png"]],
    [
      `<img srcset="data:image/png;base64,AAAA= 1x, a,b.png, c.png">`,
      ["data:image/png;base64,AAAA=", "a,b.png", "c.png"],
    ],
    [`<IMG SRC='a.png'><a HREF=b.html>`, ["a.png", "b.html"]],
    [
      `<link rel="Stylesheet" href=a.css><link rel=canonical href=b><link rel="shortcut icon" href=c.ico>`,
      ["a.css", "c.ico"],
    ],
    [
      `<meta property="og:image" content=a.png><meta name="twitter:image" content=b.png><meta name=x content=c.png>`,
      ["a.png", "b.png"],
    ],
    [`<meta http-equiv=Refresh content="0; URL='a.html'"><meta http-equiv=refresh content=5>`, ["a.html"]],
    [`<template><img src=a.png></template><img src=b.png></template><img src=c.png>`, ["b.png", "c.png"]],
    [`<!-- <img src=a.png> --><noscript><img src=b.png></noscript><textarea><img src=c.png></textarea>`, []],
    [
      `<iframe srcdoc="x" src=a.html></iframe><iframe src=b.html></iframe><object data=c.svg></object>`,
      ["b.html", "c.svg"],
    ],
    [`<img src="a&amp;b.png"><img src=" c.png ">`, ["a&b.png", "c.png"]],
  ])("%j names %j", (html, found) => {
    expect(pageReferences(new Page(html)).references.map(({ url }) => url)).toEqual(found);
  });
});

describe("RequireJS", () => {
  const scripts = (html: string): string[] => pageReferences(new Page(html)).scripts.flatMap(({ url }) => url ?? []);

  test.each<[html: string, found: string[]]>([
    [`<script data-main="js/main" src="lib/require.js"></script>`, ["js/main.js", "lib/require.js"]],
    [`<script src=require.min.js data-main=main.js></script>`, ["main.js", "require.min.js"]],
    [`<script data-main="js/app&#46;js?v=2" src="/require.js"></script>`, ["js/app.js?v=2", "/require.js"]],
    [
      `<script data-main="text!a" src="require.js"></script><script data-main="x" src="other.js"></script>`,
      ["require.js", "other.js"],
    ],
  ])("%s begins with %j", (html, found) => expect(scripts(html)).toEqual(found));
});
