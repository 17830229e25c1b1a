/** CONTRACT.md 5: sign-up, sign-in, sessions and the dashboard's cookie. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { newToken } from "../../src/tokens.ts";
import { medians } from "../kit/cpu.ts";
import { bearer, call, cookieOf, type Person, PASSWORD, signInByForm, signUp, submit } from "../kit/people.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";

/** Accounts cost a password hash each. */
setDefaultTimeout(30_000);

const DAY = 86_400_000;
let server: TestServer;
let ann: Person;
beforeAll(async () => {
  server = await startServer();
  ann = await signUp(server, "ann@example.org");
});
afterAll(() => server[Symbol.asyncDispose]());

const form = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  server.api(path, { method: "POST", body: new URLSearchParams(fields), headers });
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  call(server, "POST", path, body, headers);

describe("sign-up", () => {
  test("answers 200 with account_id and session_token, which is the account's credential at once", async () => {
    const { status, body } = await post("/auth/signup", { email: "new@example.org", password: PASSWORD });
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual(["account_id", "session_token"]);
    expect(body.account_id).toMatch(/^acct_[0-9a-z]{20}$/);
    expect(body.session_token).toMatch(/^svc_session_[A-Za-z0-9_-]{43}$/);
    const account = await call(server, "GET", "/account", undefined, bearer(body.session_token));
    expect(account.body).toEqual({
      account_id: body.account_id,
      email: "new@example.org",
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    } as unknown as typeof account.body);
  });

  test.each([
    ["a password of 9 characters", { password: "123456789" }],
    ["a password of nine characters of two units each", { password: "😀".repeat(9) }],
    ["a password of 4 KB", { password: "x".repeat(4096) }],
    ["a password that is no string", { password: 1234567890 }],
    ["no password", {}],
    ["an address without @", { email: "nobody", password: PASSWORD }],
    ["an address with a space", { email: "no body@example.org", password: PASSWORD }],
    ["an address with a line break", { email: "no\nbody@example.org", password: PASSWORD }],
    ["an address of 300 characters", { email: `${"x".repeat(290)}@example.org`, password: PASSWORD }],
  ])("%s is 400 invalid_input", async (_, fields) => {
    const { status, body } = await post("/auth/signup", { email: "bad@example.org", ...fields });
    expect([status, body.code]).toEqual([400, "invalid_input"]);
  });
  test("a password of 10 characters is long enough", async () => {
    expect((await post("/auth/signup", { email: "ten@example.org", password: "0123456789" })).status).toBe(200);
  });

  test("a taken address is 409 email_taken, in any case and with spaces around", async () => {
    const { status, body } = await post("/auth/signup", { email: "  ANN@Example.ORG ", password: PASSWORD });
    expect([status, body.code]).toEqual([409, "email_taken"]);
  });

  test("two sign-ups of one address at once make one account", async () => {
    const both = await Promise.all(
      [1, 2].map(() => post("/auth/signup", { email: "race@example.org", password: PASSWORD })),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });

  test("takes a form as well as JSON, and nothing else", async () => {
    expect((await form("/auth/signup", { email: "form@example.org", password: PASSWORD })).status).toBe(200);
    const plain = await server.api("/auth/signup", {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: JSON.stringify({ email: "plain@example.org", password: PASSWORD }),
    });
    expect([plain.status, ((await plain.json()) as { code: string }).code]).toEqual([415, "unsupported_media_type"]);
  });

  test("closed: 403 signup_closed, an invitation notwithstanding", async () => {
    await using closed = await startServer("--signup", "closed");
    const invite = closed.invite("guest@example.org", 7 * DAY);
    const answer = await call(closed, "POST", "/auth/signup", {
      email: "guest@example.org",
      password: PASSWORD,
      invite,
    });
    expect([answer.status, answer.body.code]).toEqual([403, "signup_closed"]);
  });

  test("invite: the invitation works once, for its address, within its seven days", async () => {
    await using invited = await startServer("--signup", "invite");
    const sign = async (email: string, invite?: string) =>
      (await call(invited, "POST", "/auth/signup", { email, password: PASSWORD, invite })).status;
    const invite = invited.invite("guest@example.org", 7 * DAY);
    expect(await sign("guest@example.org")).toBe(403);
    expect(await sign("guest@example.org", newToken("svc_invite_"))).toBe(403);
    expect(await sign("other@example.org", invite)).toBe(403);
    expect(await sign(" Guest@example.org", invite)).toBe(200);
    invited.removeAccounts();
    expect(await sign("guest@example.org", invite)).toBe(403);
    const late = invited.invite("late@example.org", 7 * DAY);
    invited.advance(7 * DAY);
    expect(await sign("late@example.org", late)).toBe(403);
  });
});

describe("sign-in", () => {
  test("answers a fresh token each time (A9: none that was there before)", async () => {
    const first = await post("/auth/login", { email: "ann@example.org", password: PASSWORD });
    const second = await post("/auth/login", { email: " ANN@example.org ", password: PASSWORD });
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(first.body.account_id).toBe(ann.account_id);
    expect(first.body.session_token).not.toBe(second.body.session_token);
  });

  test("a wrong password and an unknown address are one 401, to the letter", async () => {
    const wrong = await post("/auth/login", { email: "ann@example.org", password: "wrong password" });
    const unknown = await post("/auth/login", { email: "nobody@example.org", password: "wrong password" });
    for (const answer of [wrong, unknown]) {
      expect(answer.status).toBe(401);
      expect(answer.body.code).toBe("unauthorized");
      expect(answer.headers.has("set-cookie")).toBe(false);
    }
    expect({ ...wrong.body, request_id: null }).toEqual({ ...unknown.body, request_id: null });
  });

  test("A6 a wrong password and an unknown address take the same time", async () => {
    const tries = ["ann@example.org", "nobody@example.org"].map(
      (email) => (i: number) => post("/auth/login", { email, password: `wrong password ${i}` }),
    );
    const hash = () =>
      Bun.password.hash("as the accounts' are", { algorithm: "argon2id", memoryCost: 65_536, timeCost: 2 });
    const [known, unknown, hashing] = await medians(9, ...tries, hash);
    expect(Math.max(known!, unknown!) / Math.min(known!, unknown!)).toBeLessThan(2);
    expect(unknown!).toBeGreaterThan(hashing! / 2); // argon2id ran
  }, 30_000);

  test("A6 what follows a NUL counts, and a letter is the same however it was composed", async () => {
    const sign = async (path: string, password: string) =>
      (await post(path, { email: "nul@example.org", password })).status;
    expect(await sign("/auth/signup", "caf\u00e9 au lait\0one")).toBe(200);
    expect(await sign("/auth/login", "caf\u00e9 au lait\0two")).toBe(401);
    expect(await sign("/auth/login", "cafe\u0301 au lait\0one")).toBe(200);
  });

  test("A6 two hashes run at once; who has waited 3 s gets 503 with Retry-After", async () => {
    // No machine is so quick that the hashes are done before the others are late.
    const hashing = Promise.withResolvers<boolean>();
    using verify = spyOn(Bun.password, "verify").mockImplementation(() => hashing.promise);
    const late: Awaited<ReturnType<typeof post>>[] = [];
    const answers = Array.from({ length: 10 }, async () => {
      const answer = await post("/auth/login", { email: "nobody@example.org", password: PASSWORD });
      if (answer.status === 503) late.push(answer);
      return answer.status;
    });
    await until(() => late.length === 8);
    expect(verify).toHaveBeenCalledTimes(2);
    expect(late[0]!.body.code).toBe("unavailable");
    expect(late[0]!.headers.get("retry-after")).toMatch(/^\d+$/);
    hashing.resolve(false);
    expect((await Promise.all(answers)).filter((status) => status !== 503)).toEqual([401, 401]);
  }, 30_000);

  test("no password is stored but as its argon2id hash", async () => {
    const { password_hash } = (await server.running.store.accounts.byEmail("ann@example.org"))!;
    expect(password_hash).toStartWith("$argon2id$v=19$m=65536,t=2,");
  });
});

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
    expect(await follow(next)).toBe("/signin");
  });
});

describe("sessions", () => {
  test("last 90 days from their last use", async () => {
    await using own = await startServer();
    const person = await signUp(own);
    const status = async () => (await call(own, "GET", "/account", undefined, person.bearer)).status;
    own.advance(89 * DAY);
    expect(await status()).toBe(200);
    own.advance(89 * DAY);
    expect(await status()).toBe(200);
    own.advance(90 * DAY);
    expect(await status()).toBe(401);
    await own.running.store.sweep(own.now());
    expect(await own.running.store.sessions.list(person.account_id)).toEqual([]);
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
