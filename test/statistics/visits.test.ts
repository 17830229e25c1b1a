/** BEYOND 11: which answers count as a view, a miss or a bot's, and under which names. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { bearer } from "../kit/people.ts";
import { sharedServer } from "../kit/shared.ts";
import { FIREFOX, NAVIGATION, statistics, visit } from "./visiting.ts";

setDefaultTimeout(60_000);
const server = await sharedServer();

const FILES = {
  "index.html": "<!doctype html><title>Home</title><link rel=stylesheet href=a.css>",
  "about.html": "<!doctype html><title>About</title>",
  "docs/index.html": "<!doctype html><title>Docs</title>",
  "a.css": "p{}",
  "photo.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
  _redirects: "/old /about 301\n/shown /about 200\n/lost /about 404\n",
};
const NOTHING = { views: 0, visitors: 0, bots: 0, misses: 0 };
const VIEW = { ...NOTHING, views: 1, visitors: 1 };
const MISS = { ...NOTHING, misses: 1 };
const BOT = { ...NOTHING, bots: 1 };

const without = (name: keyof typeof NAVIGATION) =>
  Object.fromEntries(Object.entries(NAVIGATION).filter(([key]) => key !== name));
const NO_DEST = without("sec-fetch-dest");
const agent = (text: string) => ({ ...NAVIGATION, "user-agent": text });

/** Asked three times: the second answer and those after it come by another way, which counts alike (serve/shortcuts.ts). */
async function counted(
  path: string,
  headers: Readonly<Record<string, string>>,
  method = "GET",
  host = (slug: string) => slug,
) {
  const site = await server.deploy(FILES);
  const status = await visit(server, host(site.slug), path, headers, method);
  const once = (await statistics(server, site)).totals;
  for (let i = 0; i < 2; i++) expect(await visit(server, host(site.slug), path, headers, method)).toBe(status);
  const { totals } = await statistics(server, site);
  expect([totals.views, totals.bots, totals.misses]).toEqual([3 * once.views, 3 * once.bots, 3 * once.misses]);
  expect(totals.visitors).toBe(once.visitors); // one and the same
  return { status, totals: once };
}

describe("BEYOND 11: a request counts as", () => {
  test.each([
    ["the start page", "/", NAVIGATION, 200, VIEW],
    ["a page with a query", "/about?a=1", NAVIGATION, 200, VIEW],
    ["a page that a rule shows", "/shown", NAVIGATION, 200, VIEW],
    ["a browser that does not say what it asks for, and takes HTML", "/", NO_DEST, 200, VIEW],
    ["a path that no file has", "/none", NAVIGATION, 404, MISS],
    ["one of a browser that does not say what it asks for", "/none", NO_DEST, 404, MISS],
    ["a path that a rule makes a 404", "/lost", NAVIGATION, 404, MISS],
    ["a stylesheet", "/a.css", { ...NAVIGATION, "sec-fetch-dest": "style" }, 200, NOTHING],
    ["a picture that a browser opens as a page", "/photo.svg", NAVIGATION, 200, NOTHING],
    ["a script that is missing", "/none.js", { ...NAVIGATION, "sec-fetch-dest": "script" }, 404, NOTHING],
    ["a page in a frame", "/", { ...NAVIGATION, "sec-fetch-dest": "iframe" }, 200, NOTHING],
    ["a page that a script fetches", "/", { ...NAVIGATION, "sec-fetch-dest": "empty" }, 200, NOTHING],
    ["a program that takes anything", "/", { "user-agent": FIREFOX, accept: "*/*" }, 200, NOTHING],
    ["a redirect by a rule", "/old", NAVIGATION, 301, NOTHING],
    ["a folder without its slash", "/docs", NAVIGATION, 308, NOTHING],
    ["a prefetch", "/", { ...NAVIGATION, "sec-purpose": "prefetch" }, 200, NOTHING],
    ["a prerendered page", "/", { ...NAVIGATION, "sec-purpose": "prefetch;prerender" }, 200, NOTHING],
    ["an older browser's prefetch", "/", { ...NAVIGATION, purpose: "prefetch" }, 200, NOTHING],
    ["a part of a picture", "/photo.svg", { ...NAVIGATION, range: "bytes=0-3" }, 206, NOTHING],
    ["what If-Match refuses", "/", { ...NAVIGATION, "if-match": '"x"' }, 412, NOTHING],
    ["a path that cannot be read", "/..%2f", NAVIGATION, 400, NOTHING],
    ["a path of the service", "/_svc/none", NAVIGATION, 404, NOTHING],
    ["a feed of comments", "/none.comments.json", NAVIGATION, 404, NOTHING],
    ["a client without a name", "/", without("user-agent"), 200, BOT],
    ["a bot at a missing page", "/none", agent("Googlebot/2.1"), 404, BOT],
    [
      "a view without a hash, where Global Privacy Control asks for it",
      "/",
      { ...NAVIGATION, "sec-gpc": "1" },
      200,
      { ...VIEW, visitors: 0 },
    ],
    ["the same with Do Not Track", "/", { ...NAVIGATION, dnt: "1" }, 200, { ...VIEW, visitors: 0 }],
    ["a view where neither asks for anything", "/", { ...NAVIGATION, "sec-gpc": "0", dnt: "0" }, 200, VIEW],
  ] as const)("%s", async (_, path, headers, status, totals) => {
    expect(await counted(path, headers)).toEqual({ status, totals });
  });

  test.each([
    ..."bot crawl spider slurp headless preview monitor curl wget python java/ go-http okhttp axios node +http".split(
      " ",
    ),
    "Mozilla/5.0 (compatible; BingBOT/2.0)",
    "HeadlessChrome/120",
  ])("a bot: %s", async (name) => {
    expect((await counted("/", agent(`X/1 ${name} 1`))).totals).toEqual(BOT);
  });

  test.each(["javax", "goo-http", FIREFOX, "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Safari/604.1"])(
    "a person's: %s",
    async (name) => expect((await counted("/", agent(name))).totals).toEqual(VIEW),
  );

  test("a 304: the page was shown again", async () => {
    const site = await server.deploy(FILES);
    const etag = (await server.site(site.slug)).headers.get("etag")!;
    for (let i = 0; i < 3; i++)
      expect(await visit(server, site.slug, "/", { ...NAVIGATION, "if-none-match": etag })).toBe(304);
    expect((await statistics(server, site)).totals).toEqual({ ...VIEW, views: 3 });
  });

  test("HEAD, and other methods: nothing", async () => {
    expect((await counted("/", NAVIGATION, "HEAD")).totals).toEqual(NOTHING);
    expect((await counted("/none", NAVIGATION, "HEAD")).totals).toEqual(NOTHING);
    expect((await counted("/", NAVIGATION, "POST")).totals).toEqual(NOTHING);
  });

  test("what a version's or a preview's host shows: nothing", async () => {
    const site = await server.deploy(FILES);
    const headers = { "content-type": "application/zip", ...bearer(site.manage_token) };
    const zip = (await import("../kit/zip.ts")).zipOf({ "index.html": "<!doctype html>preview" });
    const made = await server.api(`/sites/${site.site_id}/previews?name=try`, { method: "POST", body: zip, headers });
    expect(made.status).toBe(200);
    for (const label of [site.version_id, "try"]) {
      for (const path of ["/", "/", "/none"]) await visit(server, `${label}--${site.slug}`, path);
    }
    expect((await statistics(server, site)).totals).toEqual(NOTHING);
  });

  test("a former name's redirect: nothing; the page at the new one: a view", async () => {
    const site = await server.deploy(FILES);
    const { store } = server.running;
    await store.names.rename({
      site_id: site.site_id,
      slug: `renamed-${site.slug.slice(0, 8).replace(/-$/, "")}x`,
      by: "operator",
    });
    expect(await visit(server, site.slug)).toBe(308);
    expect((await statistics(server, site)).totals).toEqual(NOTHING);
  });

  test("a site that wants a password: views of those who were let in, and nothing of the others", async () => {
    const site = await server.deploy(FILES);
    const body = JSON.stringify({ password: "correct horse" });
    const headers = { "content-type": "application/json", ...bearer(site.manage_token) };
    expect((await server.api(`/sites/${site.site_id}/access`, { method: "PUT", body, headers })).status).toBe(200);
    expect(await visit(server, site.slug)).toBe(401);
    const authorization = `Basic ${btoa("x:correct horse")}`;
    expect(await visit(server, site.slug, "/", { ...NAVIGATION, authorization })).toBe(200);
    expect(await visit(server, site.slug, "/none", { ...NAVIGATION, authorization })).toBe(404);
    expect((await statistics(server, site)).totals).toEqual({ ...VIEW, misses: 1 });
  });

  test("frozen and quarantined sites count, for they are shown; a disabled one does not", async () => {
    const site = await server.deploy(FILES);
    server.freeze(site);
    expect(await visit(server, site.slug)).toBe(200);
    server.quarantine(site);
    expect(await visit(server, site.slug)).toBe(200);
    server.disable(site, "x");
    expect(await visit(server, site.slug)).toBe(451);
    server.enable(site);
    expect((await statistics(server, site)).totals).toEqual({ ...VIEW, views: 2 });
  });

  test("unknown paths of a single-page app: views at those paths", async () => {
    const site = await server.deploy(FILES, "?spa=on");
    for (let i = 0; i < 2; i++) expect(await visit(server, site.slug, "/users/7")).toBe(200);
    const { totals, paths } = await statistics(server, site);
    expect([totals, paths]).toEqual([{ ...VIEW, views: 2 }, [{ path: "/users/7", views: 2 }]]);
  });
});

describe("BEYOND 11: names", () => {
  test("paths are decoded, without a query, in normal form and cut at 256 characters; most views first, then by name", async () => {
    const site = await server.deploy(FILES, "?spa=on");
    const long = `/${"l".repeat(400)}`;
    for (const path of ["/b", "/a", "/caf%C3%A9?x=1", "/cafe%CC%81", "/b?c=d", long])
      await visit(server, site.slug, path);
    expect((await statistics(server, site)).paths).toEqual([
      { path: "/b", views: 2 },
      { path: "/café", views: 2 },
      { path: "/a", views: 1 },
      { path: long.slice(0, 256), views: 1 },
    ]);
  });

  test.each([
    ["https://news.example/item?id=1", "news.example"],
    ["https://NEWS.Example", "news.example"],
    ["http://user:secret@news.example/", "news.example"],
    ["http://localhost:3000/x", "localhost:3000"],
    ["https://[2001:db8::1]/x", "[2001:db8::1]"],
    ["android-app://com.example", null],
    ["about:blank", null],
    ["https://", null],
    ["https://evil\u{80}host/", null],
    ["javascript:alert(1)//https://x.example/", null],
    [`https://${"a".repeat(300)}.example/`, null],
  ])("the referrer %j is %j", async (referer, host) => {
    const site = await server.deploy(FILES);
    await visit(server, site.slug, "/", { ...NAVIGATION, referer });
    expect((await statistics(server, site)).referrers).toEqual(host === null ? [] : [{ host, views: 1 }]);
  });

  test("a referrer that is a host of the site itself is none, and makes a miss an internal one", async () => {
    const site = await server.deploy(FILES);
    const own = `${site.slug}.localhost:${server.port}`;
    for (const host of [own, `${site.version_id}--${own}`]) {
      await visit(server, site.slug, "/", { ...NAVIGATION, referer: `http://${host}/about` });
      await visit(server, site.slug, "/none", { ...NAVIGATION, referer: `http://${host}/about` });
    }
    await visit(server, site.slug, "/none", { ...NAVIGATION, referer: "https://news.example/" });
    const { referrers, misses } = await statistics(server, site);
    expect([referrers, misses]).toEqual([[], [{ path: "/none", hits: 3, internal: 2, rule: null }]]);
  });
});

describe("BEYOND 11: the rule of a broken link", () => {
  const LINKED = {
    "index.html": "<!doctype html><title>Home</title>",
    "pricing.html": "<!doctype html><title>Pricing</title>",
    "docs/index.html": "<!doctype html><title>Docs</title>",
    "docs/set up*.html": "<!doctype html><title>Set up</title>",
    "guide.pdf": "%PDF-1.4",
    "404.html": "<!doctype html><title>Gone</title>",
  };
  test.each([
    ["/pricng", "/pricng /pricing 301"],
    ["/pricing.htm", null],
    ["/prices.html", "/prices.html /pricing.html 301"],
    ["/Pricing", "/Pricing /pricing 301"],
    ["/docz/", "/docz/ /docs/ 301"],
    ["/docz", "/docz /docs/ 301"],
    ["/docs/set%20upp*", "/docs/set%20upp%2A /docs/set%20up%2A 301"],
    ["/giude.pdf", "/giude.pdf /guide.pdf 301"],
    ["/guide.txt", null],
    ["/405.html", null],
    ["/x", null],
    ["/pricing/old/plan", null],
    ["/nothing-like-it", null],
  ])("of %s is %j", async (missed, rule) => {
    const site = await server.deploy(LINKED);
    expect(await visit(server, site.slug, missed)).toBe(404);
    expect((await statistics(server, site)).misses[0]!.rule).toBe(rule);
    if (rule === null) return;
    const mended = await server.redeploy(site, { ...LINKED, _redirects: `${rule}\n` });
    expect(mended.warnings.filter(({ path }) => path?.startsWith("_redirects"))).toEqual([]);
    const headers = { host: `${site.slug}.localhost:${server.port}` };
    const answer = await fetch(`http://127.0.0.1:${server.port}${missed}`, { headers, redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([301, rule.split(" ")[1]!]);
  });
});

describe("BEYOND 11: GET /sites/:id/stats", () => {
  test("has every day, oldest first, and the sums", async () => {
    const site = await server.deploy(FILES);
    const today = new Date(server.now()).toISOString().slice(0, 10);
    await visit(server, site.slug);
    const told = await statistics(server, site, "days=3");
    expect(told.days.map(({ views }) => views)).toEqual([0, 0, 1]);
    expect(told).toMatchObject({
      site_id: site.site_id,
      from: told.days[0]!.date,
      to: today,
      enabled: true,
      visitors_are: "sum_of_days",
    });
    expect((await statistics(server, site, "")).days).toHaveLength(30);
    expect((await statistics(server, site, "days=400")).days).toHaveLength(400);
    expect((await statistics(server, site, `from=2026-01-01&to=2026-01-31`)).totals).toEqual(NOTHING);
    expect((await statistics(server, site, `from=${today}&to=${today}`)).totals).toEqual(VIEW);
  });

  test.each([
    "days=0",
    "days=401",
    "days=x",
    "days=",
    "days=-1",
    "days=1.5",
    "from=2026-01-01",
    "to=2026-01-01",
    "from=2026-02-30&to=2026-03-01",
    "from=2026-1-1&to=2026-01-02",
    "from=2026-01-02&to=2026-01-01",
    "from=2025-01-01&to=2026-11-28",
    "days=3&from=2026-01-01&to=2026-01-02",
  ])("?%s is 400", async (query) => {
    const site = await server.deploy(FILES);
    const answer = await server.api(`/sites/${site.site_id}/stats?${query}`, { headers: bearer(site.manage_token) });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([400, "invalid_input"]);
  });

  test("is kept by no cache", async () => {
    const site = await server.deploy(FILES);
    const answer = await server.api(`/sites/${site.site_id}/stats`, { headers: bearer(site.manage_token) });
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });
});
