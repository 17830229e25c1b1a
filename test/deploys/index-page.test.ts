/** CONTRACT 4.2: `/` resolves for every upload, and what the version is called. RELIABILITY Z73, Z74. */
import { describe, expect, test } from "bun:test";
import { build } from "../../src/pipeline/index.ts";
import { humanSize } from "../../src/base/units.ts";
import { keepPages, titleOf as titleOfPage } from "../../src/html/page.ts";
import type { BuiltVersion } from "../../src/base/types.ts";
import { contentHash } from "../../src/base/version-id.ts";
import { NEW_SITE } from "../kit/abuse-site.ts";
import { expectLinear } from "../kit/cpu.ts";
import { type Content, zipOf } from "../kit/zip.ts";

const LIMITS = { max_files: 200, max_bytes: 10 << 20, max_zip_bytes: 5 << 20 };
const deploy = (files: Record<string, Content>): BuiltVersion => build(zipOf(files), LIMITS, () => {}, NEW_SITE);
const entry = (version: BuiltVersion, path: string) => version.manifest.find((file) => file.path === path);
const read = (version: BuiltVersion, path: string): string =>
  new TextDecoder().decode(version.blobs.get(entry(version, path)!.sha256));
const titleOf = (page: Uint8Array): string | null => titleOfPage(keepPages()(new Uint8Array(page)));
const codes = (notes: readonly { code: string }[]): string[] => notes.map(({ code }) => code);

const HTML = "<title>Here</title><h1>Here</h1>";

describe("what answers /", () => {
  test.each<[why: string, files: Record<string, Content>, healed: string[], index: string | null]>([
    ["the uploaded index.html", { "index.html": HTML, "a.html": "x" }, [], HTML],
    ["an index.html of 0 bytes (Z74)", { "index.html": "" }, [], ""],
    ["the only HTML file", { "report.html": HTML, "a.css": "" }, ["index_from_single_html"], HTML],
    ["the only HTML file, called .HTM", { "Report.HTM": HTML }, ["index_from_single_html"], HTML],
    ["the only one beside 404.html", { "a.html": HTML, "404.html": "gone" }, ["index_from_single_html"], HTML],
    ["pages in folders do not count", { "a.html": HTML, "b/c.html": "x" }, ["index_from_single_html"], HTML],
    ["a 200.html", { "200.html": HTML, "a.html": "x" }, ["index_from_single_html", "spa_fallback"], HTML],
    ["INDEX.HTML (Z74)", { "INDEX.HTML": HTML }, ["index_case_fixed"], HTML],
    ["index.htm (Z74)", { "index.htm": HTML, "a.html": "x" }, ["index_case_fixed"], HTML],
    ["a list: two HTML files", { "a.html": HTML, "b.html": HTML }, ["index_generated"], null],
    ["a list: only a picture (Z74)", { "a.png": "x" }, ["index_generated"], null],
    ["a list: only a 404.html", { "404.html": HTML }, ["index_generated"], null],
    [
      "a list: a folder is called index.html (Z56)",
      { "index.html/a.txt": "x", "b.txt": "y" },
      ["index_generated"],
      null,
    ],
  ])("%s", (_, files, healed, index) => {
    const version = deploy(files);
    expect(codes(version.healed)).toEqual(healed);
    expect(entry(version, "index.html")).toMatchObject({
      made: healed.length > 0,
      media_type: "text/html; charset=utf-8",
    });
    if (index === null) expect(read(version, "index.html")).toContain("<!doctype html>");
    else expect(read(version, "index.html")).toBe(index);
    expect(version.title).toBe(index ? "Here" : null);
  });

  test("what is made counts neither as file nor as bytes, is no part of the id, and its content is stored once", () => {
    const [plain, named] = [deploy({ "a.html": HTML }), deploy({ "a.html": HTML, "index.html": HTML })];
    expect(plain).toMatchObject({ files: 1, bytes: HTML.length });
    expect(named).toMatchObject({ files: 2, bytes: 2 * HTML.length });
    expect(plain.version_id).not.toBe(named.version_id);
    expect([...plain.blobs.keys()]).toEqual([contentHash(Buffer.from(HTML))]);
    expect(plain.manifest.map(({ path, made }) => [path, made])).toEqual([
      ["a.html", false],
      ["index.html", true],
    ]);
  });
});

describe("Z73: index_elsewhere names the folder to deploy", () => {
  test.each<[why: string, files: Record<string, Content>, folder: string | null]>([
    ["two top folders", { "a/x.txt": "x", "b/index.html": HTML }, "b"],
    ["a folder beside a root file", { "readme.txt": "x", "dist/index.html": HTML }, "dist"],
    [
      "one folder, the index two levels down: stripped by one",
      { "app/dist/index.html": HTML, "app/x.txt": "" },
      "dist",
    ],
    ["the nearest to the root", { "a/b/c/index.html": HTML, "x/index.html": HTML }, "x"],
    ["none has one", { "a/x.txt": "x", "b/page.html": HTML }, null],
    ["a page answers /", { "a.html": HTML, "dist/index.html": HTML }, null],
  ])("%s", (_, files, folder) => {
    const { warnings } = deploy(files);
    const recipe = `Deploy the folder ${folder} itself instead of the folder around it.`;
    const warning = { code: "index_elsewhere", path: `${folder}/index.html`, fix_recipe: recipe };
    expect(warnings).toMatchObject(folder === null ? [] : [warning]);
    expect(warnings).toHaveLength(folder === null ? 0 : 1);
  });
});

describe("the list of files", () => {
  const page = read(
    deploy({
      "top/a b#c?d%20.txt": "x".repeat(1536),
      "top/<b>&\"'.txt": "",
      "top/photo.PNG": "x",
      "top/sub/__proto__": "y",
      "top/sub/été.svg": "<svg/>",
      "top/javascript:alert(1).txt": "",
    }),
    "index.html",
  );

  test("shows pictures, links every file by its percent-encoded path and says how large it is", () => {
    expect(page).toContain('<img src="photo.PNG"');
    expect(page).toContain('<img src="sub/%C3%A9t%C3%A9.svg"');
    expect(page).toContain('href="a%20b%23c%3Fd%2520.txt"');
    expect(page).toContain('href="sub/__proto__"');
    expect(page).toContain('href="javascript%3Aalert(1).txt"');
    expect(page).toMatch(/a b#c\?d%20\.txt<\/span>\s*<span class="size">1\.5 KB/);
    expect(page.match(/<a /g)).toHaveLength(6);
  });

  test("escapes names, is called after the folder, asks no other host and runs no script", () => {
    expect(page).toContain("&lt;b&gt;&amp;&quot;&#x27;.txt");
    expect(page).toContain("<title>top</title>");
    expect(page).not.toMatch(/<b>|<script|https?:|url\(/);
  });

  test("is for phone, dark mode and keyboard", () => {
    expect(page).toContain('name="viewport"');
    expect(page).toContain("color-scheme:light dark");
    expect(page).toContain(":focus-visible");
  });

  test.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1 KB"],
    [1536, "1.5 KB"],
    [10_189, "10 KB"],
    [1_048_575, "1 MB"],
    [10_485_760, "10 MB"],
    [3 * 1024 ** 4, "3072 GB"],
  ])("%i bytes are %s", (bytes, shown) => expect(humanSize(bytes)).toBe(shown));
});

const utf16 = (text: string, order: "le" | "be"): Buffer => {
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le");
  return order === "le" ? bytes : bytes.swap16();
};

describe("a version's title is its index page's", () => {
  test.each<[page: string, title: string | null]>([
    ["<title>Plain</title>", "Plain"],
    ["<TITLE lang=en>\n  Two\t words\n</TITLE >", "Two words"],
    ["<title>a &amp; b &lt;c&gt; &quot;d&quot; &#233;&#xE9;&eacute; &copy 2026</title>", 'a & b <c> "d" ééé © 2026'],
    ["<title>&#150; &#0; &#xD800; &#99999999; &unknown; &amp;lt;</title>", "– \ufffd \ufffd \ufffd &unknown; &lt;"],
    ["<title>5 < 6 <b>not a tag</b></title>", "5 < 6 <b>not a tag</b>"],
    ["<title>\u001b[31mred\u0007\u202etxt.exe&#27;[0m</title>", "[31mred txt.exe [0m"],
    ["<title>a\u200e\u200fb\u061cc\u{e0061}\u{e0020}d\u200be&#x202e;f\ufeff</title>", "abcdef"],
    ["<title>a \u200b b\u2028c\u2029\u00ad d</title>", "a b c d"],
    ["<title>\u2764\ufe0f kites 1\ufe0f\u20e3\ufe0f</title>", "\u2764\ufe0f kites 1\ufe0f\u20e3"],
    ["<title>\u200b\u3164</title>", null],
    ["<title>first</title><title>second</title>", "first"],
    ["<title></title><p>x", null],
    ["<title> &nbsp;\n </title>", null],
    ["<p>none", null],
    ["", null],
    ["<!-- <title>no</title> --><title>yes</title>", "yes"],
    ["<script>'<title>no</title>'</script><title>yes</title>", "yes"],
    ["<style><title>no</title></style><noscript><title>no</title></noscript><title>yes</title>", "yes"],
    ["<svg><title>drawing</title></svg><title>yes</title>", "yes"],
    ["<svg/><title>yes</title>", "yes"],
    ["<math><title>formula</title></math><title>yes</title>", "yes"],
    ["<title>می‌خواهم</title>", "می‌خواهم"],
    ["<svg><title>drawing</title></svg>", null],
    [
      "<div><svg></div><title>behind a drawing that an end tag leaves</title>",
      "behind a drawing that an end tag leaves",
    ],
    ["<svg><p><title>behind one that a paragraph leaves</title>", "behind one that a paragraph leaves"],
    ["<svg a=b/><p><title>behind one whose slash is a value's</title>", "behind one whose slash is a value's"],
    ["<meta content='<title>no</title>'><title>yes</title>", "yes"],
    ["<a title=it's><title>yes</title>", "yes"],
    ["<title>never closed", "never closed"],
    ["<title", null],
  ])("%j is called %j", (page, title) => expect(titleOf(Buffer.from(page))).toBe(title));

  test.each<[what: string, page: Uint8Array]>([
    ["UTF-8 with its mark", Buffer.from("\ufeff<title>Été €</title>")],
    ["UTF-16, little end first", utf16("<title>Été €</title>", "le")],
    ["UTF-16, big end first", utf16("<title>Été €</title>", "be")],
    ["Windows-1252 that does not say so", Buffer.from("<title>\xc9t\xe9 \x80</title>", "latin1")],
    ["ISO-8859-15 that does", Buffer.from('<meta charset="ISO-8859-15"><title>\xc9t\xe9 \xa4</title>', "latin1")],
    ["an encoding nobody knows", Buffer.from('<meta charset="x-klingon"><title>\xc9t\xe9 \x80</title>', "latin1")],
  ])("in %s it is read", (_, page) => expect(titleOf(page)).toBe("Été €"));

  test("it is at most 200 characters, cut between characters", () => {
    expect(titleOf(Buffer.from(`<title>${"é".repeat(200)}</title>`))).toBe("é".repeat(200));
    expect(titleOf(Buffer.from(`<title>${"😀".repeat(201)}</title>`))).toBe(`${"😀".repeat(199)}…`);
  });

  test.each([
    ["drawings never closed", "<svg>"],
    ["titles of drawings", "<svg><title>x</title>"],
    ["tags never closed", "<a <b "],
    ["quotes that do not pair", `<p a="'`],
    ["raw elements never closed", "<xmp><style><script>"],
    ["entities", "<title>&#x26;</title"],
  ])("9 MB of %s stay linear", (_, piece) => {
    expectLinear(9 << 20, (size) => Buffer.from(piece.repeat(Math.floor(size / piece.length))), titleOf);
  });
});
