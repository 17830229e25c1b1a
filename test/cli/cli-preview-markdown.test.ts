/** BEYOND 7, command line: `svc preview --markdown`, a comment for a pull request in which no file's name does anything. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Marked } from "marked";
import { inert, markdownOf } from "../../src/cli/commands/previews.ts";
import { homeWithSite, json } from "../kit/cli.ts";
import { shared, sharedServer } from "../kit/shared.ts";

setDefaultTimeout(60_000);

let site_id: string;
const server = await sharedServer();
const home = shared(await homeWithSite(server.base_url));
beforeAll(async () => {
  site_id = String(json(await home.run(["--json"]))["site_id"]);
});

/** As a host of code does, before it looks for mentions. */
const rendered = (markdown: string): string => new Marked({ gfm: true, breaks: true }).parse(markdown) as string;
/** All tags but those of the comment itself. */
const tagsOf = (html: string): Set<string> => new Set([...html.matchAll(/<(\w+)/g)].map(([, name]) => name!));
const OWN = new Set(["p", "strong", "a", "code", "ul", "li", "br"]);
/** What stands outside code, where mentions and references are looked for. */
const outsideCode = (html: string): string => html.replace(/<code>.*?<\/code>/gs, "");

test("its first line finds it again; then URL, version, counts, and each warning with its recipe", async () => {
  await home.write("", {
    "dist/index.html": `<!doctype html><title>t</title><img src="missing.png"><a href="gone.html">x</a>`,
    "dist/new.txt": "1",
  });
  const { code, out } = await home.run(["preview", "--name", "md", "--markdown"]);
  expect(code).toBe(0);
  const body = json(await home.run(["preview", "--name", "md", "--json"]));
  const lines = out.split("\n");
  expect(lines[0]).toBe(`<!-- svc-preview ${site_id} -->`);
  expect(lines[1]).toBe(`**Preview:** <${body["url"]}/>`);
  expect(out).toContain(`\`${body["version_id"]}\``);
  expect(out).toContain("1 file added, 1 changed, 0 removed");
  const warnings = body["warnings"] as { message: string; fix_recipe: string }[];
  expect(warnings.length).toBeGreaterThan(1);
  for (const { message, fix_recipe } of warnings) {
    expect(out).toContain(inert(message));
    expect(out).toContain(inert(fix_recipe));
  }
});

test("content that is live says so", async () => {
  await home.run(["update"]);
  const { out } = await home.run(["preview", "--markdown"]);
  expect(out).toContain("It is what is live");
});

const HOSTILE = [
  "<img src=x onerror=alert(1)>",
  "<script>alert(1)</script>",
  "--> <b>out</b> <!--",
  "![x](https://evil.example/pixel.png)",
  "[click](javascript:alert(1))",
  "https://evil.example/phish",
  "www.evil.example",
  "@everyone @octocat",
  "fixes #1, octo/repo#2, !3, ~label, %milestone",
  "`code` ``more`` ```",
  "`",
  "``",
  "`".repeat(300),
  "a`<b>`c",
  "` <b> `",
  "\\`<b>x</b>\\`",
  "# heading",
  "- [ ] task",
  "| a | b |",
  "> quote",
  "$`x`$ $$y$$",
  "&lt;b&gt; &#64;octocat",
  "/close",
  "line\nbreak\r\n# heading",
  "\u2028# heading",
  "\u202eright to left\u202c",
  "\u001b[31mred",
  "\u200b\u200d",
  "🎉 :tada: [^1]",
  "   ",
  "",
  "x".repeat(5000),
];

describe("what comes from the files is inert", () => {
  test.each(HOSTILE.map((words) => [words]))("%j", (words) => {
    const html = rendered(`- ${inert(words)}\n  → ${inert(words)}`);
    for (const tag of tagsOf(html)) expect(OWN).toContain(tag);
    expect(html).not.toContain("<a ");
    expect(
      outsideCode(html)
        .replace(/<[^>]*>/g, "")
        .trim(),
    ).toBe("→");
    expect(html.match(/<li>/g)).toHaveLength(1);
  });

  test("any text of ticks, brackets and white space stays in its span", () => {
    const alphabet = ["`", "``", " ", "<b>", "@a", "#1", "\\", "\n", "*", "_", "]", "(x)", "-->"];
    for (let seed = 1, n = 0; n < 3000; n++) {
      let words = "";
      for (let part = 0; part < 8; part++) {
        seed = (seed * 48271) % 2147483647;
        words += alphabet[seed % alphabet.length];
      }
      const html = rendered(inert(words));
      expect([
        words,
        outsideCode(html)
          .replace(/<\/?p>/g, "")
          .trim(),
      ]).toEqual([words, ""]);
    }
  });

  test("names of files, as the server tells them", async () => {
    const names = [
      "<img src=x onerror=alert(1)>.html",
      "@octocat.html",
      "`<b>`.html",
      "[x](https:evil).html",
      "#1.html",
    ];
    const pages = Object.fromEntries(names.map((name) => [`dist/${name}`, `<img src="none-${name.length}.png">`]));
    await home.write("", pages);
    const { out } = await home.run(["preview", "--name", "hostile", "--markdown"]);
    const html = rendered(out);
    for (const name of names) expect(out).toContain(name);
    for (const tag of tagsOf(html)) expect(OWN).toContain(tag);
    expect(outsideCode(html)).not.toMatch(/@octocat|#1|onerror|<b>/);
    expect([...html.matchAll(/href="([^"]*)"/g)].every(([, to]) => to!.includes(".localhost"))).toBe(true);
  });

  test("a comment that a host of code takes: at most 65,536 characters, whatever there is to warn of", () => {
    const warning = { code: "missing_asset", message: "`".repeat(900), path: "x", fix_recipe: "y".repeat(2000) };
    const preview = {
      url: "https://pr-1--a-b.example",
      version_url: "https://0123456789abcdef--a-b.example",
      live_url: "https://a-b.example",
      name: "pr-1",
      site_id: "site_x--><script>",
      version_id: "0123456789abcdef",
      expires_at: 1_800_000_000_000,
      changed: true,
      files: { added: [], changed: [], removed: [] },
      healed: [],
      warnings: Array.from({ length: 500 }, () => warning),
    };
    const markdown = markdownOf("site_x--><script>", preview, preview);
    expect(markdown.length).toBeLessThan(65_536);
    expect(markdown.split("\n")[0]).toBe("<!-- svc-preview site_x-script -->");
    expect(markdown).toMatch(/… and \d+ more warnings/);
  });
});
