/** BEYOND 2 and 3 against whoever would break them: what rules may cost, what they may send, and whom an answer is kept for. */
import { describe, expect, test } from "bun:test";
import { rulesOf } from "../../src/rules/index.ts";
import { fastest } from "../kit/cpu.ts";
import { signUp } from "../kit/people.ts";
import { startExplained } from "../kit/explained.ts";
import type { DeployResult } from "../kit/server.ts";
import { shared } from "../kit/shared.ts";
import { asking, SMALL_SITE } from "./small-site.ts";

const server = shared(await startExplained());
const ask = asking(server);

const FILES = {
  ...SMALL_SITE,
  "notes.txt": "<script>notes</script>",
};
const deploy = (files: Record<string, string>): Promise<DeployResult> => server.deploy({ ...FILES, ...files });
const told = ({ warnings }: DeployResult): string[] => warnings.map(({ code, path }) => `${code} ${path}`);

const utf8 = new TextEncoder();
const fill = (line: string): string => line.repeat(Math.floor((100 * 1024) / line.length));
const half = (line: string): string => fill(line).slice(0, 50 * 1024);

describe("a file of 100 KiB is read in a moment, whatever is in it", () => {
  test.each<[what: string, redirects: string | null, headers: string | null]>([
    ["blocks without a line", null, fill("/a\n")],
    ["blocks, then lines that are none", null, half("/a\n") + half("x\n")],
    ["a block of lines that are none", null, `/a\n${fill("x\n").slice(4)}`],
    ["a block of short headers", null, `/a\n${fill("A:b\n").slice(4)}`],
    ["removals", null, `/*\n${fill("! A\n").slice(4)}`],
    ["lines of stars", fill("/*/*/*/*/* /a\n"), null],
    ["lines that are the same", fill("/old /a\n"), null],
    ["rings", Array.from({ length: 2000 }, (_, i) => `/${i} /${(i + 1) % 2000}`).join("\n"), null],
    ["slashes", fill(`${"/".repeat(1900)} /a\n`), null],
    ["percent signs", fill(`/${"%41".repeat(600)} /a\n`), null],
    ["names", fill(`/${":a-:b/".repeat(300)} /a\n`), null],
    ["blanks", fill(" ".repeat(1900) + "\n"), null],
    ["hashes", fill("/a#".repeat(600) + " /b\n"), null],
  ])("%s", (_, redirects, headers) => {
    const bytes = (text: string | null) => (text === null ? null : utf8.encode(text));
    expect(fastest(3, () => rulesOf(bytes(redirects), bytes(headers)))).toBeLessThan(250);
  });
});

describe("what is put in is bounded", () => {
  test("ten places a line, and no address of more than 4,096 characters", async () => {
    const site = await deploy({ _redirects: `/r/:a /x?${":a".repeat(11)}\n/s/:a /x?${":a".repeat(10)}` });
    expect(told(site)).toEqual(["invalid_rule _redirects:1"]);
    expect((await ask(site, `/s/${"v".repeat(400)}`)).headers.get("location")).toHaveLength(4003);
    expect((await ask(site, `/s/${"v".repeat(500)}`)).status).toBe(404);
  });

  test("headers stop at 8 KiB while they are filled", async () => {
    const lines = Array.from({ length: 50 }, (_, i) => `  X-${i}: ${":splat".repeat(300)}`);
    const site = await deploy({ _headers: `/*\n${lines.join("\n")}\n  X-Last: 1\n` });
    const path = `/a?${"q".repeat(10)}`;
    const cpu = process.cpuUsage();
    for (let i = 0; i < 5; i++) expect((await ask(site, `${path}${i}`)).headers.get("x-last")).toBe("1");
    const long = await ask(site, `/${"v".repeat(7000)}`);
    expect(long.status).toBe(404);
    expect(process.cpuUsage(cpu).user / 1000).toBeLessThan(500);
  });
});

describe("no type of pages is given to what the abuse scan read as something else", () => {
  test.each([
    "text/html",
    "text/html ;charset=utf-8",
    "TEXT/HTML",
    "x/y, text/html",
    "text/html,",
    "text/xsl",
    "application/xhtml+xml",
    "image/svg+xml",
    "application/atom+xml",
    "multipart/x-mixed-replace; boundary=x",
    "message/rfc822",
    "*/*",
    "text",
    "text/plain, text/html",
  ])("%s", async (type) => {
    const site = await deploy({ _headers: `/notes.txt\n  Content-Type: ${type}` });
    expect(told(site)).toEqual(["header_refused _headers:2"]);
    expect((await ask(site, "/notes.txt")).headers.get("content-type")).toBe("text/plain; charset=utf-8");
  });

  test("nor by what stands in the address, nor by a second line", async () => {
    const site = await deploy({ _headers: "/:a.txt\n  Content-Type: text/:b:a\n/*\n  Content-Type: text/x-:a" });
    const splat = await deploy({ "html.txt": "x", _headers: "/:a.txt\n  Content-Type: text/:a" });
    expect((await ask(splat, "/html.txt")).headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect((await ask(site, "/notes.txt")).headers.get("content-type")).not.toContain("html");
    const two = await deploy({ _headers: "/notes.txt\n  Content-Type: text/x-a\n  Content-Type: text/x-b" });
    expect((await ask(two, "/notes.txt")).headers.get("content-type")).toBe("text/x-b");
  });
});

test.each([
  ["X-Accel-Redirect", "/internal/x"],
  ["X-Sendfile", "/etc/passwd"],
  ["X-LiteSpeed-Location", "/x"],
  ["CDN-Cache-Control", "max-age=9999"],
  ["Cloudflare-CDN-Cache-Control", "max-age=9999"],
  ["Surrogate-Control", "max-age=9999"],
  ["Surrogate-Key", "x"],
  ["Basic-Auth", "me:secret"],
])("what a proxy would obey, and a password, is refused: %s", async (name, value) => {
  const site = await deploy({ _headers: `/*\n  ${name}: ${value}` });
  expect(told(site)).toEqual(["header_refused _headers:2"]);
  expect((await ask(site, "/a")).headers.get(name)).toBeNull();
});

describe("no answer is kept for the wrong visitor", () => {
  const nav = { "sec-fetch-dest": "document" };
  const script = { "sec-fetch-dest": "script" };

  test("a forced rule to another host starts with the claim, where its file was asked for before", async () => {
    const person = await signUp(server);
    const site = await deploy({ _redirects: "/a https://example.org/ 302!" });
    for (let i = 0; i < 3; i++) expect((await ask(site, "/a")).status).toBe(200);
    const body = JSON.stringify({ claim_token: site.claim_token });
    const headers = { ...person.bearer, "content-type": "application/json" };
    expect((await server.api(`/sites/${site.site_id}/claim`, { method: "POST", body, headers })).status).toBe(200);
    expect((await ask(site, "/a")).headers.get("location")).toBe("https://example.org/");
  });

  test.each([
    ["a script first", [script, nav, script, nav]],
    ["a navigation first", [nav, script, nav, script]],
  ])("a forced page for all paths goes to navigations, over files too: %s", async (_, asked) => {
    const site = await deploy({ "app/x": "file", _redirects: "/app/* /a.html 200!" });
    for (const headers of asked) {
      const answer = await ask(site, "/app/x", headers);
      expect(answer.headers.get("vary")).toContain("Sec-Fetch-Dest");
      expect((await answer.text()).includes("alpha")).toBe(headers === nav);
    }
  });

  test("where a page goes to navigations alone, others have another ETag, and redirects a Vary", async () => {
    const site = await deploy({ _redirects: "/d/* /a.html 200\n/d* /data.json 200\n/e/* /a.html 200\n/e* /b 301" });
    const [page, data] = [await ask(site, "/d/x", nav), await ask(site, "/d/x", { "sec-fetch-dest": "empty" })];
    expect(page.headers.get("etag")).not.toBe(data.headers.get("etag"));
    const held = { "sec-fetch-dest": "empty", "if-none-match": page.headers.get("etag")! };
    expect((await ask(site, "/d/x", held)).status).toBe(200);
    const moved = await ask(site, "/e/x", script);
    expect([moved.status, moved.headers.get("vary")]).toEqual([301, "Sec-Fetch-Dest"]);
    expect((await ask(site, "/e/x", nav)).status).toBe(200);
  });

  test("a 304 takes back a kept noindex, whatever is removed", async () => {
    const person = await signUp(server);
    const site = await deploy({ _headers: "/*\n  ! X-Robots-Tag" });
    const { headers } = await ask(site, "/a");
    const body = JSON.stringify({ claim_token: site.claim_token });
    const by = { ...person.bearer, "content-type": "application/json" };
    await server.api(`/sites/${site.site_id}/claim`, { method: "POST", body, headers: by });
    const unchanged = await ask(site, "/a", { "if-none-match": headers.get("etag")! });
    expect([unchanged.status, unchanged.headers.get("x-robots-tag")]).toEqual([304, "all"]);
  });
});

describe("the line for single-page apps is read by one reader", () => {
  test.each<[what: string, rules: string, spa: boolean, told: string[]]>([
    ["as everybody writes it", "/* /index.html 200", true, []],
    ["behind 90 KiB of comments", `${"# comment\n".repeat(9000)}/* /index.html 200`, true, []],
    ["without the first slash", "* /index.html 200", true, ["rule_adjusted _redirects:1"]],
    ["with two slashes", "//* /index.html 200", true, ["rule_adjusted _redirects:1"]],
    ["with a target that has no slash", "/* index.html 200", false, ["invalid_rule _redirects:1"]],
    ["with a condition", "/* /index.html 200 Country=us", false, ["invalid_rule _redirects:1"]],
  ])("%s", async (_, rules, spa, expected) => {
    const site = await deploy({ _redirects: rules });
    expect(told(site)).toEqual(expected);
    expect((await ask(site, "/any/route")).status).toBe(spa ? 200 : 404);
  });
});

describe("lines that can do nothing are told", () => {
  test.each<[what: string, rules: string, told: string[]]>([
    ["a rewrite to a file that is not there", "/x /no 200", ["invalid_rule _redirects:1"]],
    ["a 404 page that is not there", "/x /no.html 404", ["invalid_rule _redirects:1"]],
    ["a folder without its slash", "/x /docs 200", ["invalid_rule _redirects:1"]],
    ["a folder's own redirect before it", "/docs /a 301", ["rule_shadowed _redirects:1"]],
    ["the same path in two encodings", "/caf%C3%A9 /a\n/café /docs/", ["invalid_rule _redirects:2"]],
    ["… of ASCII", "/%78 /a\n/x /docs/", ["invalid_rule _redirects:2"]],
  ])("%s", async (_, rules, expected) => {
    expect(told(await deploy({ _redirects: rules }))).toEqual(expected);
  });

  test("an international host goes out as the wire has it", async () => {
    const person = await signUp(server);
    const site = await deploy({ _redirects: "/i https://münchen.de/x 301" });
    const body = JSON.stringify({ claim_token: site.claim_token });
    const headers = { ...person.bearer, "content-type": "application/json" };
    await server.api(`/sites/${site.site_id}/claim`, { method: "POST", body, headers });
    expect((await ask(site, "/i")).headers.get("location")).toBe("https://xn--mnchen-3ya.de/x");
  });
});
