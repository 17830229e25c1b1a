/** BEYOND 13: what the API answers of sites and of itself is what its description says, with no member more or less. Each call is asked
 *  with success, and with most of what refuses it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startDnsServer } from "../kit/dns-server.ts";
import { bearer, type Person, signUp } from "../kit/people.ts";
import { type DeployResult, NOBODYS_ID, startServer, ZIP } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";
import { HeldServer, startHeld } from "./held.ts";

const PAGE = { "index.html": "<!doctype html><title>One</title><img src=logo.png>" };
const page = (text: string) => zipOf({ "index.html": `<!doctype html><title>${text}</title>${text}` });

let held: HeldServer;
let ann: Person;
let bob: Person;
let site: DeployResult;
let own: DeployResult;
const M = () => bearer(site.manage_token);
const at = (path: string, { site_id } = site) => `/sites/${site_id}${path}`;

beforeAll(async () => {
  held = await startHeld();
  [ann, bob] = [await signUp(held.server), await signUp(held.server)];
  site = (await held.ask("POST", "/sites", 200, { body: zipOf(PAGE), headers: ZIP })).body;
  own = (await held.ask("POST", "/sites", 200, { body: page("own"), headers: { ...ZIP, ...ann.bearer } })).body;
});
afterAll(() => held.server[Symbol.asyncDispose]());

describe("what the server says of itself", () => {
  test.each([["/healthz"], ["/limits"], ["/openapi.json"]])("GET %s", async (path) => {
    await held.ask("GET", path, 200);
    await held.ask("HEAD", path, 200);
  });
  test("GET /openapi.json again: 304", async () => {
    const { headers } = await held.ask("GET", "/openapi.json", 200);
    await held.ask("GET", "/openapi.json", 304, { headers: { "if-none-match": headers.get("etag")! } });
  });
});

describe("BEYOND 0 and 5: settings and explanations", () => {
  test("settings, read and changed", async () => {
    const path = at("/settings");
    await held.ask("GET", path, 200, { headers: M() });
    await held.ask("PATCH", path, 200, { body: { skew: false, stats: true }, headers: M() });
    await held.ask("PATCH", path, 400, { body: { skew: "no" }, headers: M(), code: "invalid_input" });
    const owned = { body: { skew: false }, headers: bearer(own.manage_token), code: "unauthorized" };
    await held.ask("PATCH", at("/settings", own), 401, owned);
  });

  test("statistics, of a visit and a broken link", async () => {
    await using server = await startServer();
    const other = new HeldServer(server, held.contract);
    const told = (await other.ask("POST", "/sites", 200, { body: zipOf(PAGE), headers: ZIP })).body;
    const headers = bearer(told.manage_token);
    for (const path of ["/", "/indx.html"]) {
      const from = { "user-agent": "Mozilla/5.0", "sec-fetch-dest": "document", referer: "https://news.example/" };
      await server.site(told.slug, path, { headers: from });
    }
    await other.ask("GET", `${at("/stats", told)}?days=2`, 200, { headers });
    await held.ask("GET", at("/stats"), 200, { headers: M() });
    await held.ask("GET", `${at("/stats")}?days=401`, 400, { headers: M(), code: "invalid_input" });
  });

  test("an address of each kind, and what is none", async () => {
    const rules = "/old /new 301\n/gone /no.html 404\n/app/* /index.html 200\n/two.html /one 302!\n";
    const files = { ...PAGE, "404.html": "gone", _redirects: rules, _headers: "/*\n  X-Mine: 1\n  Set-Cookie: a=1\n" };
    const small = await held.server.deploy({ "index.html": "x" });
    await using server = await startServer();
    const other = new HeldServer(server, held.contract);
    const told = (await other.ask("POST", "/sites", 200, { body: zipOf(files), headers: ZIP })).body;
    const headers = bearer(told.manage_token);
    const asked = (url: string) => `${at("/explain", told)}?url=${encodeURIComponent(url)}`;
    const by = new Set<string>();
    for (const url of ["/", "/old", "/two.html", "/app/x", "/none", "/_svc/c.js", "/..%2f", "/comments.json", "/404"]) {
      by.add((await other.ask("GET", asked(url), 200, { headers })).body.by);
      by.add((await other.ask("GET", `${asked(url)}&method=HEAD&accept_encoding=br`, 200, { headers })).body.by);
    }
    expect([...by].toSorted()).toEqual(["clean_url", "feed", "index", "invalid_path", "page_404", "reserved", "rule"]);
    server.disable(told, "phishing");
    expect((await other.ask("GET", asked("/"), 200, { headers })).body.by).toBe("state");
    await held.ask("GET", `${at("/explain", small)}?url=/none`, 200, { headers: bearer(small.manage_token) });
    for (const query of ["", "?url=", "?url=https://example.org/", "?url=/&method=POST"]) {
      const sent = { headers: bearer(small.manage_token), code: "invalid_input" };
      await held.ask("GET", `${at("/explain", small)}${query}`, 400, sent);
    }
  });
});

describe("CONTRACT 4.4: sites", () => {
  test("GET /sites/:id, whole and in pages", async () => {
    await held.ask("GET", at(""), 200, { headers: M() });
    await held.ask("GET", at("?limit=1", own), 200, { headers: ann.bearer });
    await held.ask("GET", at("?limit=0"), 400, { headers: M(), code: "invalid_input" });
    await held.ask("GET", at(`?before=${site.version_id}`), 200, { headers: M() });
    await held.ask("GET", at("?before=x"), 404, { headers: M(), code: "unknown_version" });
    await held.ask("GET", at(""), 401, { code: "unauthorized" });
  });

  test("POST /sites/:id/rollback", async () => {
    const { body } = await held.ask("POST", at("/deploys"), 200, { body: page("newer"), headers: { ...ZIP, ...M() } });
    expect(body.version_id).not.toBe(site.version_id);
    const sent = { body: { version_id: site.version_id }, headers: M() };
    await held.ask("POST", at("/rollback"), 200, sent);
    await held.ask("POST", at("/rollback"), 404, { ...sent, body: { version_id: "none" }, code: "unknown_version" });
    await held.ask("POST", at("/rollback"), 400, { ...sent, body: {}, code: "invalid_input" });
    await held.ask("POST", at("/rollback"), 400, { ...sent, body: "[", code: "invalid_json" });
    await held.ask("POST", at("/rollback"), 413, { ...sent, body: "x".repeat(70_000), code: "body_too_large" });
  });

  test("a screenshot where no engine is on: 404", async () => {
    const path = at(`/screenshots/${site.version_id}`);
    await held.ask("GET", path, 404, { headers: M(), code: "not_found" });
    await held.ask("GET", `${path}?size=tv`, 400, { headers: M(), code: "invalid_input" });
    await held.ask("GET", at("/screenshots/x"), 404, { headers: M(), code: "unknown_version" });
  });

  test("claims", async () => {
    const { claim_token } = site;
    const claim = { body: { claim_token, revoke_manage_tokens: false }, headers: ann.bearer };
    await held.ask("POST", at("/claim"), 401, { ...claim, body: { claim_token: "x" }, code: "invalid_claim" });
    const look = { body: { claim_token } };
    await held.ask("POST", at("/claim?look=1"), 200, look);
    await held.ask("POST", at("/claim?look=1"), 401, { body: { claim_token: "x" }, code: "invalid_claim" });
    await held.ask("POST", at("/claim"), 401, { ...look, code: "unauthorized" });
    await held.ask("POST", at("/claim"), 200, claim);
    await held.ask("POST", at("/claim?look=1"), 409, { ...look, code: "already_owned" });
    await held.ask("POST", at("/claim"), 409, { ...claim, headers: bob.bearer, code: "already_owned" });
    await held.ask("DELETE", at("/manage-tokens"), 403, { headers: bob.bearer, code: "forbidden" });
    await held.ask("DELETE", at("/manage-tokens"), 200, { headers: ann.bearer });
  });
});

test("BEYOND 17: a site's name, given and refused", async () => {
  const path = at("/slug", own);
  const put = (slug: unknown, status: number, code?: string) =>
    held.ask("PUT", path, status, { body: { slug }, headers: ann.bearer, ...(code !== undefined && { code }) });
  await put("a-name-of-its-own", 200);
  await put("www", 400, "invalid_slug");
  await put(7, 400, "invalid_input");
  await held.ask("PUT", at("/slug", site), 401, { body: { slug: "x-y-z" }, headers: M(), code: "unauthorized" });
  const other = (await held.ask("POST", "/sites", 200, { body: page("bob's"), headers: { ...ZIP, ...bob.bearer } }))
    .body;
  const taken = { body: { slug: "a-name-of-its-own" }, headers: bob.bearer, code: "slug_taken" };
  await held.ask("PUT", at("/slug", other), 409, taken);
  await held.ask("PUT", path, 403, { body: { slug: "x-y-z" }, headers: bob.bearer, code: "forbidden" });
  const old = `${at("/explain", own)}?url=${encodeURIComponent(String(own.url))}`;
  expect((await held.ask("GET", old, 200, { headers: ann.bearer })).body.by).toBe("former_name");
});

test("BEYOND 10: domains, added, proved, changed, removed and refused", async () => {
  await using dns = await startDnsServer();
  const domained = await startHeld({ SVC_DNS: dns.address });
  await using _ = domained.server;
  const cat = await signUp(domained.server);
  const headers = cat.bearer;
  const deploy = async (name: string, as: Record<string, string>) =>
    (await domained.ask("POST", "/sites", 200, { body: page(name), headers: { ...ZIP, ...as } })).body;
  const [mine, free] = [await deploy("mine", headers), await deploy("free", {})];
  const path = at("/domains", mine);
  const added = { body: { domain: "www.example.org" }, headers };
  const { records } = (await domained.ask("POST", path, 201, added)).body;
  await domained.ask("POST", path, 200, added);
  await domained.ask("POST", path, 400, { body: { domain: "localhost" }, headers, code: "invalid_domain" });
  await domained.ask("GET", path, 200, { headers });
  await domained.ask("GET", at("/domains", free), 403, { headers: bearer(free.manage_token), code: "owner_required" });
  const one = `${path}/www.example.org`;
  await domained.ask("POST", `${one}/verify`, 409, { headers, code: "domain_unproved" });
  await domained.ask("PATCH", one, 409, { body: { primary: true }, headers, code: "domain_unproved" });
  dns.set(records[0].name, "TXT", [records[0].value]);
  await domained.ask("POST", `${one}/verify`, 200, { headers });
  const other = await deploy("other", headers);
  await domained.ask("POST", at("/domains", other), 201, added);
  const theirs = at("/domains/www.example.org/verify", other);
  await domained.ask("POST", theirs, 409, { headers, code: "domain_taken" });
  await domained.ask("PATCH", one, 400, { body: {}, headers, code: "invalid_input" });
  await domained.ask("PATCH", one, 200, { body: { primary: true }, headers });
  await domained.ask("GET", "/account/domains", 200, { headers });
  await domained.ask("DELETE", one, 200, { headers });
  await domained.ask("DELETE", one, 404, { headers, code: "not_found" });
  for (const done of domained.answered) held.answered.add(done);
});

test("BEYOND 8: a site's password, set, read, removed and refused", async () => {
  const path = at("/access", own);
  const put = { body: { password: "open sesame" }, headers: ann.bearer };
  await held.ask("GET", path, 200, { headers: ann.bearer });
  await held.ask("PUT", path, 200, put);
  await held.ask("PUT", path, 400, { ...put, body: { password: "short" }, code: "invalid_input" });
  await held.ask("PUT", path, 403, { ...put, headers: bob.bearer, code: "forbidden" });
  await held.ask("PUT", path, 401, { ...put, headers: bearer(own.manage_token), code: "unauthorized" });
  await held.ask("GET", path, 200, { headers: ann.bearer });
  await held.ask("DELETE", path, 403, { headers: bob.bearer, code: "forbidden" });
  await held.ask("DELETE", path, 200, { headers: ann.bearer });
});

test("BEYOND 15: the receipt of a first version, and of one that changed something and broke something", async () => {
  const headers = bearer(own.manage_token);
  await held.ask("GET", at(`/versions/${own.version_id}/receipt`, own), 200, { headers });
  const { version_id } = await held.server.redeploy(own, { "index.html": "<a href=gone.html>x</a>", "b.txt": "b" });
  const { body } = await held.ask("GET", at(`/versions/${version_id}/receipt`, own), 200, { headers });
  expect(body).toMatchObject({ live: true, changes: { added: 1, changed: 1 } });
  await held.server.rollback(own, own.version_id);
  await held.ask("GET", at(`/versions/${"0".repeat(16)}/receipt`, own), 404, { headers, code: "unknown_version" });
});

test("BEYOND 9: a version that is taken away: its files, its zip, how it differs", async () => {
  const headers = bearer(own.manage_token);
  const none = { headers, code: "unknown_version" } as const;
  await held.ask("GET", at("/versions/live/files", own), 200, { headers });
  await held.ask("GET", at(`/versions/${own.version_id}/zip`, own), 200, { headers });
  await held.ask("GET", at("/diff?from=live&to=live", own), 200, { headers });
  for (const what of ["/versions/0/files", "/versions/0/zip", "/diff?from=0"])
    await held.ask("GET", at(what, own), 404, none);
});

test("BEYOND 9: a version that is deleted, one that cannot be, and those that are withheld", async () => {
  const { version_id } = own;
  const gone = at(`/versions/${version_id}`, own);
  await held.ask("DELETE", gone, 409, { headers: ann.bearer, code: "version_live" });
  await held.ask("DELETE", gone, 401, { headers: bearer(own.manage_token), code: "unauthorized" });
  await held.ask("DELETE", gone, 403, { headers: bob.bearer, code: "forbidden" });
  await held.server.redeploy(own, {
    "index.html": `const key = "${["sk", "live"].join("_")}_4eC39HqLyjWDarjtT1zdp7dc"`,
  });
  await held.server.redeploy(own, { "index.html": "nothing to see" });
  const { body } = await held.ask("GET", at("/withheld", own), 200, { headers: bearer(own.manage_token) });
  expect(body.withheld).toHaveLength(1);
  await held.ask("DELETE", gone, 200, { headers: ann.bearer });
  await held.ask("DELETE", gone, 404, { headers: ann.bearer, code: "unknown_version" });
});

test("every call was asked with success; a picture needs a browser (test/render), previews are with uploads", () => {
  expect(held.unasked("Server", "Sites")).toEqual(["listPreviews", "endPreview", "readScreenshot"]);
});
