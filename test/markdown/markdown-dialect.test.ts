/** PIPELINE 1, what a page's text becomes: GFM, anchors, footnotes, alerts, raw HTML, encodings. */
import { describe, expect, test } from "bun:test";
import { closeHtml } from "../../src/html/close-html.ts";
import { highlight } from "../../src/pipeline/markdown/highlight.ts";
import { expectLinear } from "../kit/cpu.ts";
import { docs, rendered } from "../kit/markdown-site.ts";

describe("CommonMark and GFM", () => {
  test.each([
    ["tables, aligned by class", "|a|b|\n|:-:|--:|\n|1|2|", '<th class="center">a</th>\n<th class="right">b</th>'],
    ["a table scrolls by keyboard too", "|a|\n|-|\n|1|", '<div class="table" tabindex="0"><table>'],
    ["strikethrough", "~~gone~~", "<del>gone</del>"],
    ["autolinks", "https://x.example/a", '<a href="https://x.example/a">https://x.example/a</a>'],
    ["autolinks of www", "www.x.example", '<a href="http://www.x.example">www.x.example</a>'],
    ["a done task, labelled", "- [x] a", '<input type="checkbox" disabled checked aria-label="Done"> a'],
    ["an open task, labelled", "- [ ] a", '<li class="task"><input type="checkbox" disabled aria-label="To do"> a'],
    ["fenced code with its language as a class", "```js x\na<b\n```", '<code class="language-js">a&lt;b\n</code>'],
    ["a language that is none", '```"><script>\nx\n```', '<pre tabindex="0"><code>x\n</code></pre>'],
    ["indented code", "    a", '<pre tabindex="0"><code>a\n</code></pre>'],
    ["emphasis and entities", "*a* **b** &copy; <", "<em>a</em> <strong>b</strong> &copy; &lt;"],
    [
      "raw HTML passes",
      'a <kbd>K</kbd>\n\n<div class="x">\n\n*b*\n\n</div>',
      '<div class="x"><p><em>b</em></p>\n</div>',
    ],
    ["scripts pass: it is the author's own site", "<script>let a = 1;</script>", "<script>let a = 1;</script>"],
  ])("%s", (_, markdown, html) => {
    expect(rendered(markdown)).toContain(html);
  });
});

describe("code has colours where its language is known", () => {
  const plain = (html: string): string => html.replace(/<span class="\w">|<\/span>/g, "");
  test.each([
    [
      "js",
      "const a = foo(1); // b",
      ['<span class="k">const</span>', '<span class="f">foo</span>', '<span class="c">// b</span>'],
    ],
    ["python", "def f():\n  return 'x' # y", ['<span class="k">def</span>', '<span class="s">&#x27;x&#x27;</span>']],
    ["rust", "fn a<'a>(x: &'a str) { 'x' }", ["&lt;&#x27;a&gt;", '<span class="s">&#x27;x&#x27;</span>']],
    ["yaml", "a-b: 1 # c", ['<span class="f">a-b</span>', '<span class="n">1</span>', '<span class="c"># c</span>']],
    ["json", '{"a": "b"}', ['<span class="f">&quot;a&quot;</span>', '<span class="s">&quot;b&quot;</span>']],
    ["html", '<a href="x">', ['<span class="k">&lt;a</span>', '<span class="f">href</span>']],
    ["css", ".a { color: #fff }", ['<span class="f">color</span>', '<span class="n">#fff</span>']],
    ["sh", "export A=$B", ['<span class="k">export</span>', '<span class="f">$B</span>']],
    ["sql", "SELECT 1 -- x", ['<span class="k">SELECT</span>', '<span class="c">-- x</span>']],
    ["diff", "-a\n+b\n c", ['<span class="d">-a</span>', '<span class="i">+b</span>\n c']],
    [
      "diff",
      "--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- gone\n+++ come",
      [
        '<span class="c">--- a/x</span>\n<span class="c">+++ b/x</span>\n<span class="c">@@ -1 +1 @@</span>\n',
        '<span class="d">--- gone</span>',
        '<span class="i">+++ come</span>',
      ],
    ],
    ["sh", "./local.sh nas.local --export\nlocal a", ["./local.sh nas.local ", '<span class="k">local</span> a']],
    [
      "sh",
      "curl -fsSL x.example/a | sh\n$ git add",
      [
        '<span class="f">curl</span> <span class="n">-fsSL</span> x.example/a | <span class="f">sh</span>',
        '$ <span class="f">git</span> add',
      ],
    ],
    ["js", "p.catch(f).default", ['p.<span class="f">catch</span>', ".default"]],
    ["js", "[...new Set(), typeof a]", ['...<span class="k">new</span>', '<span class="k">typeof</span>']],
    ["klingon", "const <b>", ["const &lt;b&gt;"]],
    ["js", '</script><img onerror=x> "</code>', ["&lt;img"]],
  ])("%s: %s", (language, code, parts) => {
    const html = highlight(code, language);
    for (const part of parts) expect(html).toContain(part);
    expect(plain(html)).toBe(Bun.escapeHTML(code));
  });
  test("its time grows with its length alone", () => {
    const pieces = ['"', "'", "/*", "a", "a-", "1_", "<!--", " ", "\n   ", "\\", "a(", "`", "#", "--", "$", "@"];
    const languages = ["js", "rust", "py", "sh", "yaml", "json", "css", "html", "diff", "sql"];
    for (const piece of pieces) {
      const code = (size: number) => piece.repeat(size / piece.length);
      expectLinear(49_000, code, (text) => languages.forEach((language) => highlight(text, language)));
    }
  }, 60_000);
});

describe("headings get GitHub's anchors", () => {
  test.each([
    ["Some Heading", "some-heading"],
    ["What's *new*, in `v1.2`?", "whats-new-in-v12"],
    ["Übung & 日本語_x", "übung--日本語_x"],
    ["a  b - c", "a--b---c"],
    ["[Linked](x.html) text", "linked-text"],
    ["![logo](x.png) Name", "-name"],
    ["![x](b) 1.1 Use", "-11-use"],
    ["Name ![logo](x.png)", "name-"],
    ["Contributors ✨", "contributors-"],
    [":rocket: Start", "rocket-start"],
    ["[![Build](b.svg)](ci.html) Tool :+1:", "-tool-1"],
    ["A &amp; B &lt;c&gt;", "a--b-c"],
    ["Emoji 🎉 here", "emoji--here"],
    ["<b>Raw</b> tags", "raw-tags"],
    ["!!!", "section"],
  ])("## %s → #%s", (heading, id) => {
    expect(rendered(`## ${heading}`)).toStartWith(`<h2 id="${id}">`);
  });
  test.each([
    ["Setup {#install}", "install", "Setup"],
    ["Setup {#docs:text}", "docs-text", "Setup"],
    ["Setup {#fn:1}", "fn-1", "Setup"],
    ["Setup { #install }", "install", "Setup"],
    ["Setup {: #install}", "install", "Setup"],
    ["Setup {#install .wide data-x=1}", "install", "Setup"],
    ["A *b* `c` {#über_2.x:y}", "über_2.x:y", "A <em>b</em> <code>c</code>"],
    ["Setup `{#no}`", "setup-no", "Setup <code>{#no}</code>"],
    ["Setup {#no} more", "setup-no-more", "Setup {#no} more"],
    ["Set {1, 2}", "set-1-2", "Set {1, 2}"],
    ["Setup {.wide}", "setup-wide", "Setup {.wide}"],
  ])("PIPELINE 1: ## %s has the id %s", (heading, id, shown) => {
    expect(rendered(`## ${heading}`)).toStartWith(`<h2 id="${id}">${shown}<a class="anchor" href="#${id}"`);
  });
  test("an id of its own does not show in the contents, the search or the title, and is there once", () => {
    const site = docs({ "a.md": "# Top {#top}\n\n## One {#x}\n\n## Two {#x}\n", "b.md": "# B" });
    expect(site.page("a.html")).toContain("<title>Top ·");
    expect(site.page("a.html")).toContain('<a href="#x"><bdi>One</bdi></a>');
    expect(site.article("a.html")).toContain('<h2 id="x-1">');
    expect(site.page("_docs/search.json")).not.toContain("{#");
  });
  test("repeated ones get -1, -2, and never meet one that is called so", () => {
    const ids = [...rendered("## A\n## A\n## A-1\n## A").matchAll(/<h2 id="([^"]+)"/g)].map((match) => match[1]!);
    expect(ids).toEqual(["a", "a-1", "a-1-1", "a-2"]);
  });
  test("an id of the author's own HTML stays his; ids in code are none", () => {
    expect(rendered('<a id="setup"></a>\n\n## Setup\n\n`<i id="other">`\n\n## Other')).toMatch(
      /<h2 id="setup-1">[^]*<h2 id="other">/,
    );
  });
  test("the page's own ids stay out of their way", () => {
    const page = docs({
      "a.md": "# docs:text\n## docs:pages\n## docs:contents\n## fn:1\n## fnref:1\nx[^1]\n\n[^1]: y",
      "b.md": "",
    }).page("a.html");
    const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map((match) => match[1]!);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toContain("docstext");
    expect(ids).toContain("docs:text");
  });
});

describe("footnotes", () => {
  test("numbered by their first reference, with ways back, more than one where referred to twice", () => {
    const html = rendered("a[^z] b[^1] c[^z]\n\n[^1]: *One*\n[^z]: Zed\n\n    more\n\nText");
    expect(html).toContain('a<sup class="ref"><a id="fnref:1" href="#fn:1" aria-label="Footnote 1">1</a></sup>');
    expect(html).toContain('c<sup class="ref"><a id="fnref:1-2" href="#fn:1"');
    expect(html).toContain("<p>Text</p>");
    const [first, second] = html.slice(html.indexOf("<ol>")).split("</li>");
    expect(first).toContain('<li id="fn:1"><p>Zed</p>\n<p>more <a class="back" href="#fnref:1"');
    expect(first).toContain('href="#fnref:1-2"');
    expect(second).toContain('<li id="fn:2"><p><em>One</em>');
  });
  test.each([
    ["a reference without a note stays as it is", "a[^1]", "<p>a[^1]</p>"],
    ["a note that nobody refers to does not show", "a\n\n[^1]: b", "<p>a</p>"],
    ["a note in code is none", "`[^1]`\n\n[^1]: b", "<p><code>[^1]</code></p>"],
  ])("%s", (_, markdown, html) => expect(rendered(markdown)).toBe(html));
  test("a note may refer to another, and to itself", () => {
    const html = rendered("a[^a]\n\n[^a]: x[^b] [^a]\n[^b]: y");
    expect(html).toContain('<li id="fn:2"><p>y');
    expect(html).toContain('id="fnref:1-2"');
  });
});

describe("alerts", () => {
  test.each(["NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"])("> [!%s]", (kind) => {
    const title = kind[0] + kind.slice(1).toLowerCase();
    expect(rendered(`> [!${kind}]\n> A **b**\n>\n> - c`)).toBe(
      `<div class="alert ${kind.toLowerCase()}" role="note">\n<p class="alert-title">${title}</p>\n<p>A <strong>b</strong></p>\n<ul>\n<li>c</li>\n</ul>\n</div>`,
    );
  });
  test.each([
    ["in small letters too", "> [!note]\n> x", '<div class="alert note"'],
    ["an unknown kind is a quotation", "> [!HINT]\n> x", "<blockquote>\n<p>[!HINT]"],
    [
      "words on the line are its title",
      "> [!NOTE] Mind *this*\n> x",
      '<p class="alert-title">Mind <em>this</em></p>\n<p>x</p>\n</div>',
    ],
    ["words alone", "> [!NOTE] x", '<p class="alert-title">x</p>\n</div>'],
    ["alone", "> [!NOTE]", '<p class="alert-title">Note</p>\n</div>'],
  ])("%s", (_, markdown, html) => expect(rendered(markdown)).toContain(html));
});

describe("PIPELINE 1: notes as VitePress, Docusaurus and MkDocs write them", () => {
  const note = (look: string, title: string, inside: string) =>
    `<div class="alert ${look}" role="note">\n<p class="alert-title">${title}</p>\n${inside}\n</div>`;
  test.each([
    ["::: tip\nUse **it**.\n:::", note("tip", "Tip", "<p>Use <strong>it</strong>.</p>")],
    [":::note Mind *this*\n\nx\n\n:::", note("note", "Mind <em>this</em>", "<p>x</p>")],
    [":::info[In brackets]\nx\n:::", note("note", "In brackets", "<p>x</p>")],
    ['::: warning {title="Named"}\nx\n:::', note("warning", "Named", "<p>x</p>")],
    ["::: danger STOP\nx\n:::\nafter", `${note("caution", "STOP", "<p>x</p>")}\n<p>after</p>`],
    ["before\n::: tip\nx\n:::", `<p>before</p>\n${note("tip", "Tip", "<p>x</p>")}`],
    ["::: details Why?\nx\n:::", '<details class="alert note">\n<summary>Why?</summary>\n<p>x</p>\n</details>'],
    ["::: details Why? {open}\nx\n:::", '<details class="alert note" open>\n<summary>Why?</summary>'],
    ["::: tip\n```\n:::\n```\n:::", "<code>:::\n</code>"],
    ["::: tip\n- a\n  - b\n:::", "<li>b</li>"],
    [":::: note Outer\n::: tip Inner\nx\n:::\n::::", note("note", "Outer", note("tip", "Inner", "<p>x</p>"))],
    ["::: tip\nx", note("tip", "Tip", "<p>x</p>")],
    ["::: code-group\n\n```sh [npm]\nnpm i\n```\n\n:::", '<div class="code" data-language="sh">'],
    [
      '!!! note "Phasellus *x*"\n\n    Text\n\n    - a\n\nafter',
      note("note", "Phasellus <em>x</em>", "<p>Text</p>\n<ul>\n<li>a</li>\n</ul>"),
    ],
    ["!!! danger\n    x", note("caution", "Danger", "<p>x</p>")],
    ["!!! custom-kind\n    x", note("note", "Custom kind", "<p>x</p>")],
    ['!!! tip inline end ""\n    x', '<div class="alert tip" role="note">\n<p>x</p>\n</div>'],
    ['??? question "Why"\n    x', '<details class="alert important">\n<summary>Why</summary>\n<p>x</p>\n</details>'],
    ["???+ note\n    x", '<details class="alert note" open>\n<summary>Note</summary>'],
  ])("%j", (markdown, html) => expect(rendered(markdown)).toContain(html));
  test.each([
    ["::: spoiler\nx\n:::", "<p>::: spoiler"],
    ["`::: tip`", "<code>::: tip</code>"],
    ["```\n::: tip\n:::\n```", "<code>::: tip\n:::\n</code>"],
    ["Wow!!! note that", "<p>Wow!!! note that</p>"],
    ["a ::: b", "<p>a ::: b</p>"],
  ])("%j is text", (markdown, html) => expect(rendered(markdown)).toContain(html));
  test("footnotes, links and anchors work in them", () => {
    const html = rendered("::: tip\n## In {#here}\n\n[r](README.md) x[^1]\n:::\n\n[^1]: y");
    expect(html).toContain('<h2 id="here">In');
    expect(html).toContain('<section class="footnotes"');
  });
});

describe("PIPELINE 1: emoji shortcodes of GitHub's list", () => {
  test.each([
    [":rocket: and :+1:", "<p>🚀 and 👍</p>"],
    ["**:tada:** [:bug:](x)", '<strong>🎉</strong> <a href="x">🐛</a>'],
    [":us: :e-mail: :1234:", "🇺🇸 📧 🔢"],
    [":no_such_emoji_here:", ":no_such_emoji_here:"],
    ["10:100:20 a:b:c", "10:100:20 a:b:c"],
    ["`:rocket:`", "<code>:rocket:</code>"],
    ["\\:rocket:", ":rocket:"],
    ["```\n:rocket:\n```", "<code>:rocket:\n</code>"],
  ])("%s", (markdown, html) => expect(rendered(markdown)).toContain(html));
  test("in headings, titles and contents too", () => {
    const site = docs({ "a.md": "# :rocket: Go\n\n## :bug: One\n\n## Two\n\n:wave: text", "b.md": "# B" });
    expect(site.page("a.html")).toContain("<title>🚀 Go ·");
    expect(site.page("a.html")).toContain('<a href="#bug-one"><bdi>🐛 One</bdi></a>');
    expect(site.page("a.html")).toContain('<meta name="description" content="👋 text">');
  });
});

describe("PIPELINE 1: leading imports of MDX do not show", () => {
  test.each([
    ['import Tabs from "@theme/Tabs";\n\nText', "Text"],
    ["import { A, B as C } from './x'\nimport * as D from \"d\"\n\nText", "Text"],
    ["import {\n  A,\n  B,\n} from './x';\nText", "Text"],
    ["import type { A } from './x';\nText", "Text"],
    ["---\ntitle: T\n---\n\nimport A from './a.js'\n\nText", "Text"],
    ["import duties from abroad rose.", "import duties from abroad rose."],
    ["Text\n\nimport A from './a.js'", "Text"],
  ])("%j", (markdown, text) => {
    const article = docs({ "a.md": markdown, "b.md": "" }).article("a.html");
    expect(article).toContain(text);
    expect(article.includes("./")).toBe(markdown.startsWith("Text"));
    expect(article).not.toContain("@theme");
  });
});

describe("what raw HTML leaves open is closed at the end of its text, and nothing of the page around it", () => {
  const close = (html: string): string => closeHtml(html, () => null);
  test.each([
    ["elements", "<div><b>x", "<div><b>x</b></div>"],
    ["a comment", "a<!-- b", "a<!-- b-->"],
    ["a comment that is whole", "<!--> <b>", "<!--> <b></b>"],
    ["a script", "<script>a", "<script>a\n--></script>"],
    [
      "a script in a script's comment",
      "<script><!--<script></script>b",
      "<script><!--<script></script>b\n--></script>",
    ],
    [
      "a text area behind a script whose comment is `<!-->`",
      "<script><!--><script></script><textarea>",
      "<script><!--><script></script><textarea></textarea>",
    ],
    [
      "a script whose comment is `<!--->`",
      "<script><!---><script></script><b>",
      "<script><!---><script></script><b></b>",
    ],
    ["a text area behind a drawing that ends itself", "<svg/><textarea>", "<svg/><textarea></textarea>"],
    ["a style sheet behind it, too", "<svg /><style><b>", "<svg /><style><b></style>"],
    ["a drawing whose slash is a value's", "<svg x=a/><path/>", "<svg x=a/><path/></svg>"],
    [
      "a text area in a drawing's HTML",
      "<svg><desc><textarea></svg>",
      "<svg><desc><textarea></svg></textarea></desc></svg>",
    ],
    [
      "a drawing that an element of HTML ends, before that",
      "<math><main><div>",
      "<math><main></main></math><div></div>",
    ],
    ["items in a drawing, each", "<svg><title><option><svg>", "<svg><title><option><svg></svg></option></title></svg>"],
    [
      "a text area whose end tag never ends",
      '<textarea></textarea x="<b>',
      '<textarea>&lt;/textarea x="&lt;b></textarea>',
    ],
    ["a style sheet", "<style>a", "<style>a</style>"],
    ["a text area", "<textarea><b>", "<textarea><b></textarea>"],
    ["a tag that never ends", '<b>x <a href="y', '<b>x &lt;a href="y</b>'],
    ["elements inside one that ends", "<p><b>x</p>y", "<p><b>x</b></p>y"],
    ["a name with a slash", "<p><a name=x/>y</p>", "<p><a name=x/>y</a></p>"],
    ["an open drawing", "<svg><path/><g>", "<svg><path/><g></g></svg>"],
    ["a drawing's CDATA", "<svg><![CDATA[<b>", "<svg><![CDATA[<b>]]></svg>"],
    ["lists whose items end by themselves", "<ul><li>a<li>b</ul>", "<ul><li>a<li>b</ul>"],
    ["end tags of the page", "x</div></main></body></html>y", "xy"],
    ["a body of its own", '<html><body class="x">y', "y"],
    ["what would never end", "<plaintext>x", "x"],
    ["crossed elements", "<b><i>x</b></i>", "<b><i>x</i></b>"],
    ["no tags at all", "1 < 2 & <3 > </ x>", "1 < 2 & <3 > </ x>"],
    ["a tag's > in quotes", "<a title=\"a>b\" href='c>'>x", "<a title=\"a>b\" href='c>'>x</a>"],
  ])("%s: %s", (_, open, closed) => expect(close(open)).toBe(closed));

  test.each([
    "<div>",
    "<!-- x",
    "<script>",
    "<b>",
    "<table><tr><td>",
    "</article></main>",
    "<template>",
    '<a href="',
    "<script><!--><script></script>\n\n<textarea>",
    "<svg/><textarea>",
  ])("the page's frame stands after %s", (open) => {
    const page = docs({ "a.md": `Text\n\n${open}`, "b.md": "" }).page("a.html");
    const whole = new HTMLRewriter();
    const seen: string[] = [];
    for (const name of ["main > nav.turn", "main > p.source"]) whole.on(name, { element: () => void seen.push(name) });
    whole.transform(page);
    expect(seen).toEqual(["main > nav.turn", "main > p.source"]);
  });
  test("footnotes stand outside what the text left open", () => {
    expect(rendered("a[^1] <!-- x\n\n[^1]: n").indexOf("-->")).toBe(-1); // an inline comment must be whole
    expect(rendered("a[^1]\n\n[^1]: n\n\n<!-- x")).toMatch(/--><section class="footnotes"/);
  });
  test("its time grows with its length alone", () => {
    for (const text of ["<a ", "<div>", "<!--", "<a x='", "<a x=y ", "<script>", "<svg><![CDATA["]) {
      expectLinear(100_000, (times) => text.repeat(times), close);
    }
    expectLinear(50_000, (times) => "<div>".repeat(times) + "</b>".repeat(times), close);
  }, 60_000);
});

describe("encodings", () => {
  const page = (bytes: number[], tail = "") =>
    docs({ "a.md": new Uint8Array([...bytes, ...new TextEncoder().encode(tail)]), "b.md": "é" });
  test.each<[why: string, bytes: number[], text: string, healed: boolean]>([
    ["Windows-1252", [0x63, 0x61, 0x66, 0xe9, 0x20, 0x80, 0x93], "café €“", true],
    ["UTF-8", [0x63, 0xc3, 0xa9], "cé", false],
    ["UTF-8 with a byte order mark", [0xef, 0xbb, 0xbf, 0x63], "c", false],
    ["UTF-16, little end first", [0xff, 0xfe, 0x63, 0, 0xe9, 0], "cé", true],
    ["UTF-16, big end first", [0xfe, 0xff, 0, 0x63, 0, 0xe9], "cé", true],
    ["NUL and controls", [0x63, 0, 0x64, 7], "c\ufffdd\ufffd", false],
  ])("%s", (_, bytes, text, healed) => {
    const site = page(bytes);
    expect(site.article("a.html")).toEndWith(`<p>${text}</p>`);
    const entries = site.draft.healed.filter(({ code }) => code === "encoding_fixed");
    expect(entries.map(({ path }) => path)).toEqual(healed ? ["a.md"] : []);
    expect([...site.draft.files.get("a.md")!]).toEqual(bytes); // the source stays as it is
  });
});

describe("language and direction, by content", () => {
  test.each([
    ["Plain words.", "en", "ltr"],
    ["שלום עולם, זה `npm install` ועוד", "he", "rtl"],
    ["مرحبا بالعالم", "ar", "rtl"],
    ["این یک چاپ پارسی گرم ژرف است پس چه", "fa", "rtl"],
    ["これは日本語のページです。", "ja", "ltr"],
    ["Это страница на русском языке", "ru", "ltr"],
    ["English with one word: שלום", "en", "ltr"],
  ])("%s is %s, %s", (text, lang, dir) => {
    expect(docs({ "a.md": text }).page()).toContain(`<html lang="${lang}" dir="${dir}">`);
  });
});
