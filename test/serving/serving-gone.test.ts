/** RELIABILITY 4: sites that are not there, or not any more (H34, H35). */
import { describe, expect, test } from "bun:test";
import { type RawAnswer, rawSite } from "../kit/raw-http.ts";
import { startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

const DAY = 86_400_000;
const PAGE = { "index.html": "<title>Home</title>", "a.css": "a{}", "docs/index.html": "docs" };

const server = await sharedServer("--contact", "abuse@svc.example");
const site = await server.deploy(PAGE);

const get = (slug: string, path = "/", headers: string[] = [], method = "GET"): Promise<RawAnswer> =>
  rawSite(server.port, slug, path, headers, method);
const code = (answer: RawAnswer): string => (JSON.parse(answer.text) as { code: string }).code;

/** What is asked of a dead site besides its page. */
const ASKED: [string, string[]][] = [
  ["/", []],
  ["/a.css", ["Range: bytes=0-1"]],
  ["/comments.json", []],
  ["/docs/index.html.comments.json", []],
  ["/docs", []],
  ["/nowhere", []],
];

describe.each(ASKED)("H34: of a site that is not there, %s", (path, headers) => {
  test("is a 404 unknown_host where the slug was never given", async () => {
    const answer = await get("quiet-river-0000", path, headers);
    expect([answer.status, code(answer), answer.headers.get("cache-control")]).toEqual([
      404,
      "unknown_host",
      "no-store",
    ]);
  });
  test("is a 410 from the very millisecond that the site names, sweep or no sweep (H35), and not one before", async () => {
    const dying = await server.deploy(PAGE);
    const [tag] = [(await get(dying.slug)).headers.get("etag")];
    const expires_at = Date.now() + DAY;
    server.expire(dying, expires_at);
    expect((await get(dying.slug)).status).toBe(200);
    server.expire(dying);
    const answer = await get(dying.slug, path, [...headers, `If-None-Match: ${tag}`, "If-None-Match: *"]);
    expect([answer.status, code(answer), answer.headers.get("cache-control")]).toEqual([
      410,
      "site_expired",
      "no-store",
    ]);
  });
  test("is a 451 with the reason and who blocks it where an operator disabled the site", async () => {
    const bad = await server.deploy(PAGE);
    expect((await get(bad.slug)).status).toBe(200);
    server.disable(bad, "phishing <b>");
    const answer = await get(bad.slug, path, [...headers, "If-None-Match: *"]);
    expect([answer.status, code(answer), answer.headers.get("cache-control")]).toEqual([
      451,
      "site_disabled",
      "no-store",
    ]);
    expect(answer.headers.get("link")).toBe(`<${server.base_url}>; rel="blocked-by"`);
    expect(JSON.parse(answer.text)).toMatchObject({ reason: "phishing <b>", appeal: "abuse@svc.example" });
    server.enable(bad);
    expect((await get(bad.slug)).status).toBe(200);
  });
  test("is a 404 where the site was deleted", async () => {
    const gone = await server.deploy(PAGE);
    expect((await get(gone.slug)).status).toBe(200);
    server.remove(gone);
    const answer = await get(gone.slug, path, [...headers, "If-None-Match: *"]);
    expect([answer.status, code(answer), answer.headers.get("cache-control")]).toEqual([
      404,
      "unknown_host",
      "no-store",
    ]);
  });
});

test("a browser reads on which day the site ended, before the sweep and after, and a way to make one's own", async () => {
  await using own = await startServer();
  const dying = await own.deploy(PAGE);
  const day = (ms: number) =>
    new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", timeZone: "UTC" }).format(ms);
  const read = async (slug: string) => rawSite(own.port, slug, "/", ["Accept: text/html"]);
  const button = `<a class="button" href="${own.base_url}">Publish a site here</a>`;
  const ended_at = own.now();
  own.expire(dying, ended_at);
  own.advance(3 * DAY);
  for (const swept of [false, true]) {
    if (swept) await own.running.store.sweep(own.now());
    const { status, text } = await read(dying.slug);
    expect([swept, status]).toEqual([swept, 410]);
    expect(text).toMatch(new RegExp(`published without an account and ended on ${day(ended_at)}( \\d{4})?\\.`));
    expect(text).toContain(button);
  }
  const nobody = await read("nobody-here-0000");
  expect([nobody.status, nobody.text.includes(button), nobody.text.includes("svc &lt;")]).toEqual([404, true, false]);
  const there = await own.deploy(PAGE);
  expect((await rawSite(own.port, there.slug, "/nowhere", ["Accept: text/html"])).text).not.toContain(button);
});

test("H34: a browser reads why, and whom to ask; what an operator wrote is text", async () => {
  const bad = await server.deploy(PAGE);
  server.disable(bad, "phishing <b>");
  const answer = await get(bad.slug, "/", ["Accept: text/html"]);
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(answer.text).toContain("phishing &lt;b&gt;");
  expect(answer.text).toContain('href="mailto:abuse@svc.example"');
});

test("nobody refused what is gone or was never there: no page of it offers an appeal", async () => {
  const dying = await server.deploy(PAGE);
  server.expire(dying);
  for (const [slug, path, status] of [
    [dying.slug, "/", 410],
    [dying.slug, "/docs", 410],
    ["quiet-river-0000", "/", 404],
    [site.slug, "/nowhere", 404],
  ] as const) {
    const { status: is, text } = await get(slug, path, ["Accept: text/html"]);
    expect([is, /appeal|abuse@svc\.example/.test(text)]).toEqual([status, false]);
  }
});

test("H35: one millisecond before its end a site is there, at it it is not, by the clock alone", async () => {
  await using moving = await startServer("--gc-interval", "1h");
  const { slug, expires_at } = await moving.deploy(PAGE);
  const status = async () => (await moving.site(slug)).status;
  moving.advance(expires_at! - moving.now() - 60_000);
  expect(await status()).toBe(200);
  moving.advance(60_000);
  expect(await status()).toBe(410);
});

test("a swept site is a 410 for good", async () => {
  const dying = await server.deploy(PAGE);
  server.remove(dying, "expired");
  expect((await get(dying.slug)).status).toBe(410);
  expect((await get(`${dying.version_id}--${dying.slug}`)).status).toBe(410);
});

test("a frozen site is served", async () => {
  const frozen = await server.deploy(PAGE);
  server.freeze(frozen);
  expect((await get(frozen.slug)).status).toBe(200);
});
