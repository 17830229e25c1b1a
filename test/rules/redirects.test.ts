/** BEYOND 2: `_redirects`, line by line: what a line answers, and what is told of one that does nothing. */
import { describe, expect, test } from "bun:test";
import { signUp } from "../kit/people.ts";
import { startExplained } from "../kit/explained.ts";
import { type Contents, type DeployResult, slugOf } from "../kit/server.ts";
import { shared } from "../kit/shared.ts";
import { asking, SMALL_SITE } from "./small-site.ts";

const server = shared(await startExplained());

const FILES = {
  ...SMALL_SITE,
  "assets/app.js": "1",
  "é.html": "<!doctype html><title>E</title>accent",
};

const deploy = (rules: string, files: Contents = FILES): Promise<DeployResult> =>
  server.deploy({ ...(files as Record<string, string>), _redirects: rules });

interface Seen {
  status: number;
  location: string | null;
  body: string;
  headers: Headers;
}

async function ask(site: DeployResult, path: string, headers: Record<string, string> = {}): Promise<Seen> {
  const answer = await asking(server)(site, path, headers);
  const body = (await answer.text()).replace(/<[^>]*>/g, " ");
  return { status: answer.status, location: answer.headers.get("location"), body, headers: answer.headers };
}

/** `→ where` of a redirect, `= text` of a body, the status alone. */
async function answered(rules: string, path: string): Promise<string> {
  const { status, location, body } = await ask(await deploy(rules), path);
  if (location !== null) return `${status} → ${location}`;
  const text = /home|alpha|docs|accent|\[1\]/.exec(body)?.[0];
  return text === undefined ? `${status}` : `${status} = ${text}`;
}

describe("BEYOND 2: what a rule answers", () => {
  test.each<[what: string, rules: string, path: string, answer: string]>([
    ["302 where no status is given", "/old /a", "/old", "302 → /a"],
    ["301", "/old /a 301", "/old", "301 → /a"],
    ["303", "/old /a 303", "/old", "303 → /a"],
    ["307", "/old /a 307", "/old", "307 → /a"],
    ["308", "/old /a 308", "/old", "308 → /a"],
    ["200 shows another file under the address", "/new /a 200", "/new", "200 = alpha"],
    ["200 of a folder's index", "/new /docs/ 200", "/new", "200 = docs"],
    ["200 of a clean address", "/new /a 200", "/new", "200 = alpha"],
    ["200 to a folder without its slash matches nothing", "/new /docs 200", "/new", "404"],
    ["200 of a missing file matches nothing, and the next line is tried", "/x /no 200\n/* /a 302", "/x", "302 → /a"],
    ["no rule leads to a rule", "/x /y 200\n/y /a 200", "/x", "404"],
    ["404 shows a file with that status", "/x /data.json 404", "/x", "404 = [1]"],
    ["404 of a missing file matches nothing", "/x /no 404\n/x* /a", "/x", "302 → /a"],
    ["a file wins over a rule", "/a /docs/", "/a", "200 = alpha"],
    ["a forced rule wins over a file", "/a /docs/ 302!", "/a", "302 → /docs/"],
    ["a forced 200 does too", "/a /docs/ 200!", "/a", "200 = docs"],
    ["the first line that matches", "/x/* /a 301\n/x/y /docs/ 302", "/x/y", "301 → /a"],
    ["an exact line before a pattern", "/x/y /docs/ 302\n/x/* /a 301", "/x/y", "302 → /docs/"],
    ["a slash at the end counts on neither side: of the path", "/old /a", "/old/", "302 → /a"],
    ["… of the rule", "/old/ /a", "/old", "302 → /a"],
    ["… but after a *", "/old*/ /a", "/older", "404"],
    ["/ is itself alone", "/ /a 302!", "/", "302 → /a"],
    ["letter case counts", "/Old /a", "/old", "404"],
    ["* is any run of characters, across slashes", "/b/* /c/:splat", "/b/1/2", "302 → /c/1/2"],
    ["* is none, too", "/b/* /c/:splat", "/b/", "302 → /c/"],
    ["/foo/* is not /foo", "/foo/* /a", "/foo", "404"],
    ["* in the middle", "/b/*/z /c/:splat", "/b/1/2/z", "302 → /c/1/2"],
    [":name is a segment or a part of one", "/u/:id/x /a?id=:id", "/u/7/x", "302 → /a?id=7"],
    [":name is no slash", "/u/:id /a", "/u/7/x", "404"],
    [":name is a character at least", "/u/x:id /a", "/u/x", "404"],
    ["names take as much as they can, in turn", "/u/:a-:b /:a/:b", "/u/1-2-3", "302 → /1-2/3"],
    ["a :word that from lacks stays", "/u /a?t=:time", "/u", "302 → /a?t=:time"],
    ["the query of the request goes along", "/old /a", "/old?x=1", "302 → /a?x=1"],
    ["… before a fragment", "/old /a#top", "/old?x=1", "302 → /a?x=1#top"],
    ["… but where `to` has one", "/old /a?y=2", "/old?x=1", "302 → /a?y=2"],
    ["what is put in is encoded anew", "/b/* /c/:splat", "/b/%22%0A".replace("%0A", "%3F"), "302 → /c/%22%3F"],
    ["… in a query all of it", "/b/* /c?q=:splat", "/b/x&y=1", "302 → /c?q=x%26y%3D1"],
    ["in own paths a run of slashes is one", "/b/* /:splat", "/b//evil.example", "302 → /evil.example"],
    ["characters that no URL holds are encoded", "/old /é<x>", "/old", "302 → /%C3%A9%3Cx%3E"],
    ["from is decoded once", "/caf%C3%A9 /a", "/café", "302 → /a"],
    ["from is NFC, as the request's path is", "/cafe\u0301 /a", "/caf%C3%A9", "302 → /a"],
    ["a rule that leads to the path that was asked is no match", "/d/* /d/:splat 302\n/d/* /a", "/d/x", "404"],
    ["CRLF and a BOM are taken", "\uFEFF/old /a 301\r\n/x /a\r\n", "/x", "302 → /a"],
    ["a comment at the line's start, or behind white space", "# no\n/old /a # 301", "/old", "302 → /a"],
    ["/* /index.html 200 is the single-page app's", "/* /index.html 200", "/any/route", "200 = home"],
    ["… and no line of the table: a missing script is missing", "/* /index.html 200", "/assets/no.js", "404"],
    ["a page for all paths is for routes alone", "/app/* /a.html 200", "/app/missing.js", "404"],
    ["… a file for all paths for any", "/api/* /data.json 200", "/api/x.js", "200 = [1]"],
    ["no rule touches the service's paths", "/* /a 302!", "/_svc/comments/none", "404"],
    ["… nor the challenge's folder", "/* /a 302!", "/.well-known/acme-challenge/x", "404"],
  ])("%s", async (_, rules, path, answer) => {
    expect(await answered(rules, path)).toBe(answer);
  });
});

describe("BEYOND 2: of a redirect", () => {
  test("the body is empty, there is no ETag, and robots are told as of the site's pages", async () => {
    const { body, headers } = await ask(await deploy("/old /a 301"), "/old");
    expect([body, headers.get("etag"), headers.get("x-robots-tag")]).toEqual(["", null, "noindex"]);
  });

  test.each([
    [301, "public, max-age=60, must-revalidate"],
    [308, "public, max-age=60, must-revalidate"],
    [302, "no-store"],
    [303, "no-store"],
    [307, "no-store"],
  ])("%d is %s", async (status, caching) => {
    const { headers } = await ask(await deploy(`/old /a ${status}`), "/old");
    expect(headers.get("cache-control")).toBe(caching);
  });

  test("the ETag of a rewrite is of the path that was asked, and holds", async () => {
    const site = await deploy("/new /a 200");
    const { headers } = await ask(site, "/new");
    expect(headers.get("etag")).toBe(`"${site.version_id}:/new"`);
    expect((await ask(site, "/new", { "if-none-match": headers.get("etag")! })).status).toBe(304);
  });

  test("a page for all paths goes to navigations alone: Sec-Fetch-Dest decides, and Vary says so", async () => {
    const site = await deploy("/app/* /a.html 200");
    const dest = (value: string) => ask(site, "/app/x", { "sec-fetch-dest": value });
    expect((await dest("document")).status).toBe(200);
    expect((await dest("script")).status).toBe(404);
    expect((await dest("iframe")).status).toBe(200);
    expect((await dest("document")).headers.get("vary")).toBe("Accept-Encoding, Sec-Fetch-Dest");
  });

  test("a version's own host obeys its own file, after the next deploy too", async () => {
    const site = await deploy("/old /a 301");
    await server.redeploy(site, { ...FILES, _redirects: "/old /docs/ 301" });
    expect((await ask(site, "/old")).location).toBe("/docs/");
    const own = await server.site(`${site.version_id}--${slugOf(site.url)}`, "/old", { redirect: "manual" });
    expect(own.headers.get("location")).toBe("/a");
  });

  test("POST is 405 as ever", async () => {
    const site = await deploy("/old /a 301");
    expect((await server.site(slugOf(site.url), "/old", { method: "POST" })).status).toBe(405);
  });

  test("a rule to another host counts for sites with an owner alone: it is told, and starts with the claim", async () => {
    const rules = { ...FILES, _redirects: "/out/* https://example.org/x/:splat 301\n" };
    const person = await signUp(server);
    const site = await server.deploy(rules);
    expect(site.warnings.map(({ code, path }) => [code, path])).toEqual([["external_redirect", "_redirects:1"]]);
    expect((await ask(site, "/out/1")).status).toBe(404);
    const body = JSON.stringify({ claim_token: site.claim_token });
    const headers = { ...person.bearer, "content-type": "application/json" };
    expect((await server.api(`/sites/${site.site_id}/claim`, { method: "POST", body, headers })).status).toBe(200);
    expect((await ask(site, "/out/1?q=2")).location).toBe("https://example.org/x/1?q=2");
  });
});

describe("BEYOND 2: each line that does nothing, or not what was written, is told with its line and what to write", () => {
  const long = `/${"x".repeat(2000)} /a`;
  test.each<[what: string, rules: string | Uint8Array, told: string[]]>([
    ["one part", "/old", ["invalid_rule 1"]],
    ["four parts", "/old /a 301 x", ["invalid_rule 1"]],
    ["a line over 2,000 characters", `${long}\n/x /a`, ["invalid_rule 1"]],
    ["no UTF-8", new Uint8Array([0x2f, 0xff, 0x20, 0x2f]), ["invalid_rule 1"]],
    ["over 100 KiB", `${"# comment\n".repeat(11_000)}/x /a`, ["invalid_rule 1"]],
    ["a host", "https://example.org/x /a", ["invalid_rule 1"]],
    ["no slash", "old /a", ["rule_adjusted 1"]],
    ["a query", "/old?x=1 /a", ["rule_adjusted 1"]],
    ["a fragment", "/old#x /a", ["rule_adjusted 1"]],
    ["what cannot be decoded", "/%zz /a", ["invalid_rule 1"]],
    ["two *", "/*/x/* /a", ["invalid_rule 1"]],
    ["a name twice", "/:a/:a /a", ["invalid_rule 1"]],
    ["more than ten names", `/${Array.from({ length: 11 }, (_, i) => `:n${i}`).join("-")} /a`, ["invalid_rule 1"]],
    ["* beside :splat", "/:splat/* /a", ["invalid_rule 1"]],
    ["below /_svc/", "/_svc/* /a", ["invalid_rule 1"]],
    ["below the challenge's folder", "/.well-known/acme-challenge/* /a", ["invalid_rule 1"]],
    ["the same again", "/old /a\n/old/ /docs/", ["invalid_rule 2"]],
    ["to http", "/old http://example.org/", ["invalid_rule 1"]],
    ["to a script", "/old javascript:alert(1)", ["invalid_rule 1"]],
    ["to a host without a scheme", "/old //example.org/", ["invalid_rule 1"]],
    ["to a backslash", "/old /\\example.org", ["invalid_rule 1"]],
    ["to a user name", "/old https://a@example.org/", ["invalid_rule 1"]],
    ["a name in the host", "/:h https://:h.example.org/", ["invalid_rule 1"]],
    ["a name in the port", "/:p https://example.org::p/", ["invalid_rule 1"]],
    ["the splat in the host", "/* https://:splat/", ["invalid_rule 1"]],
    ["another status", "/old /a 418", ["invalid_rule 1"]],
    ["200 to another host", "/old https://example.org/ 200", ["invalid_rule 1"]],
    ["404 to another host", "/old https://example.org/ 404", ["invalid_rule 1"]],
    ["to itself", "/old /old/", ["invalid_rule 1"]],
    ["a ring", "/x /y\n/y /z\n/z /x\n/w /x", ["redirect_loop 1", "redirect_loop 2", "redirect_loop 3"]],
    ["a file that answers", "/a /docs/", ["rule_shadowed 1"]],
    ["… not where it is forced", "/a /docs/ 302!", []],
    ["comments and blank lines", "# x\n\n   # y\n", []],
    [
      "2,000 lines count, and 100 with a * or :name",
      many(2002, 102),
      ["rules_over_limit 2001", "rules_over_limit 2103"],
    ],
  ])("%s", async (_, rules, told) => {
    const site = await server.deploy({ ...FILES, _redirects: rules });
    const mine = site.warnings.filter(({ path }) => path?.startsWith("_redirects"));
    expect(mine.map(({ code, path }) => `${code} ${path!.split(":")[1]}`)).toEqual(told);
    for (const { message, fix_recipe } of mine) {
      expect(message).toMatch(/^\S[^\n]+\.$/);
      expect(fix_recipe).toMatch(/^[A-Z][^\n]+\S$/);
    }
  });

  test("a ring's lines are kept, and so is what a bad line stands beside", async () => {
    expect(await answered("nonsense\n/x /y\n/y /x", "/x")).toBe("302 → /y");
  });

  test("a link that a rule answers is not broken; one that none answers is", async () => {
    const page = `<!doctype html><title>T</title><a href="/old">o</a><a href="/b/1">b</a><a href="/gone">g</a>`;
    const site = await deploy("/old /a\n/b/* /a 200", { ...FILES, "index.html": page });
    expect(site.warnings.map(({ code, message }) => [code, /\/gone/.test(message)])).toEqual([["broken_link", true]]);
  });

  test("the file is served and counted as before", async () => {
    expect(await answered("/docs-of-it /a", "/_redirects")).toBe("200 = docs");
  });
});

function many(plain: number, patterns: number): string {
  const lines = [
    ...Array.from({ length: plain }, (_, i) => `/p${i} /a`),
    ...Array.from({ length: patterns }, (_, i) => `/q${i}/* /a`),
  ];
  return lines.join("\n");
}

test("at their limits rules cost a request a few milliseconds: 90 lines that look like the path at every place of it", async () => {
  const worst = Array.from({ length: 90 }, (_, i) => `/*${"ab".repeat(225)}${"ba".repeat(225)}${i}/:x /a`);
  const site = await deploy(worst.join("\n"));
  expect(site.warnings).toEqual([]);
  const path = (i: number) => `/${"ab".repeat(4000)}${i}`;
  await ask(site, path(0));
  const cpu = process.cpuUsage();
  for (let i = 1; i <= 20; i++) expect((await ask(site, path(i))).status).toBe(404);
  const { user, system } = process.cpuUsage(cpu);
  expect((user + system) / 1000 / 20).toBeLessThan(15);
});
