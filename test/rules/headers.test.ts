/** BEYOND 3: `_headers`: which answers get what, what is refused, and what is told of a line that does nothing. */
import { describe, expect, test } from "bun:test";
import { startExplained } from "../kit/explained.ts";
import { signUp } from "../kit/people.ts";
import { type DeployResult, slugOf, ZIP } from "../kit/server.ts";
import { shared } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";
import { asking, SMALL_SITE } from "./small-site.ts";

const server = shared(await startExplained());
const person = await signUp(server);
const ask = asking(server);

const FILES = {
  ...SMALL_SITE,
  "404.html": "<!doctype html><title>No</title>nothing here",
  "notes.txt": "notes",
  plain: "plain text",
  "plain.html": "<!doctype html><title>P</title>never at /plain",
  "picture.svg": `<svg xmlns="http://www.w3.org/2000/svg"/>`,
  _redirects: "/new /a 200\n/old /a 301\n",
};

async function owned(headers: string): Promise<DeployResult> {
  const body = zipOf({ ...FILES, _headers: headers });
  const answer = await server.api("/sites", { method: "POST", body, headers: { ...ZIP, ...person.bearer } });
  return (await answer.json()) as DeployResult;
}
const anonymous = (headers: string): Promise<DeployResult> => server.deploy({ ...FILES, _headers: headers });

const PAGES = "public, max-age=60, must-revalidate";

describe("BEYOND 3: what an answer of an owned site gets", () => {
  test.each<[what: string, headers: string, path: string, header: string, value: string | null]>([
    ["a header", "/*\n  X-A: one", "/a", "x-a", "one"],
    ["… of any letter case", "/*\nX-FRAME-options: DENY", "/", "x-frame-options", "DENY"],
    ["… without indenting", "/a\nX-A: one", "/a", "x-a", "one"],
    ["none on another path", "/a\n  X-A: one", "/", "x-a", null],
    ["a folder's index by the path that was asked", "/\n  X-A: one", "/", "x-a", "one"],
    ["… and not by its file", "/index.html\n  X-A: one", "/", "x-a", null],
    ["every block that matches, joined", "/*\n  X-A: one\n/a\n  X-A: two", "/a", "x-a", "one, two"],
    ["values of one block, joined", "/a\n  X-A: one\n  X-A: two", "/a", "x-a", "one, two"],
    ["what is taken away", "/*\n  X-A: one\n/a\n  ! X-A", "/a", "x-a", null],
    ["removals first in each block", "/*\n  X-A: one\n/a\n  X-A: two\n  ! X-A", "/a", "x-a", "two"],
    ["a name in a value", "/:page\n  X-Page: <:page>", "/a", "x-page", "<a>"],
    ["the splat in a value, encoded", "/*\n  X-Path: :splat", "/na%C3%AFve", "x-path", "na%C3%AFve"],
    ["a rewrite, by the path that was asked", "/new\n  X-A: one", "/new", "x-a", "one"],
    ["… not by the file it shows", "/a\n  X-A: one", "/new", "x-a", null],
    ["the site's own 404 page", "/*\n  X-A: one", "/nothing", "x-a", "one"],
    ["no redirect", "/*\n  X-A: one", "/old", "x-a", null],
    ["no path of the service", "/*\n  X-A: one", "/_svc/comments/none", "x-a", null],
    ["a comment is none", "/*\n  # X-B: no\n  X-A: #one", "/a", "x-a", "#one"],
    ["what the service sends is replaced", "/*\n  Cache-Control: max-age=9", "/a", "cache-control", "max-age=9"],
    [
      "… further values joined",
      "/*\n  Cache-Control: public\n  Cache-Control: max-age=9",
      "/a",
      "cache-control",
      "public, max-age=9",
    ],
    ["Cache-Control not on the 404 page", "/*\n  Cache-Control: max-age=9", "/nothing", "cache-control", "no-store"],
    ["Vary is added to", "/*\n  Vary: Accept-Language", "/a", "vary", "Accept-Encoding, Accept-Language"],
    ["… and not taken away", "/*\n  ! Vary", "/a", "vary", "Accept-Encoding"],
    ["X-Robots-Tag as written", "/*\n  X-Robots-Tag: nosnippet", "/a", "x-robots-tag", "nosnippet"],
    [
      "a policy as written",
      "/*\n  Content-Security-Policy: default-src 'self'",
      "/a",
      "content-security-policy",
      "default-src 'self'",
    ],
    ["a type of what is no page", "/*.txt\n  Content-Type: text/x-notes", "/notes.txt", "content-type", "text/x-notes"],
    [
      "a page's type is not taken away",
      "/*\n  Content-Type: text/plain",
      "/a",
      "content-type",
      "text/html; charset=utf-8",
    ],
    ["… nor an SVG's", "/*\n  ! Content-Type", "/picture.svg", "content-type", "image/svg+xml; charset=utf-8"],
    ["… nor given", "/*\n  Content-Type: text/html", "/notes.txt", "content-type", "text/plain; charset=utf-8"],
    ["at most 32 headers", `/*\n${Array.from({ length: 40 }, (_, i) => `X-${i}: 1`).join("\n")}`, "/a", "x-32", null],
    [
      "… 8 KiB",
      `/*\n${Array.from({ length: 6 }, (_, i) => `X-${i}: ${"v".repeat(1900)}`).join("\n")}`,
      "/a",
      "x-5",
      null,
    ],
  ])("%s", async (_, headers, path, header, value) => {
    expect((await ask(await owned(headers), path)).headers.get(header)).toBe(value);
  });

  test("the 304 and the 206 have them too", async () => {
    const site = await owned("/*\n  X-A: one\n  Cache-Control: max-age=9\n  Vary: Accept-Language");
    const whole = await ask(site, "/data.json");
    const unchanged = await ask(site, "/data.json", { "if-none-match": whole.headers.get("etag")! });
    expect(unchanged.status).toBe(304);
    const part = await ask(site, "/data.json", { range: "bytes=0-1", "accept-encoding": "identity" });
    expect(part.status).toBe(206);
    for (const { headers } of [whole, unchanged, part]) {
      expect([headers.get("x-a"), headers.get("cache-control")]).toEqual(["one", "max-age=9"]);
      expect(headers.get("vary")).toContain("Accept-Language");
    }
  });

  test("HEAD has what GET has", async () => {
    const site = await owned("/*\n  X-A: one");
    const head = await server.site(slugOf(site.url), "/a", { method: "HEAD" });
    expect(head.headers.get("x-a")).toBe("one");
  });

  test("a block may be a host's: the live one's, a version's own, with one * or names that hold no dot", async () => {
    const site = await owned(
      [
        "https://:site.localhost/*\n  X-Live: :site",
        "https://:v--:s.localhost/*\n  X-Version: :v",
        "https://other.example/*\n  X-Other: 1",
      ].join("\n"),
    );
    const live = await ask(site, "/a");
    const own = await server.site(`${site.version_id}--${slugOf(site.url)}`, "/a");
    expect(live.headers.get("x-live")).toBe(slugOf(site.url));
    expect([live.headers.get("x-version"), live.headers.get("x-other")]).toEqual([null, null]);
    expect(own.headers.get("x-version")).toBe(site.version_id);
  });
});

describe("BEYOND 3: a site without an owner, and a version's own host", () => {
  test("Cache-Control stays the service's", async () => {
    const rules = "/*\n  Cache-Control: max-age=9\n  X-A: one";
    const site = await anonymous(rules);
    const { headers } = await ask(site, "/a");
    expect([headers.get("cache-control"), headers.get("x-a")]).toEqual([PAGES, "one"]);
    const mine = await owned(rules);
    const own = await server.site(`${mine.version_id}--${slugOf(mine.url)}`, "/a");
    expect(own.headers.get("cache-control")).toBe("public, max-age=3600");
  });

  test("X-Robots-Tag is added to the service's noindex, and takes it away in no way", async () => {
    const site = await anonymous("/a\n  X-Robots-Tag: all\n/\n  ! X-Robots-Tag");
    expect((await ask(site, "/a")).headers.get("x-robots-tag")).toBe("noindex, all");
    expect((await ask(site, "/")).headers.get("x-robots-tag")).toBe("noindex");
  });
});

describe("RELIABILITY A28: a site in quarantine sends no header of its own that reports or links", () => {
  const LINES = {
    "Content-Security-Policy": "connect-src 'none'; report-uri https://evil.example/r",
    "Content-Security-Policy-Report-Only": "connect-src 'none'; report-to evil",
    "Reporting-Endpoints": 'evil="https://evil.example/r", default="https://evil.example/r"',
    "report-to": '{"group":"evil","max_age":9,"endpoints":[{"url":"https://evil.example/r"}]}',
    NEL: '{"report_to":"evil","max_age":9,"success_fraction":1}',
    Link: "<https://evil.example/l>; rel=preconnect",
  };
  const NAMES = Object.keys(LINES);
  const RULES = `/*\n${NAMES.map((name) => `  ${name}: ${LINES[name as keyof typeof LINES]}\n`).join("")}  X-A: one`;
  const OWN_POLICY = /^default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; form-action 'self'$/;
  const toldBy = ({ headers }: Response) => NAMES.filter((name) => headers.get(name)?.includes("evil"));

  test("on the live host and a version's, pages, files, rewrites and its 404 page; they are back once it is cleared", async () => {
    const site = await anonymous(RULES);
    const hosts = [slugOf(site.url), `${site.version_id}--${slugOf(site.url)}`];
    const asked = hosts.flatMap((host) =>
      ["/", "/a", "/data.json", "/new", "/nothing"].map((path) => [host, path] as const),
    );
    const state = async () => {
      const all = [];
      for (const [host, path] of asked) {
        const answer = await server.site(host, path);
        await answer.body?.cancel();
        expect(answer.headers.get("x-a")).toBe("one");
        all.push(toldBy(answer).length);
        if (toldBy(answer).length === 0) expect(answer.headers.get("content-security-policy")).toMatch(OWN_POLICY);
      }
      return all;
    };
    expect(await state()).toEqual(asked.map(() => NAMES.length));
    server.quarantine(site);
    expect(await state()).toEqual(asked.map(() => 0));
    server.clear(site);
    expect(await state()).toEqual(asked.map(() => NAMES.length));
  });

  test("a 304 empties what the browser has kept from before", async () => {
    const site = await anonymous(RULES);
    const kept = await ask(site, "/a");
    expect(toldBy(kept)).toEqual(NAMES);
    server.quarantine(site);
    const again = await ask(site, "/a", { "if-none-match": kept.headers.get("etag")! });
    expect(again.status).toBe(304);
    const policy = expect.stringMatching(OWN_POLICY);
    expect(NAMES.map((name) => again.headers.get(name))).toEqual([policy, "", "", "", "", ""]);
  });

  test("explain says why of each line", async () => {
    const site = await anonymous(RULES);
    server.quarantine(site);
    const answer = await server.api(`/sites/${site.site_id}/explain?url=/a`, {
      headers: { authorization: `Bearer ${site.manage_token}` },
    });
    const { header_rules } = (await answer.json()) as {
      header_rules: { name: string; applied: boolean; reason?: string }[];
    };
    expect(header_rules.map(({ name, applied }) => [name, applied])).toEqual([
      ...NAMES.map((name) => [name, false]),
      ["X-A", true],
    ]);
    expect(header_rules[0]!.reason).toContain("in quarantine");
  });
});

describe("BEYOND 3: what is told, with its line and what to write", () => {
  const FAR = ["Set-Cookie", "Clear-Site-Data", "Strict-Transport-Security", "Alt-Svc"];
  const OWN = [
    ...["Location", "Refresh", "WWW-Authenticate", "Content-Length", "Content-Encoding", "Content-Range"],
    ...["Accept-Ranges", "Transfer-Encoding", "Connection", "Keep-Alive", "Upgrade", "Trailer", "TE", "Date", "Age"],
    ...["ETag", "Last-Modified", "Server", "X-Request-Id", "Svc-Version", "Proxy-Connection", "Sec-Fetch-Dest"],
    "X-Content-Type-Options",
  ];
  test.each([...FAR, ...OWN])("%s is neither set nor removed", async (name) => {
    const site = await anonymous(`/*\n  ${name}: ours\n  ! ${name}\n  X-A: one`);
    const told = site.warnings.map(({ code, path }) => `${code} ${path}`);
    expect(told).toEqual(["header_refused _headers:2", "header_refused _headers:3"]);
    const plain = await ask(await anonymous("/*\n  X-A: one"), "/data.json");
    const answer = await ask(site, "/data.json");
    expect(answer.headers.get("x-a")).toBe("one");
    expect(answer.headers.get(name)).not.toBe("ours");
    expect(answer.headers.has(name)).toBe(plain.headers.has(name));
  });

  test.each<[what: string, headers: string | Uint8Array, told: string[]]>([
    ["a line before any path", "X-A: one", ["invalid_rule 1"]],
    ["no colon", "/*\n  X-A one\n  X-B: 1", ["invalid_rule 2"]],
    ["no value", "/*\n  X-A:\n  X-B: 1", ["invalid_rule 2"]],
    ["a name that is no token", "/*\n  X A: one\n  X-B: 1", ["invalid_rule 2"]],
    ["a value beyond ASCII", "/*\n  X-A: naïve\n  X-B: 1", ["invalid_rule 2"]],
    ["a control character", "/*\n  X-A: a\u0007b\n  X-B: 1", ["invalid_rule 2"]],
    ["a block without a line", "/a\n/b\n  X-A: one", ["invalid_rule 1"]],
    ["a bad path voids its block", "/*/*\n  X-A: one\n  bad\n/b\n  X-B: 1", ["invalid_rule 1"]],
    ["a host over http", "http://x.example/*\n  X-A: one", ["invalid_rule 1"]],
    ["a host with a port", "https://x.example:8080/*\n  X-A: one", ["invalid_rule 1"]],
    ["a path of the service", "/_svc/*\n  X-A: one", ["invalid_rule 1"]],
    ["no UTF-8", new Uint8Array([0x2f, 0xff, 0x0a]), ["invalid_rule 1"]],
    ["over 100 KiB", `/*\n${"# comment\n".repeat(11_000)}X-A: 1`, ["invalid_rule 1"]],
    ["a type for a page", "/a*\n  Content-Type: text/plain", ["header_refused 2"]],
    ["… under its address: /", "/\n  Content-Type: text/plain", ["header_refused 2"]],
    ["… a folder's with its slash", "/docs/\n  Content-Type: text/plain", ["header_refused 2"]],
    ["… and without", "/docs\n  ! Content-Type", ["header_refused 2"]],
    ["… without its .html", "/a\n  Content-Type: text/plain", ["header_refused 2"]],
    ["… by a name in the address", "/:page\n  Content-Type: text/plain", ["header_refused 2"]],
    ["a type where a file goes before a page", "/plain\n  Content-Type: text/x-plain", []],
    ["the type of pages", "/data.json\n  Content-Type: text/html", ["header_refused 2"]],
    ["a type of what is no page", "/data.json\n  Content-Type: application/ld+json", []],
    [
      "100 blocks count",
      Array.from({ length: 102 }, (_, i) => `/p${i}\n  X-A: 1`).join("\n"),
      ["rules_over_limit 201"],
    ],
  ])("%s", async (_, headers, told) => {
    const site = await server.deploy({ ...FILES, _headers: headers });
    expect(site.warnings.map(({ code, path }) => `${code} ${path!.split(":")[1]}`)).toEqual(told);
  });
});
