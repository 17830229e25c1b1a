/** RELIABILITY A10: hosted pages are siblings of the dashboard, so its cookie alone writes nothing. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type BrowserSession, call, type Person, signInByForm, signUp } from "../kit/people.ts";
import { type DeployResult, startServer, type TestServer } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const BASE = "https://svc.test";
let server: TestServer;
let plain: TestServer;
let ann: Person;
let browser: BrowserSession;
let site: DeployResult;
beforeAll(async () => {
  plain = await startServer();
  server = plain;
  ann = await signUp(server);
  browser = await signInByForm(server, ann);
  site = (await (await server.post(zipOf({ "index.html": "ann's" }), ann.bearer)).json()) as DeployResult;
});
afterAll(() => plain[Symbol.asyncDispose]());

/** What a browser sends of itself with a fetch of our own page. */
const own = (): Record<string, string> => ({
  host: new URL(server.base_url).host,
  cookie: browser.cookie,
  origin: server.base_url,
  "sec-fetch-site": "same-origin",
  "content-type": "application/json",
});
const without = (...names: string[]) =>
  Object.fromEntries(Object.entries(own()).filter(([name]) => !names.includes(name)));
const label = async () =>
  (await call(server, "GET", `/sites/${site.site_id}`, undefined, ann.bearer)).body.label as string | null;

interface Write {
  method: string;
  path: () => string;
  body: unknown;
}
const writes: [string, Write][] = [
  ["PATCH", { method: "PATCH", path: () => `/account/sites/${site.site_id}`, body: { label: "forged" } }],
  ["DELETE", { method: "DELETE", path: () => `/account/sites/${site.site_id}`, body: {} }],
  ["DELETE /account", { method: "DELETE", path: () => "/account", body: {} }],
  ["bulk-delete", { method: "POST", path: () => "/account/sites/bulk-delete", body: { site_ids: ["x"] } }],
  ["bulk-attach", { method: "POST", path: () => "/account/bulk-attach", body: { sites: [{}] } }],
  ["claim", { method: "POST", path: () => `/sites/${site.site_id}/claim`, body: { claim_token: "x" } }],
  ["rollback", { method: "POST", path: () => `/sites/${site.site_id}/rollback`, body: { version_id: "x" } }],
  ["redeploy", { method: "POST", path: () => `/sites/${site.site_id}/deploys`, body: {} }],
  ["deploy", { method: "POST", path: () => "/sites", body: {} }],
  ["the password", { method: "POST", path: () => "/account/password", body: {} }],
  ["logout", { method: "POST", path: () => "/auth/logout", body: {} }],
  ["the device click", { method: "POST", path: () => "/device", body: {} }],
  ["the claim click", { method: "POST", path: () => `/claim/${site.site_id}`, body: {} }],
];

const send = ({ method, path, body }: Write, headers: Record<string, string>) =>
  server.api(path(), { method, headers, body: JSON.stringify(body) });

/** Every way a page of another origin could come, with a true token stolen or without. */
const forgeries: [string, () => Record<string, string>][] = [
  ["no token", own],
  ["an empty token", () => ({ ...own(), "svc-csrf": "" })],
  ["a wrong token", () => ({ ...own(), "svc-csrf": "x".repeat(86) })],
  ["a cut token", () => ({ ...own(), "svc-csrf": browser.csrf.slice(0, -2) })],
  ["a token of 8 KB", () => ({ ...own(), "svc-csrf": browser.csrf + "x".repeat(8000) })],
  ["no Origin", () => ({ ...without("origin"), "svc-csrf": browser.csrf })],
  ["Origin null", () => ({ ...own(), origin: "null", "svc-csrf": browser.csrf })],
  ["a sibling's Origin", () => ({ ...own(), origin: site.url, "svc-csrf": browser.csrf })],
  ["the Origin's other port", () => ({ ...own(), origin: "http://localhost:1", "svc-csrf": browser.csrf })],
  ["Sec-Fetch-Site: same-site", () => ({ ...own(), "sec-fetch-site": "same-site", "svc-csrf": browser.csrf })],
  ["Sec-Fetch-Site: cross-site", () => ({ ...own(), "sec-fetch-site": "cross-site", "svc-csrf": browser.csrf })],
  ["Sec-Fetch-Site: none", () => ({ ...own(), "sec-fetch-site": "none", "svc-csrf": browser.csrf })],
  ["text/plain with JSON in it", () => ({ ...own(), "content-type": "text/plain", "svc-csrf": browser.csrf })],
  [
    "a multipart form",
    () => ({ ...own(), "content-type": "multipart/form-data; boundary=x", "svc-csrf": browser.csrf }),
  ],
];

describe.each(writes)("%s by cookie", (_, write) => {
  test.each(forgeries)("with %s is 403 cross_origin", async (_, headers) => {
    const response = await send(write, headers());
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ code: "cross_origin" });
  });
});

test("none of it changed anything", async () => {
  expect(await label()).toBeNull();
  expect((await server.site(site.slug)).status).toBe(200);
  expect((await call(server, "GET", "/account", undefined, { cookie: browser.cookie })).status).toBe(200);
});

describe("a write by cookie from a page of our own", () => {
  const patch = (body: unknown) => ({ method: "PATCH", path: () => `/account/sites/${site.site_id}`, body });

  test("passes with the token in the header", async () => {
    const headers = { ...own(), "svc-csrf": browser.csrf };
    expect((await send(patch({ label: "by header" }), headers)).status).toBe(200);
    expect(await label()).toBe("by header");
  });
  test("passes with the token in the field csrf", async () => {
    expect((await send(patch({ label: "by field", csrf: browser.csrf }), own())).status).toBe(200);
    expect(await label()).toBe("by field");
  });
  test("passes without Sec-Fetch-Site, which old browsers do not send", async () => {
    const headers = { ...without("sec-fetch-site"), "svc-csrf": browser.csrf };
    expect((await send(patch({ label: "old browser" }), headers)).status).toBe(200);
  });
  test("by localhost's other names, when Origin names the same", async () => {
    const host = `127.0.0.1:${server.port}`;
    const headers = { ...own(), host, "svc-csrf": browser.csrf };
    expect((await send(patch({ label: "x" }), { ...headers, origin: `http://${host}` })).status).toBe(200);
    expect((await send(patch({ label: "x" }), headers)).status).toBe(403);
  });
  test("a zip is deployed with the token in the header", async () => {
    const headers = { ...own(), "content-type": "application/zip", "svc-csrf": browser.csrf };
    const response = await server.api("/sites", { method: "POST", headers, body: zipOf({ "index.html": "dropped" }) });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ owner_account_id: ann.account_id });
  });
  test("a token of another session, even of the same account, is 403", async () => {
    const other = await signInByForm(server, ann);
    expect((await send(patch({ label: "x" }), { ...own(), "svc-csrf": other.csrf })).status).toBe(403);
  });
  test("a write by Bearer needs none of it", async () => {
    const headers = {
      ...ann.bearer,
      "content-type": "application/json",
      origin: site.url,
      "sec-fetch-site": "cross-site",
    };
    expect((await send(patch({ label: "program" }), headers)).status).toBe(200);
  });
  test("reading by cookie needs none of it, and no other origin may read the answer", async () => {
    const response = await server.api("/account/sites", { headers: { ...without("content-type"), origin: site.url } });
    expect(response.status).toBe(200);
    expect(response.headers.has("access-control-allow-origin")).toBe(false);
    expect(response.headers.has("access-control-allow-credentials")).toBe(false);
  });
  test("a GET never writes: the routes that write take none", async () => {
    for (const path of ["/account/bulk-attach", "/auth/logout", "/auth/login", `/sites/${site.site_id}/rollback`]) {
      expect((await server.api(path, { headers: { cookie: browser.cookie } })).status).toBe(405);
    }
  });
});

test("under https the API's origin is https, whatever the socket says", async () => {
  await using secure = await startServer("--base-url", BASE, "--sites-domain", "svc.test");
  const credentials = { email: "a@example.org", password: "correct horse battery" };
  const sign = (origin: string) =>
    call(
      secure,
      "POST",
      "/auth/signup",
      { ...credentials, email: `${origin.length}@example.org` },
      { host: "svc.test", origin },
    );
  expect((await sign(BASE)).headers.get("set-cookie")).toStartWith("__Host-svc_session=");
  expect((await sign("http://svc.test")).status).toBe(403);
  expect((await sign("https://calm-otter-1234.svc.test")).status).toBe(403);
});

test("behind a proxy that speaks TLS and is trusted the origin is https by its word; another peer's counts nothing", async () => {
  await using proxied = await startServer("--trust-proxy", "127.0.0.1", "--base-url", "http://svc.test");
  await using direct = await startServer("--base-url", "http://svc.test");
  const sign = (at: TestServer, proto: string) =>
    call(
      at,
      "POST",
      "/auth/signup",
      { email: `${proto}@example.org`, password: "correct horse battery" },
      {
        host: "svc.test",
        origin: BASE,
        "x-forwarded-proto": proto,
      },
    );
  const signed = await sign(proxied, "https");
  expect(signed.headers.get("set-cookie")).toMatch(/^__Host-svc_session=.*Secure/);
  expect((await sign(proxied, "http")).status).toBe(403);
  expect((await sign(direct, "https")).status).toBe(403);
});
