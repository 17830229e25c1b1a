/** PIPELINE 1: formulas and diagrams stay code, word for word, and the deploy says so. */
import { describe, expect, test } from "bun:test";
import { docs, rendered } from "../kit/markdown-site.ts";

const listing = (code: string, language = "math"): string =>
  `<div class="code" data-language="${language}"><pre tabindex="0"><code class="language-${language}">${code}\n</code></pre></div>`;

describe("formulas", () => {
  test.each([
    ["a block", "$$\nx^2 \\\\ y_i * z_i\n$$", listing("x^2 \\\\ y_i * z_i")],
    ["a block on one line", "$$E = mc^2$$", listing("E = mc^2")],
    ["a block behind a line of text", "Text:\n$$\na < b\n$$\nmore", "<p>Text:\n<code>a &lt; b</code>\nmore</p>"],
    ["in a line", "The $O(n \\log n)$ of $a_i$ and $b^{2}$.", "<code>O(n \\log n)</code> of <code>a_i</code>"],
    ["of one letter", "over $n$ files where $k < n$", "over <code>n</code> files where <code>k &lt; n</code>"],
    ["in a line, quoted as GitHub has it", "$`x`$", "<code>x</code>"],
    ["of their own line's size", "so $$a_1 = b$$.", "so <code>a_1 = b</code>."],
    ["fenced", "```math\nx\n```", listing("x")],
    ["with tags in it", "$a_1<script>alert(1)</script>$", "<code>a_1&lt;script&gt;alert(1)&lt;/script&gt;</code>"],
  ])("%s", (_, markdown, html) => expect(rendered(markdown)).toContain(html));

  test.each([
    "Costs $5 and $10, or US$20_000 to US$30_000.",
    "$HOME and $PATH, $my_var/$other_var",
    "$$",
    "$$ and no end\n\nx_1",
    "$$\na\n\nb_1\n$$",
    "\\$x^2\\$",
    "a$b^2$c",
    "$5$ and $1,000$",
  ])("%j is text", (markdown) => {
    expect(rendered(markdown)).not.toContain("<code");
    expect(docs({ "a.md": markdown }).warnings).toEqual([]);
  });

  test("in code a dollar is a dollar", () => {
    expect(rendered("`$a_b$` and `$c_d$`")).toContain("<code>$a_b$</code> and <code>$c_d$</code>");
    expect(docs({ "a.md": "`$a_b$`\n\n```sh\n$x_1$\n```" }).warnings).toEqual([]);
  });

  test("titles and the search have them as they are written", () => {
    const site = docs({ "a.md": "# About $x^2$\n\nGrows as $a_{i}$ does.", "b.md": "# B" });
    expect(site.page("a.html")).toContain("<title>About x^2 ·");
    expect(site.page("_docs/search.json")).toContain("Grows as a_{i} does.");
  });
});

describe("the deploy says so", () => {
  const MERMAID = "```mermaid\ngraph LR\n```";
  test("once for each kind, naming the first file and how many more", () => {
    const { draft } = docs({ "a.md": "$x^2$", "b.md": `${MERMAID}\n\n${MERMAID}`, "c.md": MERMAID, "d.md": MERMAID });
    expect(draft.findings!.map(({ code, path, message }) => [code, path, message])).toEqual([
      ["shown_as_code", "a.md", "a.md has formulas, which stand on its page as code."],
      ["shown_as_code", "b.md", "b.md and 2 more files have Mermaid diagrams, which stand on their pages as code."],
    ]);
    for (const { fix_recipe } of draft.findings!) expect(fix_recipe).toMatch(/^(?:Build|Draw) .*\.$/);
  });
  test.each([
    ["a diagram", `<script src="https://cdn.example/mermaid.js"></script>\n\n${MERMAID}`, "language-mermaid"],
    ["a formula", "<script src=mathjax.js></script>\n\nThe $x^2$.", "The $x^2$."],
  ])("not where the page's own script draws %s", (_, markdown, stays) => {
    const site = docs({ "a.md": markdown });
    expect(site.warnings).toEqual([]);
    expect(site.article()).toContain(stays);
  });
  test("not for other languages", () => {
    expect(docs({ "a.md": "```latex\nx\n```\n\n```dot\nx\n```" }).warnings).toEqual([]);
  });
});
