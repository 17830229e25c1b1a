/** WEB 6, BEYOND 2 to 5: a site's rules as they are in force, line by line, and what answers an address of it. */
import { describe, expect, test } from "bun:test";
import type { Contents, DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { decoded, visitorOf } from "../kit/visitor.ts";

const server = await sharedServer();
const [ann, ben] = [await visitorOf(server), await visitorOf(server)];

const INDEX = "<!doctype html><title>x</title>";
const pathOf = ({ site_id }: Pick<DeployResult, "site_id">, query: Record<string, string> = {}): string =>
  `/dashboard/sites/${site_id}/rules?${new URLSearchParams(query)}`;
const deploy = (files: Contents) => ann.deploy({ "index.html": INDEX, ...files });

interface Row {
  line: number;
  /** As the page shows it, then what it says, then each warning; the badge last. */
  said: string[];
}

const plain = (html: string): string =>
  decoded(html.replace(/<[^>]*>/g, " "))
    .replace(/\s+/g, " ")
    .trim();

/** The rows of one file's list. */
function rowsOf(html: string, file: "redirects" | "headers"): Row[] {
  const rows = html.matchAll(new RegExp(`<li id="${file}-(\\d+)"[^>]*>([\\s\\S]*?)</li>`, "g"));
  return [...rows].map(([, line, row]) => ({
    line: Number(line),
    said: [...row!.matchAll(/<p\b[^>]*>([\s\S]*?)<\/p>|<span class="badge[^"]*">([\s\S]*?)<\/span>/g)].map(
      ([, words, badge]) => plain((words ?? badge)!),
    ),
  }));
}

describe("`_redirects`, line by line", () => {
  const LINES: [line: string, ...said: string[]][] = [
    ["/old /new 301", "/old leads to /new, for good: browsers keep it.", "301"],
    ["/now /new", "/now leads to /new, for now: browsers ask each time.", "302"],
    [
      "/a/* /b/:splat 307",
      "Everything that begins with /a/ leads to /b/:splat, for now: browsers ask each time.",
      "307",
    ],
    ["/u/:id/* /p/:id", "/u/:id/* leads to /p/:id, for now: browsers ask each time.", "302"],
    ["/kept /page.html 308!", "/kept leads to /page.html, also where a file is, for good: browsers keep it.", "308!"],
    ["/shop https://shop.example/ 301", "/shop leads to https://shop.example/, for good: browsers keep it.", "301"],
    ["/as /page.html 200", "/as shows /page.html, and the address stays.", "200"],
    ["/no /page.html 404", "/no is not found: visitors see /page.html.", "404"],
    ["/* /index.html 200", "Every address without a file shows the index, as in a single-page app.", "200"],
  ];

  test("each says in plain words what it does, with its number and its status; comments and blank lines are not there", async () => {
    const written = ["# moved in spring", "", ...LINES.map(([line]) => `${line} # why`)].join("\n");
    const site = await deploy({ "page.html": INDEX, _redirects: written });
    const { html, text, status, title } = await ann.read(pathOf(site));
    expect([status, title]).toEqual([200, `Rules of ${site.slug} · svc`]);
    expect(rowsOf(html, "redirects")).toEqual(LINES.map((said, i) => ({ line: i + 3, said })));
    expect(text).not.toContain("moved in spring");
    expect(text).not.toContain("With a warning");
  });

  const WARNED: [code: string, line: string, fix: RegExp, badge: string][] = [
    ["invalid_rule", "nowhere", /^Write from, to and a status: .*nowhere leads nowhere/, "Does nothing"],
    ["invalid_rule", "/x javascript:alert(1)", /neither a path of this site nor an https address/, "Does nothing"],
    ["invalid_rule", "/gone /none.html 200", /No file is at \/none\.html/, "Does nothing"],
    ["invalid_rule", `/long ${"x".repeat(2000)}`, /over 2,000 characters/, "Does nothing"],
    ["rule_adjusted", "/q?a=b /new", /Write \/q\..* counts as \/q/, "302"],
    ["rule_shadowed", "/page /new", /Write 302! for \/page .*page\.html answers \/page/, "Does nothing"],
    ["redirect_loop", "/ring-a /ring-b\n/ring-b /ring-a", /browsers give up/, "302"],
  ];
  test.each(WARNED)("%s: %j has its warning beside it, as the deploy had it", async (code, line, fix, badge) => {
    const site = await deploy({ "page.html": INDEX, _redirects: `# first\n${line}\n` });
    const [told] = site.warnings.filter(({ path }) => path === "_redirects:2");
    expect(told!.code).toBe(code as never);
    const { html, text } = await ann.read(pathOf(site));
    const row = rowsOf(html, "redirects").find(({ line }) => line === 2)!;
    expect(row.said.at(-1)).toBe(badge);
    expect(row.said.at(-2)).toMatch(fix);
    expect(row.said.at(-2)).toContain(told!.fix_recipe);
    expect(text).toMatch(/With a warning \d/);
  });

  test("external_redirect: a claimed site's rules to other hosts count, so nothing warns of them any more", async () => {
    const site = await server.deploy({ "index.html": INDEX, _redirects: "/out https://example.org/ 301" });
    expect(site.warnings.map(({ code }) => code)).toEqual(["external_redirect"]);
    await server.api(`/sites/${site.site_id}/claim`, {
      method: "POST",
      headers: { "content-type": "application/json", ...ann.person.bearer },
      body: JSON.stringify({ claim_token: site.claim_token }),
    });
    const { html } = await ann.read(pathOf(site));
    expect(rowsOf(html, "redirects")[0]!.said).toEqual([
      "/out https://example.org/ 301",
      "/out leads to https://example.org/, for good: browsers keep it.",
      "301",
    ]);
  });

  test("where the site's setting says that it is no single-page app, its line does nothing", async () => {
    const site = await deploy({ _redirects: "/* /index.html 200" });
    await ann.change(site, { spa: false });
    expect(rowsOf((await ann.read(pathOf(site))).html, "redirects")[0]!.said.slice(1)).toEqual([
      "The site's setting says that it is no single-page app, so it does nothing.",
      "Does nothing",
    ]);
  });

  test.each<[string, string | Uint8Array, string]>([
    ["over 100 KiB", "x".repeat(100 * 1024 + 1), "_redirects is over 100 KiB, so no line of it counts."],
    ["no UTF-8", new Uint8Array([47, 0xff, 0xfe]), "_redirects is not UTF-8, so no line of it counts."],
  ])("a file that is %s has one warning and no line", async (_what, file, says) => {
    const { html } = await ann.read(pathOf(await deploy({ _redirects: file })));
    expect(rowsOf(html, "redirects")).toEqual([{ line: 1, said: [expect.stringContaining(says), "Does nothing"] }]);
  });

  test("2,100 lines stand on 21 pages; those past the limit do nothing, and those with a warning have a list of their own", async () => {
    const lines = Array.from({ length: 2100 }, (_, i) => `/old-${i} /new-${i} 301${i === 1500 ? " x" : ""}`);
    const site = await deploy({ _redirects: lines.join("\n") });
    const seen = new Set<number>();
    for (const page of [1, 2, 16, 21]) {
      const { html, text } = await ann.read(pathOf(site, { page: String(page) }));
      expect(text).toContain(`Page ${page} of 21`);
      const rows = rowsOf(html, "redirects");
      expect([rows.length, rows[0]!.line]).toEqual([100, (page - 1) * 100 + 1]);
      for (const { line } of rows) seen.add(line);
    }
    expect(seen.size).toBe(400);
    const last = rowsOf((await ann.read(pathOf(site, { page: "21" }))).html, "redirects").at(-1)!;
    expect(last.said.slice(1)).toEqual([
      "It is past the number of lines that count, so it does nothing.",
      "Does nothing",
    ]);
    const warned = await ann.read(pathOf(site, { show: "warned" }));
    expect(rowsOf(warned.html, "redirects").map(({ line }) => line)).toEqual([1501, 2002]);
    expect(warned.text).toContain("All lines 2,100 With a warning 2");
  });
});

describe("`_headers`, line by line", () => {
  test("a path says for which addresses, a header what svc has to do with it; what is refused says why", async () => {
    const _headers = [
      "/*",
      "  X-Frame-Options: DENY",
      "  Set-Cookie: a=b",
      "# none",
      "/assets/*",
      "  Cache-Control: max-age=9",
      "/page",
      "  ! X-Frame-Options",
      "  Content-Type: text/plain",
      "https://www.example.org/*",
      "  X-Robots-Tag: noindex",
      "/* /*",
      "  X-Y: z",
    ].join("\n");
    const site = await deploy({ "page.html": INDEX, _headers });
    const { html } = await ann.read(pathOf(site));
    expect(rowsOf(html, "headers")).toEqual([
      { line: 1, said: ["/*", "For every address:"] },
      { line: 2, said: ["X-Frame-Options: DENY"] },
      {
        line: 3,
        said: ["Set-Cookie: a=b", expect.stringMatching(/^Take the line away\. .*other sites/), "Does nothing"],
      },
      { line: 5, said: ["/assets/*", "For everything that begins with /assets/:"] },
      { line: 6, said: ["Cache-Control: max-age=9", expect.stringContaining("live addresses")] },
      { line: 7, said: ["/page", "For /page:"] },
      { line: 8, said: ["! X-Frame-Options", "X-Frame-Options is taken away."] },
      { line: 9, said: ["Content-Type: text/plain", expect.stringContaining("page.html is a page")] },
      {
        line: 10,
        said: ["https://www.example.org/*", "For every address, on the host www.example.org alone:"],
      },
      { line: 11, said: ["X-Robots-Tag: noindex", "Beside svc's own, where that stands."] },
      { line: 12, said: ["/* /*", expect.stringContaining("the block below it does nothing"), "Does nothing"] },
      { line: 13, said: ["X-Y: z", "It does nothing, as the path above it does.", "Does nothing"] },
    ]);
  });

  test("while visitors need a password, no cache-control of the site counts", async () => {
    const site = await deploy({ _headers: "/*\n  Cache-Control: max-age=9\n" });
    await ann.send(`/dashboard/sites/${site.site_id}/access`, { password: "open sesame" });
    expect(rowsOf((await ann.read(pathOf(site))).html, "headers")[1]!.said.at(-1)).toBe("Does nothing");
  });
});

test("without rules the page shows how a line of each file looks, and where the manual is", async () => {
  const { text, html } = await ann.read(pathOf(await deploy({})));
  for (const said of ["No rules yet", "/old-page /new-page 301", "Cache-Control: public"]) expect(text).toContain(said);
  expect(html).toContain('href="/docs/rules"');
});

test("a rollback brings the rules of its version back", async () => {
  const site = await deploy({ _redirects: "/one /two" });
  await ann.redeploy(site, { "index.html": INDEX, _redirects: "/three /four" });
  expect(rowsOf((await ann.read(pathOf(site))).html, "redirects")[0]!.said[0]).toBe("/three /four");
  await ann.send(`/dashboard/sites/${site.site_id}/rollback`, { version_id: site.version_id });
  expect(rowsOf((await ann.read(pathOf(site))).html, "redirects")[0]!.said[0]).toBe("/one /two");
});

describe("what answers at", () => {
  const FILES = {
    "about.html": INDEX,
    "docs/index.html": INDEX,
    "404.html": "<!doctype html><title>Gone</title>",
    _redirects: "/old/* /new/:splat 301\n/docs/ /about 302!\n/kept /about 302",
    _headers: "/*\n  X-One: 1\n  X-Two: 2\n/about\n  ! X-Two\n",
  };
  const site = deploy(FILES);
  const ask = async (url: string, more: Record<string, string> = {}) => ann.read(pathOf(await site, { url, ...more }));

  test.each<[url: string, ...says: string[]]>([
    [
      "/about",
      "200 The page of that name answers, without its .html",
      "File about.html",
      "about.html answers without its .html.",
    ],
    ["about", "200 The page of that name answers", "File about.html"],
    [
      " /old/a?b=c ",
      "301 A line of _redirects answers",
      "Leads to /new/a?b=c",
      "_redirects:1 /old/* /new/:splat 301",
      "Line 1 is for this address.",
    ],
    ["/docs/", "302 A line of _redirects answers", "_redirects:2", "A forced line"],
    ["/docs", "302 A line of _redirects answers", "_redirects:2"],
    ["/none", "404 Nothing is there: the site's own 404 page answers", "File 404.html", "No rule is for this address."],
    ["/_svc/comments.js", "The service answers: this address is its own"],
    ["/%", "400 It is refused: no address may read so"],
  ])("%j: %s", async (url, ...says) => {
    const { status, text } = await ask(url);
    expect(status).toBe(200);
    for (const said of says) expect(text).toContain(said);
  });

  test("a whole address, with or without its scheme, on each host of the site", async () => {
    const { slug, version_id } = await site;
    for (const host of [`${slug}.localhost:${server.port}`, `${version_id}--${slug}.localhost:${server.port}`]) {
      for (const url of [`http://${host}/about`, `${host}/about`]) {
        const { status, text } = await ask(url);
        expect([url, status]).toEqual([url, 200]);
        expect(text).toContain(`Asked GET http://${host}/about`);
      }
    }
  });

  test("each header with the line that made it, a link to that line, and the lines without effect", async () => {
    const { text, html } = await ask("/about");
    expect(text).toContain("x-one: 1 _headers:2");
    expect(html).toMatch(new RegExp(`href="/dashboard/sites/${(await site).site_id}/rules#headers-2"`));
    const away = await ask("/old/a");
    expect(away.text).toContain("_headers:2 X-One did nothing here. Redirects take no headers of the site.");
  });

  test("what else a request says is asked under its name in the API, and stays in the form", async () => {
    const spa = await deploy({ _redirects: "/app/* /index.html 200" });
    const asked = { url: "/app/x", sec_fetch_dest: "script", method: "HEAD" };
    const { text, html } = await ann.read(pathOf(spa, asked));
    expect(text).toContain("Sec-Fetch-Dest says something else");
    expect(text).toContain("Asked HEAD ");
    expect(html).toMatch(/<details open>\s*<summary>As another request asks/);
    expect(html).toMatch(/<option value="script" selected>/);
    expect((await ann.read(pathOf(spa, { url: "/app/x" }))).text).toContain("200 A line of _redirects answers");
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ["another host's", { url: "https://example.org/" }, /The site has no such host: example\.org/],
    ["another site's", { url: "http://svc.localhost/" }, /no such host/],
    ["no web address", { url: "ftp://example.org/" }, /Write a path such as \/about, or a whole address of this site/],
    ["nonsense", { url: "http://[" }, /Write a path such as \/about/],
    ["longer than any", { url: `/${"x".repeat(5000)}` }, /too long/],
    ["asked by POST", { url: "/", method: "POST" }, /GET or HEAD/],
    ["asked with a header that is none", { url: "/", accept_encoding: "é" }, /ASCII/],
  ])("an address that is %s is 400, says what to write, and is kept in the field", async (_what, query, says) => {
    const { status, text, html, title } = await ann.read(pathOf(await site, query));
    expect([status, title]).toEqual([400, `Error: Rules of ${(await site).slug} · svc`]);
    expect(text).toMatch(says);
    expect(html).toMatch(/<input\s+class="field[^>]*name="url"[^>]*aria-invalid="true"/);
    expect(decoded(/name="url"[^>]*value="([^"]*)"/.exec(html)![1]!)).toBe(query["url"]!);
    expect(rowsOf(html, "redirects")).toHaveLength(3);
  });

  test("A8 a stranger's path is text: no markup, and nothing that turns the direction of writing", async () => {
    const odd = await deploy({ _redirects: "/x\u202e<b>x</b> /y" });
    for (const url of ["/x\u202e<b>x</b>", '/"><script>alert(1)</script>']) {
      const { html } = await ann.read(pathOf(odd, { url }));
      const shown = html.replace(/<input[^>]*>/g, "");
      expect(shown).not.toContain("\u202e");
      expect(html).not.toMatch(/<script>alert|<b>x<\/b>/);
    }
    const { html } = await ann.read(pathOf(odd));
    expect(rowsOf(html, "redirects")[0]!.said[0]).toBe("/x\\u{202e}<b>x</b> /y");
  });

  test("a private site says that visitors give the password first; a disabled one is explained to its owner", async () => {
    const shut = await deploy({});
    await ann.send(`/dashboard/sites/${shut.site_id}/access`, { password: "open sesame" });
    expect((await ann.read(pathOf(shut, { url: "/" }))).text).toContain("Visitors give it first");
    server.disable(shut, "Reported.");
    const { status, text } = await ann.read(pathOf(shut, { url: "/" }));
    expect([status, text]).toEqual([200, expect.stringContaining("451 The state of the site answers")]);
  });

  test("WEB 1.5: another's page is not there, and nobody who is signed out sees one", async () => {
    expect((await ben.read(pathOf(await site, { url: "/about" }))).status).toBe(404);
    const path = pathOf(await site, { url: "/about" });
    const answer = await server.api(path, { headers: { accept: "text/html" } });
    expect([answer.status, answer.headers.get("location")]).toEqual([
      303,
      `/signin?${new URLSearchParams({ next: path })}`,
    ]);
  });
});
