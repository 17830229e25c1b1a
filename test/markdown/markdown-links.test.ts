/** PIPELINE 1, links between Markdown files, and the warnings about those that lead nowhere. */
import { describe, expect, test } from "bun:test";
import { docs } from "../kit/markdown-site.ts";

const FILES = {
  "README.md": "# R",
  "a.md": "# A",
  "my page.md": "# M",
  "ünïcode.md": "# U",
  "q?x#y.md": "# Q",
  "docs/README.md": "# D",
  "docs/b.md": "# B",
  "docs/deep/c.markdown": "# C",
  ".github/x.md": "# X",
  "img/p.png": "p",
};

/** The href or src of the first link in a page written at `from`. */
function link(from: string, markdown: string): string {
  const site = docs({ ...FILES, [from]: markdown });
  return /(?:href|src)="([^"]*)"/.exec(site.article(from.replace(/\.md$/, ".html")))![1]!;
}

describe("links are rewritten to the pages", () => {
  test.each([
    ["x.md", "[l](a.md)", "a.html"],
    ["x.md", "[l](./a.md#part-2)", "a.html#part-2"],
    ["x.md", "[l](a.md?v=1&amp;w=2#x)", "a.html?v=1&amp;w=2#x"],
    ["x.md", "[l](docs/b.md)", "docs/b.html"],
    ["x.md", "[l](docs/README.md)", "docs/"],
    ["x.md", "[l](README.md#top)", "./#top"],
    ["x.md", "[l](/docs/b.md)", "docs/b.html"],
    ["x.md", "[l](docs/deep/c.markdown)", "docs/deep/c.html"],
    ["x.md", "[l](<my page.md>)", "my%20page.html"],
    ["x.md", "[l](my%20page.md)", "my%20page.html"],
    ["x.md", "[l](ünïcode.md)", "%C3%BCn%C3%AFcode.html"],
    ["x.md", "[l](q%3Fx%23y.md)", "q%3Fx%23y.html"],
    ["x.md", "[l](x.md#here)", "#here"],
    ["x.md", "[l][r]\n\n[r]: a.md", "a.html"],
    ["docs/x.md", "[l](../a.md)", "../a.html"],
    ["docs/x.md", "[l](../README.md)", "../"],
    ["docs/x.md", "[l](README.md)", "./"],
    ["docs/x.md", "[l](../../../a.md)", "../a.html"],
    ["docs/deep/x.md", "[l](../b.md)", "../b.html"],
    ["docs/deep/x.md", "[l](..\\b.md)", "../b.html"],
    ["x.md", '<a href="a.md#z">l</a>', "a.html#z"],
    ["x.md", "<a class='c' href=' docs/b.md?q '>l</a>", "docs/b.html?q"],
    ["x.md", "text <a href=a.md>l</a>", "a.html"],
    ["x.md", "<div>\n<a href='a&#46;md'>l</a>\n</div>", "a.html"],
    ["x.md", "a[^1]\n\n[^1]: [l](a.md)\n", "#fn:1"],
  ])("in %s: %s → %s", (from, markdown, href) => expect(link(from, markdown)).toBe(href));

  test("in a footnote too", () => {
    expect(docs({ ...FILES, "x.md": "a[^1]\n\n[^1]: [l](a.md)" }).article("x.html")).toContain('<a href="a.html">l');
  });
});

describe("what leads elsewhere stays as it is", () => {
  test.each([
    ["[l](https://x.example/a.md)", "https://x.example/a.md"],
    ["[l](//x.example/a.md)", "//x.example/a.md"],
    ["[l](mailto:a@b.md)", "mailto:a@b.md"],
    ["[l](#a.md)", "#a.md"],
    ["[l](?a.md)", "?a.md"],
    ["[l](docs/)", "docs/"],
    ["[l](img/p.png)", "img/p.png"],
    ["![l](img/p.png)", "img/p.png"],
    ["![l](a.md)", "a.md"],
    ["[l](.github/x.md)", ".github/x.md"],
    ['<a href="a.md" download>l</a>', "a.md"],
    ['<img src="img/p.png">', "img/p.png"],
    ["[l](%E0%A4%A.md)", "%E0%A4%A.md"],
  ])("%s", (markdown, href) => {
    expect(link("x.md", markdown)).toBe(href);
    expect(docs({ ...FILES, "x.md": markdown }).warnings).toEqual([]);
  });
  test("a link in code is text, and one in a comment or a script is none", () => {
    const site = docs({
      ...FILES,
      "x.md": "`[l](gone.md)`\n\n<!-- [l](gone.md) <a href='gone.md'> -->\n\n<script>'<a href=\"gone.md\">'</script>",
    });
    expect(site.warnings).toEqual([]);
    expect(site.article("x.html")).toContain("'<a href=\"gone.md\">'");
  });
});

describe("warnings", () => {
  test.each([
    ["[l](gone.md)", "broken_link x.md: x.md links to gone.md, which is not there."],
    ["[l](gone.md#a?b)", "broken_link x.md: x.md links to gone.md, which is not there."],
    ["[l](docs/gone.markdown)", "broken_link x.md: x.md links to docs/gone.markdown, which is not there."],
    ['<a href="gone.md">l</a>', "broken_link x.md: x.md links to gone.md, which is not there."],
    ["[l](A.md)", "case_mismatch x.md: x.md links to A.md, but the file is called a.md."],
  ])("%s", (markdown, warning) => {
    const site = docs({ ...FILES, "x.md": `${markdown} ${markdown}` });
    expect(site.warnings).toEqual([warning]);
    expect(site.draft.findings![0]!.fix_recipe).toMatch(/^(Add|Write) .*x\.md\.$/);
  });
});
