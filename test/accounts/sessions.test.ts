/** Cookies and sessions, and where a form leads (CONTRACT 5; RELIABILITY A8, A9). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { newToken } from "../../src/base/tokens.ts";
import { bearer, call, cookieOf, PASSWORD, signInByForm, signUp, submit } from "../kit/people.ts";
import { startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { senders } from "./senders.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const DAY = 86_400_000;
const server = await sharedServer();
const ann = await signUp(server, "ann@example.org");

const { form, post } = senders(() => server);

describe("the cookie", () => {
  const credentials = { email: "ann@example.org", password: PASSWORD };
  const own = () => ({ host: new URL(server.base_url).host, origin: server.base_url });

  test("without Origin, a program, sign-in sets none", async () => {
    expect(cookieOf(await post("/auth/login", credentials))).toBeNull();
    expect(cookieOf(await form("/auth/login", { ...credentials, next: "/device" }))).toBeNull();
  });

  test("from the API's own origin it is HttpOnly, SameSite=Lax, Path=/, host-only, 90 days", async () => {
    const { headers } = await post("/auth/login", credentials, own());
    const [pair, ...attributes] = headers.get("set-cookie")!.split("; ");
    expect(pair).toMatch(/^svc_session=svc_session_[A-Za-z0-9_-]{43}$/);
    expect(attributes.toSorted()).toEqual(["HttpOnly", "Max-Age=7776000", "Path=/", "SameSite=Lax"]);
  });

  test("under https it is __Host-svc_session and Secure", async () => {
    await using secure = await startServer("--base-url", "https://svc.example");
    const headers = { host: "svc.example", origin: "https://svc.example" };
    const signed = await call(secure, "POST", "/auth/signup", credentials, headers);
    expect(signed.headers.get("set-cookie")).toMatch(/^__Host-svc_session=svc_session_\S+; .*Secure/);
    const cookie = cookieOf(signed)!;
    const ask = async (sent: string) =>
      (await call(secure, "GET", "/account", undefined, { host: "svc.example", cookie: sent })).status;
    expect(await ask(cookie)).toBe(200);
    expect(await ask(cookie.replace("__Host-", ""))).toBe(401); // a hosted page could have planted this one
  });

  test.each([
    ["a hosted site", () => `http://calm-otter-1234.localhost:${server.port}`],
    ["null", () => "null"],
    ["another port", () => "http://localhost:1"],
    ["another scheme", () => server.base_url.replace("http:", "https:")],
    ["a longer name", () => `http://localhost.example:${server.port}`],
  ])("Origin of %s: 403 cross_origin, no session", async (_, origin) => {
    const headers = { host: new URL(server.base_url).host, origin: origin() };
    for (const path of ["/auth/login", "/auth/signup", "/signin", "/signup"]) {
      const response = await form(path, { ...credentials, next: "/device" }, headers);
      expect(response.status).toBe(403);
      expect(cookieOf(response)).toBeNull();
      expect(await response.json()).toMatchObject({ code: "cross_origin" });
    }
  });

  test("opens what the session opens; an Authorization header beats it", async () => {
    const { cookie } = await signInByForm(server, ann);
    expect((await call(server, "GET", "/account", undefined, { cookie })).body.account_id).toBe(ann.account_id);
    const ben = await signUp(server);
    const both = await call(server, "GET", "/account", undefined, { cookie, ...ben.bearer });
    expect(both.body.account_id).toBe(ben.account_id);
    const bad = await call(server, "GET", "/account", undefined, { cookie, authorization: "Bearer nonsense" });
    expect(bad.status).toBe(401);
  });

  test.each([
    ["garbage", () => "svc_session=garbage"],
    ["a token that never was", () => `svc_session=${newToken("svc_session_")}`],
    ["an empty one", () => "svc_session="],
    ["a session of the right form under another name", () => `session=${ann.session_token}`],
    [
      "two that differ (A10: a tossed one)",
      () => `svc_session=${ann.session_token}; svc_session=${newToken("svc_session_")}`,
    ],
    ["two that differ, the true one last", () => `svc_session=x; svc_session=${ann.session_token}`],
  ])("forged: %s opens nothing", async (_, cookie) => {
    expect((await call(server, "GET", "/account", undefined, { cookie: cookie() })).status).toBe(401);
  });

  test.each([
    ["behind a comma", (token: string) => `theme=dark,svc_session=${token}`],
    ["behind a comma and a blank", (token: string) => `theme=dark, svc_session=${token}`],
    ["in quotes", (token: string) => `theme="x,svc_session=${token}"`],
    ["behind a blank that is none in HTTP", (token: string) => `\u00a0svc_session=${token}`],
  ])("A10 in another cookie's value, %s, a session is none: that one a hosted page can plant", async (_, planted) => {
    const ben = await signUp(server);
    const { cookie } = await signInByForm(server, ann);
    const ask = (sent: string) => call(server, "GET", "/account", undefined, { cookie: sent });
    expect((await ask(planted(ben.session_token))).status).toBe(401);
    for (const sent of [`${planted(ben.session_token)}; ${cookie}`, `${cookie}; ${planted(ben.session_token)}`]) {
      expect((await ask(sent)).body.account_id).toBe(ann.account_id);
    }
  });

  test("a manage_token in the cookie opens nothing", async () => {
    const site = await server.deploy({ "index.html": "x" });
    const { status } = await call(server, "GET", `/sites/${site.site_id}`, undefined, {
      cookie: `svc_session=${site.manage_token}`,
    });
    expect(status).toBe(401);
  });

  test("one that has ended never makes an anonymous site: 401, and the browser is told to forget it", async () => {
    const cookie = `svc_session=${newToken("svc_session_")}`;
    const response = await server.post(zipOf({ "index.html": "x" }), { cookie });
    expect(response.status).toBe(401);
    expect(response.headers.get("set-cookie")).toMatch(/^svc_session=; .*Max-Age=0/);
  });
});

describe("A8 where a form leads", () => {
  const follow = async (next: string) => {
    const response = await submit(server, "/auth/login", { email: "ann@example.org", password: PASSWORD, next });
    expect(response.status).toBe(303);
    return response.headers.get("location")!;
  };
  test.each([
    ["/device?user_code=BCDF-GHJK", "/device?user_code=BCDF-GHJK"],
    ["/claim/site_x#fragment", "/claim/site_x#fragment"],
    ["/%2f%2fe", "/%2f%2fe"],
    ["/@e", "/@e"],
  ])("own path %j is followed", async (next, location) => {
    expect(await follow(next)).toBe(location);
  });
  test.each([
    "//e",
    "/\\e",
    "\\\\e",
    "https:e",
    "https://e",
    "%2f%2fe",
    "javascript:alert(1)",
    "/\t/e",
    "/\n/e",
    "\t//e",
    "/.//e",
    "/x/..//e",
    "e",
    "",
    "@e",
    " //e",
  ])("%j is not: the answer stays on this host", async (next) => {
    expect(await follow(next)).toBe("/dashboard");
  });
});

describe("sessions", () => {
  test("last 90 days from their last use", async () => {
    await using own = await startServer();
    const person = await signUp(own);
    const status = async () => (await call(own, "GET", "/account", undefined, person.bearer)).status;
    // No request waits until its use of the session is written down.
    const noted = async () =>
      Date.parse((await own.running.store.sessions.list(person.account_id, 10))[0]!.last_used_at);
    own.advance(89 * DAY);
    expect(await status()).toBe(200);
    await until(async () => own.now() - (await noted()) < DAY);
    own.advance(89 * DAY);
    expect(await status()).toBe(200);
    await until(async () => own.now() - (await noted()) < DAY);
    own.advance(90 * DAY);
    expect(await status()).toBe(401);
    await own.running.store.sweep(own.now());
    expect(await own.running.store.sessions.list(person.account_id, 10)).toEqual([]);
  });

  test("are listed newest first, with what asked for them, and the current one is marked", async () => {
    const person = await signUp(server);
    server.advance(1000);
    const login = await post("/auth/login", { email: person.email, password: PASSWORD }, { "user-agent": "svc/0.3.0" });
    const { status, body } = await call(server, "GET", "/account/sessions", undefined, person.bearer);
    expect(status).toBe(200);
    expect(body.sessions.map(({ current }) => current)).toEqual([false, true]);
    expect(Object.keys(body.sessions[0]!).toSorted()).toEqual([
      "client",
      "created_at",
      "current",
      "last_used_at",
      "session_id",
    ]);
    expect(body.sessions[0]!.client).toBe("svc/0.3.0");
    expect(body.sessions[0]!.session_id).toMatch(/^sess_[0-9a-z]{20}$/);
    expect(JSON.stringify(body)).not.toContain(login.body.session_token.slice(12));
  });

  test("show what hides in the name of a client", async () => {
    const person = await signUp(server);
    await post("/auth/login", { email: person.email, password: PASSWORD }, { "user-agent": "svc\u00ad/0.3.0" });
    const { body } = await call(server, "GET", "/account/sessions", undefined, person.bearer);
    expect(body.sessions.map(({ client }) => client)).toContain("svc\\u{ad}/0.3.0");
  });

  test("end one by one; another account's is 404", async () => {
    const person = await signUp(server);
    const other = await post("/auth/login", { email: person.email, password: PASSWORD });
    const [newest] = (await call(server, "GET", "/account/sessions", undefined, bearer(other.body.session_token))).body
      .sessions;
    const path = `/account/sessions/${newest!.session_id}`;
    expect(await call(server, "DELETE", path, undefined, ann.bearer)).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
    expect((await call(server, "DELETE", path, undefined, person.bearer)).body).toMatchObject({ ok: true });
    expect((await call(server, "GET", "/account", undefined, bearer(other.body.session_token))).status).toBe(401);
    expect((await call(server, "DELETE", path, undefined, person.bearer)).status).toBe(404);
    expect((await call(server, "GET", "/account", undefined, person.bearer)).status).toBe(200);
  });

  test("logout ends the session that is presented, and no other", async () => {
    const person = await signUp(server);
    const other = bearer((await post("/auth/login", { email: person.email, password: PASSWORD })).body.session_token);
    expect(await call(server, "POST", "/auth/logout", {}, other)).toMatchObject({ status: 200, body: { ok: true } });
    expect((await call(server, "GET", "/account", undefined, other)).status).toBe(401);
    expect((await call(server, "GET", "/account", undefined, person.bearer)).status).toBe(200);
    expect((await call(server, "POST", "/auth/logout", {}, other)).status).toBe(401);
    const site = await server.deploy({ "index.html": "x" });
    expect((await call(server, "POST", "/auth/logout", {}, bearer(site.manage_token))).status).toBe(401);
  });

  test("logout by cookie clears the cookie", async () => {
    const person = await signUp(server);
    const { cookie, csrf } = await signInByForm(server, person);
    const response = await submit(server, "/auth/logout", { csrf, next: "/signin" }, { cookie });
    expect([response.status, response.headers.get("location")]).toEqual([303, "/signin"]);
    expect(response.headers.get("set-cookie")).toMatch(/^svc_session=; .*Max-Age=0/);
    expect((await call(server, "GET", "/account", undefined, { cookie })).status).toBe(401);
  });
});
