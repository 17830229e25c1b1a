/** Sign-up and sign-in (CONTRACT 4.4 and 5; RELIABILITY A6, A9). */
import { describe, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { newToken } from "../../src/base/tokens.ts";
import { medians } from "../kit/cpu.ts";
import { bearer, call, PASSWORD, signUp } from "../kit/people.ts";
import { startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { until } from "../kit/until.ts";
import { senders } from "./senders.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const DAY = 86_400_000;
const server = await sharedServer();
const ann = await signUp(server, "ann@example.org");

const { form, post } = senders(() => server);

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
    const [known, unknown, hashing] = await medians(5, ...tries, hash);
    expect(Math.max(known!, unknown!) / Math.min(known!, unknown!)).toBeLessThan(2);
    expect(unknown!).toBeGreaterThan(hashing! / 2); // argon2id ran
  }, 60_000);

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
  }, 60_000);

  test("no password is stored but as its argon2id hash", async () => {
    const { password_hash } = (await server.running.store.accounts.byEmail("ann@example.org"))!;
    expect(password_hash).toStartWith("$argon2id$v=19$m=65536,t=2,");
  });
});
