/** PIPELINE 2: which uploads are single-page apps. */
import { describe, expect, test } from "bun:test";
import { detectSpa } from "../../src/pipeline/spa.ts";
import type { Files } from "../../src/base/types.ts";
import { cpuOf, expectLinear } from "../kit/cpu.ts";
import { DOCUMENTS } from "../kit/spa-documents.ts";
import { APPS, type Shape } from "../kit/spa-shapes.ts";

const filesOf = (shape: Shape): Files =>
  new Map(Object.entries(shape).map(([path, text]) => [path, Buffer.from(text)]));
const ruleOf = (shape: Shape): string => detectSpa(filesOf(shape)).spa.rule;

describe("is a single-page app", () => {
  test.each(Object.entries(APPS))("%s", (_, { rule, files }) => {
    const { spa, healed } = detectSpa(filesOf(files));
    expect(spa).toEqual({ enabled: true, rule: rule as typeof spa.rule });
    expect(healed).toMatchObject([{ code: "spa_fallback", reason: rule }]);
    expect(healed[0]!.message).toMatch(/^Paths that name no file answer with (index|200)\.html, because .{10,}\.$/);
  });
});

describe("is none", () => {
  test.each(Object.entries(DOCUMENTS))("%s", (_, { rule, files }) => {
    expect(detectSpa(filesOf(files))).toEqual({ spa: { enabled: false, rule }, healed: [] });
  });
});

test.each(["_svc/about.html", ".well-known/acme-challenge/about.html"])(
  "a page that is never served is not another page: %s",
  (path) => {
    const [[, { rule, files }]] = Object.entries(APPS).filter((app) => app[1].rule === "shell") as [
      [string, (typeof APPS)[string]],
    ];
    expect(ruleOf({ ...files, "about.html": "<h1>About</h1>" })).toBe("none");
    expect(ruleOf({ ...files, [path]: "<h1>About</h1>" })).toBe(rule);
  },
);

const INDEX = { "index.html": "<h1>A page with a heading is no shell</h1>" };
const REWRITES: [name: string, text: string][] = [
  ["_redirects", "# all\n/old /new 301\n/* /index.html 200"],
  ["_redirects", "/*\t/\t200!\r\n"],
  [
    "vercel.json",
    '{"rewrites":[{"source":"/api/(.*)","destination":"/api"},{"source":"/(.*)","destination":"/index.html"}]}',
  ],
  ["vercel.json", '{"rewrites":[{"source":"/((?!api/.*).*)","destination":"/"}]}'],
  ["vercel.json", '{"rewrites":[{"source":"/:path*","destination":"/index.html"}]}'],
  ["vercel.json", '{"routes":[{"handle":"filesystem"},{"src":"/.*","dest":"/index.html"}]}'],
  ["netlify.toml", '[build]\npublish = "dist"\n[[redirects]]\n  from = "/*"\n  to = "/index.html"\n  status = 200\n'],
  ["netlify.toml", 'redirects = [{from = "/*", to = "/index.html", status = 200}]'],
  ["netlify.toml", '[[redirects]]\n"from" = """/*"""\nto = \'/index.html\'\nstatus = 200 # all\n'],
  ["netlify.toml", '[[redirects]]\nfrom = "/*"\nto = "/index.html"\nstatus = 200\n[redirects.headers]\nX-From = "a"\n'],
  ["firebase.json", '{"hosting":{"public":"dist","rewrites":[{"source":"**","destination":"/index.html"}]}}'],
  [
    "firebase.json",
    '// two sites\n{"hosting":[{"target":"a"},{"rewrites":[{"source":"!/@(js|css)/**","destination":"/index.html"}]}]}',
  ],
  ["staticwebapp.config.json", '{"navigationFallback":{"rewrite":"/index.html","exclude":["/images/*"]}}'],
  [
    "wrangler.jsonc",
    '{\n  // how unknown paths answer\n  "assets": { "not_found_handling": "single-page-application" },\n}',
  ],
  ["wrangler.toml", '[assets]\nnot_found_handling = "single-page-application"\n'],
];
const NO_REWRITES: [name: string, text: string, why: string][] = [
  ["_redirects", "/* /index.html", "301 is the default, and a redirect is no rewrite"],
  ["_redirects", "#/* /index.html 200", "a comment"],
  ["_redirects", "/app/* /index.html 200", "not every path"],
  ["_redirects", "/* /404.html 200", "not to the index"],
  ["_redirects", "/* https://example.com/:splat 200", "to another host"],
  ["vercel.json", '{"rewrites":[{"source":"/blog/(.*)","destination":"/index.html"}]}', "not every path"],
  ["vercel.json", '{"rewrites":[{"source":"/(.*)"', "not JSON"],
  ["vercel.json", '{"rewrites":{"source":1,"destination":null}}', "not what it should be"],
  ["netlify.toml", '[[redirects]]\n# from = "/*"\nto = "/index.html"\nstatus = 200\n', "a comment"],
  ["netlify.toml", '[[redirects]]\nfrom = "/*"\nto = "/index.html"\nstatus = 301\n', "a redirect"],
  [
    "netlify.toml",
    '[[redirects]]\nfrom = "/*"\nto = "/index.html"\n[[plugins]]\nstatus = 200\n',
    "the status of another section",
  ],
  ["netlify.toml", '[[redirects]]\nfrom = "/*"\nto = "/index.html"\nstatus = 200\n= broken', "not TOML"],
  ["netlify.toml", 'x = """\n[[redirects]]\nfrom = "/*"\nto = "/index.html"\nstatus = 200\n"""', "a text"],
  ["netlify.toml", 'redirects = "/*"', "not what it should be"],
  ["netlify.toml", 'redirects = [{from = "/*", to = "/", status = {toString = 1}}]', "not what it should be"],
  ["firebase.json", '{"hosting":{"rewrites":[{"source":"/api/**","function":"api"}]}}', "a function"],
  ["wrangler.jsonc", '{\n // "not_found_handling": "single-page-application"\n}', "a comment"],
  ["wrangler.toml", '# not_found_handling = "single-page-application"', "a comment"],
  ["wrangler.toml", '[vars]\nnot_found_handling = "single-page-application"\n', "a variable of that name"],
  ["docs/_redirects", "/* /index.html 200", "not at the root"],
  ["_redirects", `${"# comment\n".repeat(11_000)}/* /index.html 200`, "too large to be read"],
];

describe("rule 1: the upload's own configuration", () => {
  test.each(REWRITES)("%s sends every path to the index (%#)", (name, text) =>
    expect(ruleOf({ ...INDEX, [name]: text })).toBe("config"),
  );
  test.each(NO_REWRITES.map(([name, text, why]) => [name, why, text] as const))("%s does not: %s", (name, _, text) =>
    expect(ruleOf({ ...INDEX, [name]: text })).toBe("none"),
  );
});

const shell = (body: string, more: Shape = {}): Shape => ({
  "index.html": `<head><title>A long title is no visible text: ${"x".repeat(200)}</title></head><body>${body}<script src="/a.js"></script></body>`,
  "a.js": "1",
  ...more,
});
const SHELLS: [spa: boolean, shape: Shape, why: string][] = [
  [true, shell(`<div id="app">${"x".repeat(120)}</div>`), "120 visible characters"],
  [false, shell(`<div id="app">${"x".repeat(121)}</div>`), "121 visible characters"],
  [
    true,
    shell(`<div id="app"><style>${"x".repeat(500)}</style></div><!-- ${"x".repeat(500)} -->`),
    "style and comment are not visible",
  ],
  [
    true,
    shell(`<template><h1>Later</h1><a href="/x">x</a></template><div class="box app"></div>`),
    "a template is not shown",
  ],
  [false, shell('<div id="app"></div><a href="/about">About</a>'), "a link"],
  [false, shell('<div id="app"></div><form></form>'), "a form"],
  [false, shell('<div id="app"></div><iframe src="/x"></iframe>'), "a frame"],
  [
    true,
    shell('<div id="app"></div><noscript><iframe src="https://www.googletagmanager.com/ns.html"></iframe></noscript>'),
    "a frame in noscript",
  ],
  [
    false,
    { "index.html": '<div id="app"></div><script src="https://cdn.example/a.js"></script>' },
    "no code of its own",
  ],
  [
    false,
    { "index.html": '<div id="app"></div><script type="application/json" src="/a.js"></script>' },
    "data is no code",
  ],
  [true, { "index.html": '<x-app></x-app><link rel="modulepreload" href="/a.js">' }, "a preloaded module"],
  [true, shell("", { "a.js": "history.pushState" }), "no mount node, but a router"],
  [false, shell('<div id="approach"></div>'), "a name that only begins like a mount node"],
  [
    true,
    shell('<div id="app"></div>', { "app.html": shell('<div id="app"></div>')["index.html"]! }),
    "its copy is no other page",
  ],
  [false, shell(`<div id="app"></div>${"<br>".repeat(10_000)}`), "more elements than a shell has"],
  [false, shell('<div id="app"></div>', { "sub/page.HTM": "<p>" }), "another page, however it is written"],
];

describe("rules 5 to 7: a shell", () => {
  test.each(SHELLS.map(([spa, shape, why]) => [spa ? "is" : "is none", why, shape] as const))(
    "%s: %s",
    (is, _, shape) => expect(detectSpa(filesOf(shape)).spa.enabled).toBe(is === "is"),
  );

  test("an index in UTF-16 is read", () => {
    const text = Buffer.from(`\ufeff${shell('<div id="app"></div>')["index.html"]}`, "utf16le");
    expect(detectSpa(new Map([["index.html", text]])).spa.rule).toBe("shell");
  });
});

/** Bytes: half of what a deploy may have. */
const HALF = 4.5 * 1024 * 1024;
type Fill = (piece: string) => string;
const fillTo =
  (size: number): Fill =>
  (piece) =>
    piece.repeat(Math.floor(size / piece.length));
const HOSTILE: [what: string, index: (fill: Fill) => string][] = [
  ["elements never closed", (fill) => fill("<div id=app>")],
  ["ends without a beginning", (fill) => fill("</div>")],
  ["custom elements in each other", (fill) => fill("<a-b>")],
  ["comments never closed", (fill) => fill("<!-- ")],
  ["scripts never closed", (fill) => fill("<script>")],
  ["scripts that import", (fill) => fill('<script>import("/a.js")</script>')],
  ["quotes that pair by chance", (fill) => fill(`<p a="'" b='`)],
  ["one long attribute", (fill) => `<p a="${fill("x")}`],
  ["attributes without end", (fill) => `<p ${fill("a= ")}`],
  ["white space in an import", (fill) => `<script>import${fill(" ")}`],
  ["white space in a tag", (fill) => `<script ${fill(" ")}>`],
  ["entities", (fill) => fill("&amp")],
  ["bare angles", (fill) => fill("<")],
  ["router without a value", (fill) => fill("router = ")],
];

describe("hostile pages stay linear", () => {
  test.each(HOSTILE)("%s", (_, index) => {
    const draftsOf = (size: number) => {
      const page = index(fillTo(size));
      return [filesOf({ "index.html": page }), filesOf(shell('<div id="app"></div>', { "other.html": page }))];
    };
    expectLinear(HALF, draftsOf, (drafts) => drafts.forEach((files) => detectSpa(files)));
  });

  const repeated = (piece: string) => (length: number) => fillTo(length)(piece);
  const nested = (open: string, close: string) => (length: number) =>
    fillTo(length / 2)(open) + fillTo(length / 2)(close);
  /** Of about ten letters each. */
  const lines = (line: (i: number) => string) => (length: number) =>
    Array.from({ length: length / 10 }, (_, i) => line(i)).join("");
  test.each<[name: string, text: (length: number) => string, length: number]>([
    ["_redirects", repeated("/* "), HALF],
    ["netlify.toml", repeated("[[redirects]]\n"), 56_000],
    ["vercel.json", repeated("["), 60_000],
    ["firebase.json", repeated('"\\"'), 60_000],
    ["wrangler.jsonc", repeated("/*"), 60_000],
    ["wrangler.toml", repeated("not_found_handling "), 57_000],
    ["netlify.toml", (length) => `a${repeated(".a")(length)} = 1`, 60_000],
    ["netlify.toml", (length) => `a = ${nested("[", "]")(length)}`, 60_000],
    ["netlify.toml", (length) => `a = "${repeated("\\n")(length)}"`, 60_000],
    ["netlify.toml", repeated("["), 10 << 20],
    ["vercel.json", nested("[", "]"), 60_000],
    ["vercel.json", repeated('{"a":'), 60_000],
    ["vercel.json", repeated("["), 10 << 20],
    ["wrangler.jsonc", (length) => `"${repeated("\\u0041")(length)}"`, 60_000],
    ["firebase.json", (length) => `{${lines((i) => `"k${i}":1,`)(length)}"k":1}`, 60_000],
  ])("a hostile %s does too", (name, text, length) => {
    const filesFor = (size: number) => ({ ...INDEX, [name]: text(size) });
    expectLinear(length, filesFor, (files) => expect(ruleOf(files)).toBe("none"));
  });

  // Bun's parser takes the square of their number: 0.2 s for 64 KB of them, and more is not read.
  test.each([
    ["keys", lines((i) => `k${i} = 1\n`)],
    ["sections", lines((i) => `[t${i}]\n`)],
  ])("a netlify.toml of %s is read as far as that takes no time to speak of", (_, text) => {
    const decide = (length: number) => {
      const files = { ...INDEX, "netlify.toml": text(length) };
      return cpuOf(() => expect(ruleOf(files)).toBe("none"));
    };
    const longest = decide(60_000);
    expect(longest).toBeLessThan(20_000); // a hundred times that 0.2 s: for slow machines
    expect(decide(2_000_000)).toBeLessThan(longest);
  });
});
