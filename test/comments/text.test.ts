/** COMMENTS 3, text extraction: one function for server and browser, told by a real Chromium that it is one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { pageText } from "../../src/comments/anchoring/page-text.ts";
import { normalise, placesIn, TextWriter } from "../../src/comments/anchoring/text.ts";
import { type Browser, openBrowser } from "../browser/chromium.ts";
import { expectLinear } from "../kit/cpu.ts";
import { ODD_PAGES, realPages } from "./pages.ts";

const page = (body: string): string => `<!doctype html><meta charset=utf-8><title>t</title>${body}`;

let server: Bun.Server<undefined>;
let browser: Browser;
let script: string;
let pages: Map<string, string>;
beforeAll(async () => {
  const entry = `${import.meta.dir}/../../src/comments/widget/page-text.ts`;
  const built = await Bun.build({ entrypoints: [entry], target: "browser", format: "esm", minify: true });
  const exported = /export\s*\{(\w+) as documentText\};?/;
  const module = await built.outputs[0]!.text();
  script = `(() => { ${module.replace(exported, "")}; globalThis.found = ${exported.exec(module)![1]}(); })()`;
  pages = new Map(await realPages());
  ODD_PAGES.forEach(([name, body]) => pages.set(name, page(body)));
  const names = [...pages.keys()];
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    development: false,
    fetch(request) {
      const html = pages.get(names[Number(new URL(request.url).pathname.slice(1))] ?? "");
      if (html === undefined) return new Response("", { status: 404 });
      // The text is that before any script of the page has run.
      const headers = { "content-type": "text/html;charset=utf-8", "content-security-policy": "default-src 'none'" };
      return new Response(html, { headers });
    },
  });
  browser = await openBrowser();
}, 60_000);
afterAll(async () => {
  await browser.close();
  await server.stop(true);
});

/** Without waiting for the page's rest: nothing of it is loaded. */
async function openPage(name: string): Promise<void> {
  const url = `${server.url}${[...pages.keys()].indexOf(name)}`;
  await browser.cdp("Page.navigate", { url });
  for (;;) {
    const state = await browser.evaluate<string>(`location.href + " " + document.readyState`).catch(() => "");
    if (state === `${url} complete`) break;
    await Bun.sleep(5);
  }
  await browser.evaluate(script);
}

const inBrowser = (): Promise<string> => browser.evaluate<string>("found.text");

describe("COMMENTS 3: server and browser read one text", () => {
  test("in every page of docs/ and examples/", async () => {
    const real = await realPages();
    expect(real.length).toBeGreaterThan(30);
    for (const [name, html] of real) {
      await openPage(name);
      expect({ name, text: await inBrowser() }).toEqual({ name, text: pageText(html) });
    }
  }, 120_000);

  test.each(ODD_PAGES.map(([name, body]) => [name, body] as const))("in odd ones: %s", async (name, body) => {
    await openPage(name);
    expect(pageText(page(body))).toBe(await inBrowser());
  });
});

describe("COMMENTS 3: what the text is", () => {
  test.each([
    ["one space at every edge of a block, br, td, li", "<p>a</p><p>b</p>c<br>d<td>e<td>f<li>g", "a b c d e f g"],
    ["none between inline elements", "<b>a</b><i>b</i>", "ab"],
    ["runs of white space are one space, in pre too", "<pre>a\n  b</pre>&nbsp; c", "a b c"],
    ["NFC", "e\u0301", "\u00e9"],
    ["without U+00AD, U+200B, U+FEFF and what turns the direction", "a\u00ad\u200b\ufeff\u202e\u2066b", "ab"],
    ["without script, style, template, noscript", "a<script>x</script><style>y</style><template>z</template>b", "ab"],
    ["without our own host", "a<svc-comments>Comments</svc-comments>b", "ab"],
  ])("%s", (_, html, text) => expect(pageText(page(html))).toBe(text));

  test("a place in the text leads to one in its node, and back", () => {
    const raw = "  e\u0301a\u00ad \n\u200b b\u1112\u1161\u11abc  ";
    expect(normalise(raw).trim()).toBe("\u00e9a b\ud55cc");
    expect([...placesIn(raw)]).toEqual([2, 4, 5, 10, 11, 14, 15]);
  });

  test("the text neither begins nor ends with a space, whatever is written", () => {
    const writer = new TextWriter();
    expect([writer.add(" \n"), writer.add(" a "), writer.add(" "), writer.add("b"), writer.add(" ")]).toEqual([
      -1, 0, -1, 2, -1,
    ]);
    expect(`${writer}`).toBe("a b");
  });
});

describe("COMMENTS 3: the map to (node, offset)", () => {
  test("each word of a page is the range that shows it, and its ends lead back to their offsets", async () => {
    await openPage("inline elements join");
    const wrong = `(() => {
      const bad = [];
      for (const { index, 0: word } of found.text.matchAll(/\\S+/g)) {
        const range = found.range(index, index + word.length);
        if (range.toString().normalize("NFC").replace(/\\s+/g, " ") !== word) bad.push([word, range.toString()]);
        const back = [found.offset(range.startContainer, range.startOffset), found.offset(range.endContainer, range.endOffset)];
        if (back[0] !== index || back[1] !== index + word.length) bad.push([word, back, index]);
      }
      return bad;
    })()`;
    for (const name of [
      "inline elements join",
      "white space runs, in pre too",
      "accents apart",
      "docs/receipts.html",
    ]) {
      await openPage(name);
      expect({ name, wrong: await browser.evaluate(wrong) }).toEqual({ name, wrong: [] });
    }
  }, 30_000);

  test("a place in an element is that of the text behind it", async () => {
    await openPage("paragraphs without a space between");
    expect(await browser.evaluate("found.offset(document.body, 1)")).toBe("one ".length);
    expect(await browser.evaluate("found.offset(document.body, document.body.childNodes.length)")).toBe(
      "one two three four five".length,
    );
  });
});

describe("COMMENTS 3: bounded", () => {
  test.each([
    ["open tags", "<p>"],
    ["skipped elements that never end", "<template>"],
    ["end tags of nothing", "</div>"],
    ["ampersands", "&"],
    ["names of nothing", "&abcdefghijklmnop;"],
    ["white space", " \n"],
    ["marks on one letter", "\u0301"],
  ])("a page of %s takes time by its length alone", (_, unit) => {
    expectLinear(
      400_000,
      (size) => unit.repeat(size / unit.length),
      (html) => pageText(html),
    );
  });
});
