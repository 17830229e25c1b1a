/** PIPELINE 1: the overview and the navigation of a Markdown site. */
import { describe, expect, test } from "bun:test";
import { docs } from "../kit/markdown-site.ts";

const pages = (made: string[]): string[] => made.filter((path) => path.endsWith(".html"));
const titleOf = (page: string): string => /<title>(.*)<\/title>/.exec(page)![1]!;

describe("the overview", () => {
  const FILES = {
    "b.md": "# Bee\n\n![badge](x.svg)\n\nIt *hums* &amp; dances.\n\nMore.",
    "guide/one.md": "# One\n\nFirst steps.",
    "guide/two.md": "---\norder: 1\n---\n# Two\n\nThen run.",
  };
  test("it has every page by folder, in order, with its first paragraph", () => {
    const text = docs(FILES).article();
    const places = [
      "Documentation",
      "Bee",
      "It hums &amp; dances.",
      "guide",
      "Two",
      "Then run.",
      "One",
      "First steps.",
    ];
    const found = places.map((place) => text.indexOf(place));
    expect(found).toEqual(found.toSorted((a, b) => a - b));
    expect(found).not.toContain(-1);
    expect(text).toContain('<a href="guide/one.html"');
  });
  test.each([
    [undefined, "Documentation"],
    ["my-field_notes", "My field notes"],
  ])("with %p stripped it is called %p", (stripped, title) => {
    const site = docs(FILES, stripped === undefined ? {} : { stripped });
    expect(titleOf(site.page())).toBe(title);
    expect(site.article()).toStartWith(`<h1 dir="auto">${title}</h1>`);
  });
  test("a folder with pages and no index has one of its own", () => {
    const site = docs({ "README.md": "# R", "docs/a/x.md": "# X", "docs/a/deep/y.md": "# Y" });
    expect(pages(site.made)).toContain("docs/a/index.html");
    expect(pages(site.made)).not.toContain("docs/index.html");
    expect(site.article("docs/a/index.html")).toContain('href="deep/y.html"');
    expect(titleOf(site.page("docs/a/index.html"))).toBe("A · R");
  });
  test("hundreds of folders inside each other do not make hundreds of long lists", () => {
    const files = Object.fromEntries(
      Array.from({ length: 200 }, (_, i) => [`${"d/".repeat(i + 1)}page.md`, `# Page ${i}\n\n${"word ".repeat(100)}`]),
    );
    const { draft } = docs(files);
    const total = [...draft.files.values()].reduce((sum, content) => sum + content.length, 0);
    expect(total).toBeLessThan(40e6);
  }, 60_000);
});

describe("navigation", () => {
  const nav = (page: string): string => /<nav id="docs:pages"[^]*?<\/nav>/.exec(page)![0];
  const links = (page: string): string[] =>
    [...nav(page).matchAll(/<a [^>]*><bdi>([^<]*)</g)].map((match) => match[1]!);

  test("order: front matter, then numbers in names, then alphabet; a folder's index stands first in it, as its overview", () => {
    const site = docs({
      "README.md": "# Home",
      "zebra.md": "",
      "apple.md": "",
      "10-ten.md": "",
      "2-two.md": "",
      "last.md": "---\norder: 2\n---",
      "first.md": "---\norder: -1.5\n---",
      "chapter10.md": "",
      "chapter9.md": "",
      "guide/b.md": "# B",
      "guide/README.md": "---\norder: 3\n---\n# Guide",
      "guide/a.md": "# A",
    });
    const words = [
      "Home",
      "First",
      "Last",
      "Overview",
      "A",
      "B",
      "Two",
      "Ten",
      "Apple",
      "Chapter9",
      "Chapter10",
      "Zebra",
    ];
    expect(links(site.page())).toEqual(words);
  });
  test("a section is called by its folder and its index is Overview, written or not; a folder of one page is that page", () => {
    const site = docs({
      "README.md": "# Home",
      "guide/README.md": "# All about guides",
      "guide/a.md": "# A",
      "lib/x.md": "# X",
      "lone/README.md": "# Lone one",
    });
    const page = site.page("lone/index.html");
    expect(links(page)).toEqual(["Home", "Overview", "A", "Overview", "X", "Lone one"]);
    const sections = [...nav(page).matchAll(/<summary><bdi>([^<]*)</g)].map((match) => match[1]!);
    expect(sections).toEqual(["Guide", "Lib"]);
    expect(page).toContain('<a href="./" aria-current="page"><bdi>Lone one</bdi></a>');
    expect(titleOf(site.page("guide/index.html"))).toBe("All about guides · Home");
  });
  test("it has all pages on every page, and marks the current one", () => {
    const names = Array.from({ length: 60 }, (_, i) => `p${i}/page-${i}.md`);
    const site = docs(Object.fromEntries(names.map((name) => [name, `# ${name}`])));
    for (const name of [names[0]!, names[59]!]) {
      const page = site.page(name.replace(".md", ".html"));
      expect(nav(page).match(/<a /g)).toHaveLength(60 + 60 + 1);
      expect(page.match(/aria-current="page"/g)).toHaveLength(1);
      expect(nav(page)).toMatch(new RegExp(`aria-current="page"><bdi>${name}<`));
    }
  });
  test("previous and next follow that order, and pass over folders' overviews", () => {
    const site = docs({ "README.md": "# Home", "a.md": "# A", "g/x.md": "# X" });
    const turn = (path: string) =>
      [...site.page(path).matchAll(/<a rel="(\w+)" href="([^"]+)"/g)].map(([, rel, href]) => `${rel} ${href}`);
    expect(turn("index.html")).toEqual(["next a.html"]);
    expect(turn("a.html")).toEqual(["prev ./", "next g/x.html"]);
    expect(turn("g/x.html")).toEqual(["prev ../a.html"]);
    expect(turn("g/index.html")).toEqual([]);
  });
  test("with very many pages every page shows those around it, so that the site does not grow with their square", () => {
    const files = Object.fromEntries(Array.from({ length: 700 }, (_, i) => [`${i}-${"n".repeat(60)}.md`, `# ${i}`]));
    const page = docs(files).page(`350-${"n".repeat(60)}.html`);
    expect(page.length).toBeLessThan(200_000);
    for (const near of ["349", "350", "351"]) expect(links(page)).toContain(near);
  }, 60_000);
  test("on-page contents have the h2 and h3, and only where there is a choice", () => {
    const contents = (text: string) =>
      /<nav id="docs:contents"[^]*?<\/nav>/.exec(docs({ "a.md": text }).page())?.[0].match(/href="[^"]+"/g) ?? [];
    expect(contents("# T\n## One `x`\n### Two\n#### Deep\n## Three")).toEqual([
      'href="#one-x"',
      'href="#two"',
      'href="#three"',
    ]);
    expect(contents("# T\n## One")).toEqual([]);
  });
  test("the folders above a page are named, as links where they answer", () => {
    const site = docs({ "README.md": "# Home", "lib/deep_end/x.md": "# X" });
    const trail = /<nav class="trail"[^]*?<\/nav>/.exec(site.page("lib/deep_end/x.html"))![0];
    expect(trail).toContain('<a href="../../"><bdi>Home</bdi></a>');
    expect(trail).toContain("<li><bdi>Lib</bdi></li>");
    expect(trail).toContain('<a href="./"><bdi>Deep end</bdi></a>');
  });
});
