/** PIPELINE 1 from outside: a folder of Markdown is deployed, and a site is served. */
import { searchIndex } from "../../src/pipeline/docs/site.ts";
import { docs } from "../kit/markdown-site.ts";
import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { collectDist } from "../../lib.ts";
import { EXAMPLES } from "../kit/paths.ts";
import { type DeployResult, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

const EXAMPLE = join(EXAMPLES, "docs");
const VALIDATOR = join(import.meta.dir, "..", "tools", "node_modules", "html-validate", "dist", "esm", "index.js");

let site: DeployResult;
const server = await sharedServer();
beforeAll(async () => {
  const files = new Map<string, string | Uint8Array>(await collectDist(EXAMPLE));
  site = await server.deploy(files.set("extra.md", EXTRA));
}, 60_000);

/** What the example has no use for. */
const EXTRA = `# Every kind

1. one
   > quoted

| a | b |
|--:|:-:|
| 1 | [x](gone.md) |

![a picture](sailing/images/bowline.svg "Title") <span>raw</span>[^n]

> [!NOTE]
> text

- [ ] task

  with a paragraph

\`\`\`
plain
\`\`\`

[^n]: note
`;

const get = (path: string, init?: RequestInit): Promise<Response> => server.site(site.slug, path, init);

describe("the deploy's answer", () => {
  test("it says what was made of the Markdown, and which link leads nowhere", () => {
    expect(site.healed).toEqual([
      { code: "markdown_rendered", message: "10 Markdown files became pages; README.md answers /.", path: "README.md" },
    ]);
    expect(site.warnings).toEqual([
      {
        code: "broken_link",
        path: "extra.md",
        message: "extra.md links to gone.md, which is not there.",
        fix_recipe: "Add gone.md to the upload, or change the link in extra.md.",
      },
    ]);
  });
  test("files and bytes are as uploaded, the title is the index page's", async () => {
    const record = await server.api(`/sites/${site.site_id}`, {
      headers: { authorization: `Bearer ${site.manage_token}` },
    });
    const { versions, spa } = (await record.json()) as { versions: { files: number; title: string }[]; spa: unknown };
    expect(versions[0]).toMatchObject({ files: 11, title: "Harbour Handbook" });
    expect(spa).toEqual({ enabled: false, rule: "own_404" });
  });
  test("one word of 4 MB is a page like any other, within the memory of a deploy", async () => {
    const { warnings } = await server.deploy({ "a.md": `# A\n\n${"x".repeat(4_000_000)}`, "b.md": "# B" });
    expect(warnings).toEqual([]);
  }, 30_000);
  test("pages count towards no limit", async () => {
    await using small = await startServer("--max-files", "2");
    const { healed } = await small.deploy({ "a.md": "# A", "b/c.md": "# C" });
    expect(healed.map(({ code }) => code)).toEqual(["markdown_rendered"]);
  });
});

describe("what is served", () => {
  test.each([
    ["/", 200, "text/html; charset=utf-8"],
    ["/README.html", 200, "text/html; charset=utf-8"],
    ["/01-first-sail", 200, "text/html; charset=utf-8"],
    ["/club", 308, null],
    ["/club/", 200, "text/html; charset=utf-8"],
    ["/sailing/", 200, "text/html; charset=utf-8"],
    ["/sailing/tides.html", 200, "text/html; charset=utf-8"],
    ["/README.md", 200, "text/markdown; charset=utf-8"],
    ["/sailing/images/bowline.svg", 200, "image/svg+xml; charset=utf-8"],
    ["/_docs/style.css", 200, "text/css; charset=utf-8"],
    ["/_docs/script.js", 200, "text/javascript; charset=utf-8"],
    ["/_docs/search.json", 200, "application/json; charset=utf-8"],
    ["/gone.html", 404, "text/html; charset=utf-8"],
    ["/deep/er/gone", 404, "text/html; charset=utf-8"],
  ])("%s is %i", async (path, status, type) => {
    const response = await get(path);
    expect(response.status).toBe(status);
    if (type) expect(response.headers.get("content-type")).toBe(type);
  });

  test("one stylesheet under 24 KB, one script under 6 KB", async () => {
    const page = await (await get("/sailing/tides.html")).text();
    expect(page.match(/<link rel="stylesheet"|<style/g)).toHaveLength(1);
    expect(page.match(/<script src/g)).toHaveLength(1);
    expect((await (await get("/_docs/style.css")).bytes()).length).toBeLessThan(24_000);
    const script = await (await get("/_docs/script.js")).text();
    expect(Buffer.byteLength(script)).toBeLessThan(6_000);
    expect(() => new Function(script)).not.toThrow();
  });
  test("nothing of the site asks another host", async () => {
    for (const path of ["/", "/extra.html", "/_docs/style.css", "/_docs/script.js"]) {
      const text = await (await get(path)).text();
      const asked = text.replace(/<script type="application\/ld\+json">[^]*?<\/script>|xmlns='[^']*'/g, "");
      expect(asked).not.toMatch(/(?:src|href)="(?:https?:)?\/\/|url\(|@import|https?:\/\//);
    }
  });
  test("a page that is not there is answered in the same frame, wherever it was asked for", async () => {
    const missing = await (await get("/deep/er/gone", { headers: { accept: "text/html" } })).text();
    expect(missing).toContain('<h1 dir="auto">Page not found</h1>');
    expect(missing).toContain('Go to <a href="/"><bdi>Harbour Handbook</bdi></a>, look through the list of pages');
    expect(missing).toMatch(/<input type="search" [^>]*>/);
    expect(missing).toContain('<a class="brand" href="/"><bdi>Harbour Handbook</bdi></a>');
    expect(missing).toContain('<link rel="stylesheet" href="/_docs/style.css">');
    expect(missing).toContain('<a href="/sailing/tides.html"><bdi>Tides</bdi></a>');
    expect(missing.match(/(?:href|src)="(?!\/|#|data:)[^"]*"/g)).toBeNull();
  });
  test("of a site of one page it names no list of pages", () => {
    const missing = docs({ "README.md": "# Alone <b>" }).article("404.html");
    expect(missing).toContain('Go to <a href="/"><bdi>Alone</bdi></a><span');
    expect(missing).not.toContain("list of pages");
  });
  test("an uploaded 404.html stays", () => {
    const site = docs({ "README.md": "# R", "404.html": "<h1>Mine</h1>" });
    expect(site.page("404.html")).toBe("<h1>Mine</h1>");
    expect(site.made).not.toContain("404.html");
  });
  test("the search index has every title, heading and text with its address", async () => {
    const index = (await (await get("/_docs/search.json")).json()) as [string, string, string[][]][];
    expect(index).toHaveLength(10);
    const tides = index.find(([title]) => title === "Tides")!;
    expect(tides[1]).toBe("sailing/tides.html");
    expect(tides[2][0]![2]).toStartWith("The harbour dries.");
    const rule = tides[2].find(([heading]) => heading === "The rule of twelfths")!;
    expect(rule[1]).toBe("the-rule-of-twelfths");
    expect(rule[2]).toContain("the level rises by\nHour 1st 2nd");
    expect(JSON.stringify(index)).not.toContain("[!CAUTION]");
  });
});

describe("PIPELINE 1: the search index begins with at most 300 KB", () => {
  const WORDS = "Kites rise against the wind. They do so on every beach of the coast, all summer long.";
  const book = (pages: number, paragraphs: number) => {
    const text = Array.from({ length: paragraphs }, (_, i) => `## Part ${i}\n\n${WORDS} ${WORDS}`).join("\n\n");
    return docs(Object.fromEntries(Array.from({ length: pages }, (_, i) => [`p${i}.md`, `# Page ${i}\n\n${text}`])));
  };
  test.each<[pages: number, paragraphs: number, has: string, lacks: string, parts: number]>([
    [10, 20, "They do so", "never", 0],
    [50, 60, "Kites rise against the wind.", "They do so", 2],
    [80, 80, "Part 79", "Kites rise", 5],
    [400, 150, "Part 3", "Part 99", 40],
  ])(
    "%i pages of %i paragraphs: has %j, not %j; all texts are in %i parts behind it",
    (pages, paragraphs, has, lacks, parts) => {
      const site = book(pages, paragraphs);
      const index = site.page("_docs/search.json");
      expect(Buffer.byteLength(index)).toBeLessThanOrEqual(300_000);
      expect(JSON.parse(index)).toHaveLength(pages);
      expect(index).toContain(has);
      expect(index).not.toContain(lacks);
      const says = "Search titles and text";
      for (const path of ["p0.html", "404.html"]) {
        expect(site.page(path)).toContain(`placeholder="${says}" aria-label="${says}"`);
        expect(site.page(path)).toContain(parts === 0 ? "<search hidden>" : `<search hidden data-parts="${parts}">`);
      }
      const names = site.made.filter((path) => /^_docs\/search-\d+\.json$/.test(path));
      expect(names).toHaveLength(parts);
      const texts = Array.from({ length: parts }, (_, n) => site.page(`_docs/search-${n + 1}.json`));
      for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(300_000);
      const entries = texts.flatMap((text) => JSON.parse(text) as [string, string, string[][]][]);
      const ends = ([, url, sections]: [string, string, string[][]]) => [url, sections.at(-1)![2]];
      const first = (JSON.parse(index) as [string, string, string[][]][]).map(([, url]) => url);
      expect(entries.map(ends)).toEqual(parts === 0 ? [] : first.map((url) => [url, `${WORDS} ${WORDS}`]));
    },
  );
  test("the same upload has the same parts, and a page that is longer than one has one to itself", () => {
    const files = { "a.md": `# A\n\n${"word ".repeat(80_000)}`, "b.md": `# B\n\n${WORDS}`, "c.md": `# C\n\n${WORDS}` };
    const [one, two] = [docs(files), docs(files)];
    const names = ["_docs/search.json", "_docs/search-1.json", "_docs/search-2.json"];
    expect(one.made.filter((path) => path.includes("search"))).toEqual(names.toSorted());
    for (const name of names) expect(one.page(name)).toBe(two.page(name));
    const titles = (name: string) => (JSON.parse(one.page(name)) as string[][]).map(([title]) => title);
    expect([titles("_docs/search-1.json"), titles("_docs/search-2.json")]).toEqual([["A"], ["B", "C"]]);
  });
  test("titles alone of very many pages, as many as there is room for", () => {
    const pageOf = (i: number) => {
      const headings = Array.from({ length: 20 }, (_, n) => ({ depth: 2, text: `Part ${n}`, id: `part-${n}` }));
      const language = { lang: "en", dir: "ltr" } as const;
      const texts = { excerpt: "", headings, sections: [], language };
      return { source: `p${i}.md`, address: `p${i}.html`, title: `Page ${i}`, order: null, ...texts };
    };
    for (const [pages, kept] of [
      [4000, 4000],
      [20_000, 10_069],
    ] as const) {
      const { json, scope } = searchIndex(Array.from({ length: pages }, (_, i) => pageOf(i)));
      expect([scope, Buffer.byteLength(json) <= 300_000]).toEqual(["titles and text", true]);
      expect((JSON.parse(json) as unknown[]).length).toBe(kept);
    }
  });
  test("headings go by their depth: those of h2 stay longer than those below", () => {
    const text = Array.from({ length: 40 }, (_, i) => `## Part ${i}\n\n#### Detail ${"of many words ".repeat(5)}\n`);
    const files = Array.from({ length: 60 }, (_, i) => [`p${i}.md`, `# Page ${i}\n\n${text.join("\n")}\n${WORDS}`]);
    const index = docs(Object.fromEntries(files)).page("_docs/search.json");
    expect(index).toContain("Part 39");
    expect(index).not.toContain("Detail");
  });
  test("of a text without spaces the first sentences are kept, and a word of a megabyte costs no other page its own", () => {
    const chinese = "风筝迎风而起。整个夏天都在海边的每一片沙滩上如此飞翔,从早到晚。".repeat(20);
    const paragraphs = Array.from({ length: 60 }, () => chinese).join("\n\n");
    const files = {
      "zh.md": `# 风筝\n\n${paragraphs}`,
      "word.md": `# Word\n\n${"x".repeat(1_000_000)}`,
      "b.md": WORDS,
    };
    const index = docs(files).page("_docs/search.json");
    expect(Buffer.byteLength(index)).toBeLessThanOrEqual(300_000);
    expect(index).toContain("风筝迎风而起。");
    expect(index).not.toContain("整个夏天");
    expect(index).toContain(`${"x".repeat(300)}"`);
    expect(index).toContain("Kites rise against the wind.");
  });
  test("nor does a heading of a megabyte", () => {
    const index = docs({ "a.md": `# A\n\n## ${"x y ".repeat(250_000)}`, "b.md": WORDS }).page("_docs/search.json");
    expect(index).toContain("They do so");
    expect(index).toContain("x y x y");
    expect(index.length).toBeLessThan(1000);
  });
  test("a pair of code units is not torn where a sentence is cut", () => {
    const files = { "a.md": `# A\n\nx${"😀".repeat(200_000)}`, "b.md": WORDS };
    const [first] = JSON.parse(docs(files).page("_docs/search.json")) as [string, string, string[][]][];
    expect(first![2][0]![2]).toBe(`x${"😀".repeat(149)}`);
  });
});

interface Validator {
  HtmlValidate: new (loader: object) => {
    validateString(html: string): Promise<{ results: { messages: { ruleId: string; message: string }[] }[] }>;
  };
  StaticConfigLoader: new (config: object) => object;
}

describe("valid HTML", () => {
  const problemsOf = async (html: string): Promise<string[]> => {
    const { HtmlValidate, StaticConfigLoader } = (await import(VALIDATOR)) as Validator;
    const validator = new HtmlValidate(new StaticConfigLoader({ root: true, extends: ["html-validate:standard"] }));
    const { results } = await validator.validateString(html);
    return results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => `${ruleId}: ${message}`));
  };
  const PAGES = [
    "/",
    "/01-first-sail",
    "/extra",
    "/club/",
    "/club/house",
    "/sailing/",
    "/sailing/tides",
    "/sailing/knots",
  ];
  test.each(PAGES)("%s", async (path) => expect(await problemsOf(await (await get(path)).text())).toEqual([]), 20_000);
  test("the validator sees what is wrong", async () => {
    const page = await (await get("/")).text();
    const problems = await problemsOf(page.replace("</article>", '<p align="left"><div></p><img src="x">'));
    expect(problems.join("\n")).toMatch(/no-deprecated-attr[^]*close-order|close-order[^]*no-deprecated-attr/);
  }, 60_000);
});
