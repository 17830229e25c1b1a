/** CONTRACT 6 and RELIABILITY H46: attribution in served pages, and nothing else changed in them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { headEnd } from "../../src/html/head.ts";
import { expectLinear } from "../kit/cpu.ts";
import { startExplained } from "../kit/explained.ts";
import type { TestServer } from "../kit/server.ts";

let server: TestServer;
beforeAll(async () => void (server = await startExplained()));
afterAll(() => server[Symbol.asyncDispose]());

async function served(page: string | Uint8Array, name = "index.html"): Promise<Buffer> {
  const { slug } = await server.deploy({ "index.html": "x", [name]: page });
  return Buffer.from(await (await server.site(slug, `/${name}`)).arrayBuffer());
}

test("a page says who serves it, before </head>, and nothing of it changes with owner or expiry", async () => {
  const page = "<!doctype html><html><head><title>T</title></head><body>B</body></html>";
  const { slug, site_id, version_id, expires_at } = await server.deploy({ "index.html": page });
  const got = await (await server.site(slug)).text();
  const [before, rest] = got.split('<meta name="generator" content="svc">') as [string, string];
  expect(before).toBe("<!doctype html><html><head><title>T</title>");
  const tags = rest.slice(0, rest.indexOf("</head>"));
  expect(rest.slice(tags.length)).toBe("</head><body>B</body></html>");
  const [, json] = new RegExp(
    `^<meta name="svc:site" content="${site_id}"><meta name="svc:version" content="${version_id}"><script type="application/ld\\+json">(.*)</script>$`,
  ).exec(tags)!;
  expect(JSON.parse(json!)).toMatchObject({
    "@context": "https://schema.org",
    "@type": "WebPage",
    isPartOf: { "@type": "WebSite", identifier: site_id },
    publisher: { name: "svc" },
  });
  expect(tags).not.toContain(String(expires_at));
});

/** `|` marks the place. */
test.each([
  ["an ordinary page", "<!doctype html><html><head><title>x</title>|</head><body></body></html>"],
  ["upper case", "<HTML><HEAD><TITLE>x</TITLE>|</HEAD ><BODY>"],
  ["no head at all: before what cannot stand in one", "<!doctype html><title>x</title>\n|<p>text"],
  ["text alone", "|hello"],
  ["an empty page", "|"],
  ["white space alone", " \n|"],
  ["a head that is not closed", "<html><head><meta charset=utf-8>|<body>"],
  ["a head that the page's end closes", "<head><title>x</title>|"],
  ["a head in a comment", "<!-- <head></head> --><head>|</head>"],
  ["an empty comment", "<!--><head>|</head>"],
  ["a comment that --!> closes", "<head><!-- </head> --!>|</head>"],
  ["two heads: the first", "<head><title>a</title>|</head><head><title>b</title></head>"],
  ["a head within the head", "<head><head>|</head></head>"],
  ["</head> in an attribute", "<head><meta content='</head>'><link title=\"</head>\">|</head>"],
  ["</head> in the title", "<head><title></head></title>|</head>"],
  ["</head> in a script", "<head><script>'</head>'</script>|</head>"],
  ["</head> in a script's inner script", "<head><script><!-- <script></script></head> --></script>|</head>"],
  ["a script whose comment is not closed", "<head><script><!-- </script>|</head>"],
  ["</head> in a style and in a noscript", "<head><style></head></style><noscript></head></noscript>|</head>"],
  ["a head in a template", "<head><template><head></head></template>|</head>"],
  ["templates that nest", "<head><template><template></template></head></template>|</head>"],
  ["</template> in a script of a template", "<head><template><script></template></script></template>|</head>"],
  ["a stray end tag", "<head></p></div>|</head>"],
  ["</body> without a body", "<head>|</body>"],
  ["a quote that is not after =", "<head><meta a'b>|</head><p title='>'>"],
  ["an attribute without quotes", "<head><meta content=a'b>|</head>"],
  ["a slash at the end", "<head><meta/><link rel=x />|</head>"],
  ["an XML declaration", '<?xml version="1.0"?><html><head>|</head>'],
  ["a bogus comment", "<head></ x>|</head>"],
  ["a comment that is never closed", "<head>|<!-- </head>"],
  ["a script that is never closed", "<head>|<script> </head>"],
  ["a template that is never closed", "<head>|<template></head>"],
  ["a tag that is never closed", "<head>|<meta content='</head>"],
  ["less-than signs in text", "|< 3 <- </head>"],
  ["less-than signs in a template", "<head><template>a < b <</template>|</head>"],
  ["a UTF-8 mark", "\u00ef\u00bb\u00bf<html><head>|</head>"],
  ["an icon that ends the head", "<head><title>x</title>|<svg></svg></head>"],
])("H46: the place in %s", (_, marked) => {
  const at = marked.indexOf("|");
  expect(headEnd(marked.replace("|", ""))).toBe(at);
});

describe("H46: the author's bytes come out unharmed, with one attribution", () => {
  const utf16 = (text: string, mark: number[], swap: boolean): Uint8Array => {
    const bytes = Buffer.from(text, "utf16le");
    return Buffer.concat([Buffer.from(mark), swap ? bytes.swap16() : bytes]);
  };
  test.each([
    [
      "Latin-1 with its own meta",
      Buffer.from("<head><meta charset=iso-8859-1><title>caf\u00e9</title></head>", "latin1"),
    ],
    [
      "bytes that are no encoding at all",
      Buffer.concat([Buffer.from("<head></head>"), Buffer.from([0xff, 0xfe, 0x80, 0xc0])]),
    ],
    ["a UTF-8 mark", Buffer.from("\ufeff<head></head>caf\u00e9")],
    ["a 9 MB attribute", Buffer.from(`<head></head><p title="${"x".repeat(9_000_000)}">text</p>`)],
    ["a 9 MB head", Buffer.from(`<head><style>${"x".repeat(9_000_000)}</style></head>text`)],
    ["two heads", Buffer.from("<head></head><head></head>")],
  ])("%s", async (_, page) => {
    const got = await served(page);
    const from = got.indexOf('<meta name="generator" content="svc">');
    const to = got.indexOf("</script>", from) + "</script>".length;
    expect(from).toBeGreaterThan(-1);
    expect(got.indexOf('<meta name="generator"', to)).toBe(-1);
    expect(Buffer.compare(Buffer.concat([got.subarray(0, from), got.subarray(to)]), page)).toBe(0);
  });
  test.each([
    ["UTF-16, little end first", utf16("<head></head>", [0xff, 0xfe], false)],
    ["UTF-16, big end first", utf16("<head></head>", [0xfe, 0xff], true)],
    ["UTF-16 without a mark", utf16("<head></head>", [], false)],
  ])("%s is not rewritten", async (_, page) => {
    expect(Buffer.compare(await served(page), page)).toBe(0);
  });
  test.each(["picture.svg", "page.xhtml", "data.json", "notes.txt"])("%s is not rewritten", async (name) => {
    const page = '<svg xmlns="http://www.w3.org/2000/svg"><head></head></svg>';
    expect((await served(page, name)).toString()).toBe(page);
  });
});

test("H46: a page that is not UTF-8 goes out without charset, so that its own meta counts", async () => {
  const { slug } = await server.deploy({
    "index.html": Buffer.from("<head><meta charset=iso-8859-1></head>caf\u00e9", "latin1"),
    "utf8.html": "caf\u00e9",
  });
  expect((await server.site(slug, "/")).headers.get("content-type")).toBe("text/html");
  expect((await server.site(slug, "/utf8.html")).headers.get("content-type")).toBe("text/html; charset=utf-8");
});

test.each([
  ["attributes", "<head><meta ", "a "],
  ["open quotes", "<head><meta ", "a='"],
  ["comments", "<head>", "<!--"],
  ["templates", "<head>", "<template><"],
  ["scripts in scripts", "<head>", "<script><!--"],
  ["end tags", "<head>", "</x>"],
  ["titles", "<head>", "<title></title>"],
  ["spaces", "<head><meta", " "],
])("2 MB of hostile %s take a fraction of a second", (_, start, piece) => {
  const pageOf = (size: number) => start + piece.repeat(size / piece.length);
  expect(headEnd(pageOf(2_000_000))).toBeGreaterThan(0);
  expectLinear(2_000_000, pageOf, headEnd);
});
