/** PIPELINE 1, which Markdown file becomes which page: indexes, overviews, titles, order, front matter. */
import { describe, expect, test } from "bun:test";
import { docs } from "../kit/markdown-site.ts";

const HTML = "<title>Own</title>";
const pages = (made: string[]): string[] => made.filter((path) => path.endsWith(".html"));
const titleOf = (page: string): string => /<title>(.*)<\/title>/.exec(page)![1]!;

describe("when it applies", () => {
  test.each<[why: string, files: Record<string, string>, made: boolean]>([
    ["a root index.html leaves Markdown alone", { "index.html": HTML, "a.md": "# A" }, false],
    ["no Markdown, no pages", { "a.html": HTML, "a.txt": "x" }, false],
    ["Markdown under a dot folder is left alone", { ".github/README.md": "# A", "a.txt": "x" }, false],
    ["one .md file", { "a.md": "# A" }, true],
    ["one .markdown file", { "a.markdown": "# A" }, true],
    ["an extension in capitals", { "A.MD": "# A" }, true],
    ["an index.html deeper down is no root index", { "a.md": "# A", "b/index.html": HTML }, true],
  ])("%s", (_, files, made) => {
    const site = docs(files);
    expect(site.made.length > 0).toBe(made);
    expect(site.draft.healed.map(({ code }) => code)).toEqual(made ? ["markdown_rendered"] : []);
    expect(site.draft.files.has("index.html")).toBe(made || "index.html" in files);
  });
});

describe("the index", () => {
  test.each<[why: string, names: string[], index: string]>([
    ["index.md before README.md", ["README.md", "index.md", "a.md"], "index.md"],
    ["INDEX.md, in any case", ["INDEX.md", "a.md"], "INDEX.md"],
    ["index.markdown before README.md", ["README.md", "index.markdown"], "index.markdown"],
    ["index.md before index.markdown", ["index.markdown", "index.md"], "index.md"],
    ["readme.md before README.markdown", ["README.markdown", "readme.md", "a.md"], "readme.md"],
    ["ReadMe.md, in any case", ["ReadMe.md", "a.md"], "ReadMe.md"],
    ["the lower-case name of two", ["Index.md", "index.md"], "index.md"],
    ["a single file, whatever its name", ["report.md"], "report.md"],
    ["a single file in a folder", ["notes/report.md"], "notes/report.md"],
  ])("%s", (_, names, index) => {
    const site = docs(Object.fromEntries(names.map((name) => [name, `# This is ${name}`])));
    expect(site.article()).toContain(`This is ${index}`);
    expect(site.draft.healed[0]).toMatchObject({ code: "markdown_rendered", path: index });
  });

  test("every Markdown file becomes a page at the same path with .html; other files stay as they are", () => {
    const site = docs({ "README.md": "# R", "a/b.md": "# B", "a/c.markdown": "# C", "logo.png": "p", "x.txt": "t" });
    expect(pages(site.made)).toEqual(["404.html", "README.html", "a/b.html", "a/c.html", "a/index.html", "index.html"]);
    expect(site.page("x.txt")).toBe("t");
    expect(site.page("README.md")).toBe("# R");
  });

  test.each([
    ["README.md", "README.html"],
    ["report.md", "report.html"],
  ])("the index page of %s is also at its own name, the same bytes", (source, own) => {
    const site = docs({ [source]: "# Same" });
    expect(site.page(own)).toBe(site.page());
  });

  test("the same in each folder that has pages; links and navigation use the folder's address", () => {
    const site = docs({ "README.md": "[docs](docs/README.md)", "docs/README.md": "# Docs", "docs/a.md": "# A" });
    expect(site.page("docs/index.html")).toBe(site.page("docs/README.html"));
    expect(site.article()).toContain('<a href="docs/">docs</a>');
    expect(site.page("docs/a.html")).toContain('<a href="./"><bdi>Docs</bdi></a>');
    expect(site.page("docs/a.html")).not.toContain("README.html");
  });

  test("a lone page in a folder is the index of both, and its links and pictures hold at either place", () => {
    const site = docs({ "n/report.md": "![p](p.png) [s](sub/x.txt) [self](report.md) [r](/n/p.png)", "n/p.png": "p" });
    expect(pages(site.made)).toEqual(["404.html", "index.html", "n/index.html", "n/report.html"]);
    expect(site.article()).toContain('src="n/p.png"');
    expect(site.article()).toContain('href="n/sub/x.txt"');
    expect(site.article("n/report.html")).toContain('src="p.png"');
    expect(site.article("n/report.html")).toContain('href="/n/p.png"');
  });
});

describe("an uploaded file always wins", () => {
  test("beside a.html, a.md makes no page, and links to it lead to a.html", () => {
    const site = docs({ "README.md": "[a](a.md#x)", "a.md": "# A", "a.html": HTML });
    expect(site.page("a.html")).toBe(HTML);
    expect(site.article()).toContain('href="a.html#x"');
    expect(site.warnings).toEqual([]);
  });
  test("beside an uploaded README.html, README.md is still the index at /", () => {
    const site = docs({ "README.md": "# Here", "README.html": HTML, "b.md": "# B" });
    expect(site.article()).toContain("Here");
    expect(site.page("README.html")).toBe(HTML);
  });
  test("a folder's own index.html stays its index; README.md there is a page of its own", () => {
    const site = docs({ "a.md": "[d](docs/README.md)", "b.md": "", "docs/README.md": "# D", "docs/index.html": HTML });
    expect(site.page("docs/index.html")).toBe(HTML);
    expect(site.article("a.html")).toContain('href="docs/README.html"');
  });
  test("of a.md and a.markdown the first makes the page, and links to both lead there", () => {
    const site = docs({ "README.md": "[1](a.md) [2](a.markdown)", "a.markdown": "# Second", "a.md": "# First" });
    expect(site.article("a.html")).toContain("First");
    expect(site.article().match(/href="a\.html"/g)).toHaveLength(2);
  });
  test("the site's own files give way too", () => {
    const site = docs({ "README.md": "# R", "_docs/style.css": "mine", "_DOCS-2/x": "mine" });
    expect(site.page("_docs/style.css")).toBe("mine");
    expect(site.page()).toContain('href="_docs-3/style.css"');
  });
  test("every Markdown file with an uploaded page and no index to make: nothing to do", () => {
    expect(docs({ "a.md": "# A", "a.html": HTML, "b.md": "# B", "b.html": HTML }).made).toEqual([]);
  });
});

describe("a page's title", () => {
  test.each<[why: string, text: string, title: string]>([
    ["from front matter", "---\ntitle: Front\n---\n# Heading", "Front"],
    ["quoted, with a colon and an escape", '---\ntitle: "A: \\"b\\" \\u00e9"\n---\n', "A: &quot;b&quot; é"],
    ["in single quotes", "---\ntitle: 'It''s'\n---\n", "It&#x27;s"],
    ["without its comment", "---\ntitle: Plain # not this\n---\n", "Plain"],
    ["folded over lines", "---\ntitle: >-\n  Two\n  lines\n---\n", "Two lines"],
    ["the first # heading, not the first of any kind", "## Sub\n\n# The `first` *one*\n\n# Second", "The first one"],
    ["an underlined heading", "Main\n====", "Main"],
    ["a raw <h1>, as READMEs have it", '<h1 align="center"><img src="x.png"> The &amp; tool</h1>', "The &amp; tool"],
    [
      "not a raw <h1> in a comment or a script",
      "<!-- <h1>No</h1> -->\n<script>'<h1>No</h1>'</script>\n",
      "Getting started now",
    ],
    ["of a raw <h1> with a > in an attribute", '<h1><img alt="a > b">The tool</h1>', "The tool"],
    ["else the file name in words", "Text alone.", "Getting started now"],
    ["an empty front matter title counts as none", '---\ntitle: ""\n---\n# Heading', "Heading"],
    ["of a broken front matter, the heading", "---\ntitle: [\n: : :\n---\n# Heading", "["],
  ])("%s", (_, text, title) => {
    const site = docs({ "README.md": "# Site", "02-getting_started-now.md": text });
    expect(titleOf(site.page("02-getting_started-now.html"))).toBe(`${title} · Site`);
    expect(site.page()).toContain(`<bdi>${title}</bdi></a>`);
  });
  test("a raw <h1> that many pages have is the project's name: those pages are called as their files are", () => {
    const banner = '<h1 align="center">Tool</h1>\n\n## Text';
    const site = docs({ "README.md": banner, "hooks.md": banner, "error-codes.md": banner, "own.md": "<h1>Own</h1>" });
    expect(titleOf(site.page())).toBe("Tool");
    expect(titleOf(site.page("hooks.html"))).toBe("Hooks · Tool");
    expect(titleOf(site.page("error-codes.html"))).toBe("Error codes · Tool");
    expect(titleOf(site.page("own.html"))).toBe("Own · Tool");
  });
  test("a page without a main heading gets its title as one", () => {
    expect(docs({ "field-notes.md": "Text." }).article()).toStartWith('<h1 dir="auto">Field notes</h1>');
    expect(docs({ "field-notes.md": "<!-- <h1>No</h1> -->" }).article()).toStartWith('<h1 dir="auto">Field notes</h1>');
  });
  test("a title of a megabyte is cut, and markup in it is text", () => {
    const site = docs({ "a.md": `---\ntitle: <script>alert(1)</script>${"x".repeat(1e6)}\n---\n`, "b.md": "# B" });
    expect(site.page("b.html").length).toBeLessThan(10_000);
    expect(site.page("b.html")).toContain("&lt;script&gt;alert(1)");
    expect(site.page("b.html")).not.toContain("<script>alert");
  });
});

describe("PIPELINE 1: an index page without a heading is named by its folder", () => {
  test.each<[why: string, files: Record<string, string>, path: string, title: string]>([
    ["the root as its overview is", { "index.md": "Text" }, "index.html", "My docs"],
    [
      "the root by hero.name",
      { "index.md": "---\nlayout: home\nhero:\n  name: Vite Press\n  text: x\n---\n" },
      "index.html",
      "Vite Press",
    ],
    ["hero.name in quotes", { "index.md": '---\nhero:\n  tagline: y\n  name: "A: B"\n---\n' }, "index.html", "A: B"],
    [
      "a folder by its name",
      { "README.md": "# R", "api_guide/README.md": "Text" },
      "api_guide/index.html",
      "Api guide · R",
    ],
    ["a heading counts first", { "index.md": "---\nhero:\n  name: N\n---\n# H" }, "index.html", "H"],
    ["a title counts first", { "index.md": "---\ntitle: T\nhero:\n  name: N\n---\n" }, "index.html", "T"],
  ])("%s", (_, files, path, title) => {
    expect(titleOf(docs({ ...files, "z.md": "# Z" }, { stripped: "my-docs" }).page(path))).toBe(title);
  });
  test("a lone page that is called otherwise keeps its name", () => {
    expect(titleOf(docs({ "field-notes.md": "Text" }, { stripped: "my-docs" }).page())).toBe("Field notes");
  });
});

describe("PIPELINE 1: an index page without text shows the overview", () => {
  test.each([
    ["all front matter", "---\nlayout: home\nhero:\n  name: Kites\nfeatures:\n  - title: Fast\n---\n"],
    ["an import and a script", 'import X from "./x"\n\n<script setup>\nlet a = 1\n</script>\n\n<X />\n'],
    ["a comment", "<!-- later -->"],
  ])("%s", (_, text) => {
    const article = docs({ "index.md": text, "guide/a.md": "# Guide\n\nFirst words.", "b.md": "# Bee" }).article();
    expect(article).toContain('<a href="guide/a.html" dir="auto">Guide</a><p dir="auto">First words.</p>');
    expect(article).toContain('<a href="b.html" dir="auto">Bee</a>');
    expect(article).toStartWith("<h1");
    expect(article).not.toContain('href="./"');
  });
  test.each(["Text", "![A](a.png)", "# H", '<img src="a.png">'])("%s shows itself", (text) => {
    expect(docs({ "index.md": text, "b.md": "# Bee" }).article()).not.toContain("overview");
  });
});

describe("PIPELINE 1: an upload whose only pages are .mdx", () => {
  const codes = (files: Record<string, string>) => docs(files).warnings.map((one) => one.split(":", 1)[0]!);
  test("gives unbuilt_source at the first of them, with what to do", () => {
    const { draft } = docs({ "docs/b.mdx": "# B", "docs/a.mdx": "# A", "x.png": "" });
    expect(draft.warnings).toMatchObject([{ code: "unbuilt_source", path: "docs/a.mdx" }]);
    expect(draft.warnings[0]!.fix_recipe).toMatch(/^Build .*rename docs\/a\.mdx .*\.md /);
  });
  test.each<[string, Record<string, string>]>([
    ["beside Markdown", { "a.mdx": "# A", "b.md": "# B" }],
    ["beside a page", { "a.mdx": "# A", "b.html": "<h1>B</h1>" }],
    ["none at all", { "a.txt": "x" }],
  ])("%s: nothing", (_, files) => expect(codes(files)).toEqual([]));
});

describe("front matter never shows", () => {
  test.each([
    ["ended by ---", "---\na: 1\n---\nText"],
    ["ended by ...", "---\na: 1\n...\nText"],
    ["with Windows line ends", "---\r\na: 1\r\n---\r\nText"],
    ["behind a byte order mark", "\ufeff---\na: 1\n---\nText"],
    ["empty", "---\n---\nText"],
    ["that cannot be read", "---\n\t[}{: : - *x &y !!z\n---\nText"],
    ["nested and long", `---\na:\n  b: [1, 2]\n${"k: v\n".repeat(5000)}---\nText`],
    ["with keys of JavaScript", "---\n__proto__: x\nconstructor: y\n---\nText"],
  ])("%s", (_, text) => {
    expect(docs({ "a.md": text }).article()).toBe('<h1 dir="auto">A</h1>\n<p>Text</p>');
  });
  test("a line across the page that nothing ends is a line across the page", () => {
    expect(docs({ "a.md": "---\n\nText" }).article()).toContain("<hr>\n<p>Text</p>");
  });
});
