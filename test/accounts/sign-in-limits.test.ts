/** CONTRACT 4.4: how often a password may be tried, and who waits for argon2id (RELIABILITY A6): nobody locks out the owner
 *  of an account, and nobody fills the line for others. */
import { describe, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { createGate, type FairnessKey } from "../../src/run/gate.ts";
import { read } from "../kit/database.ts";
import { bearer, call, cookieOf, csrfOf, PASSWORD, submit } from "../kit/people.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { device } from "./login-by-code.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const HOME = "203.0.113.7";
const EMAIL = "ann@example.org";
const from = (address: string) => ({ "x-forwarded-for": address });
/** One of many networks of strangers. */
const stranger = (n: number): string => `198.51.100.${n}`;

const proxied = (rates: Record<string, string> = {}) => startServer("--trust-proxy", "127.0.0.1", rates);
const post = (server: TestServer, path: string, address: string, email: string, password: string) =>
  call(server, "POST", path, { email, password }, from(address));
const signUpFrom = (server: TestServer, address: string, email = EMAIL) =>
  post(server, "/auth/signup", address, email, PASSWORD);
const signInFrom = (server: TestServer, address: string, password = PASSWORD, email = EMAIL) =>
  post(server, "/auth/login", address, email, password);
const wrongFrom = async (server: TestServer, address: string, email = EMAIL) =>
  (await signInFrom(server, address, "wrong password", email)).status;

describe("SVC_RATE_SIGN_IN_ACCOUNT counts a name and a network together", () => {
  test("who guesses from one network does not lock the owner out of another", async () => {
    await using server = await proxied({ SVC_RATE_SIGN_IN_ACCOUNT: "2/1m" });
    await signUpFrom(server, HOME);
    const guesses = [1, 2, 3].map(() => wrongFrom(server, stranger(1)));
    expect((await Promise.all(guesses)).toSorted()).toEqual([401, 401, 429]);
    expect((await signInFrom(server, HOME)).status).toBe(200);
    expect((await signInFrom(server, stranger(2))).status).toBe(200);
    expect((await signInFrom(server, stranger(1))).status).toBe(429);
  });

  test("an IPv6 /64 is one network", async () => {
    await using server = await proxied({ SVC_RATE_SIGN_IN_ACCOUNT: "1/1m" });
    expect(await wrongFrom(server, "2001:db8:1:2::1")).toBe(401);
    expect(await wrongFrom(server, "2001:db8:1:2:ffff::9")).toBe(429);
    expect(await wrongFrom(server, "2001:db8:1:3::1")).toBe(401);
  });
});

describe("SVC_RATE_SIGN_IN_NAME counts a name, from networks that never signed in to it", () => {
  const few = { SVC_RATE_SIGN_IN_NAME: "3/1h" };

  test("is 100 an hour", async () => {
    const { SETTINGS } = await import("../../src/config/settings.ts");
    expect(SETTINGS.rate_sign_in_name.fallback).toBe("100/1h");
  });

  test("past it a new network waits, and one that signed in or up before does not", async () => {
    await using server = await proxied(few);
    await signUpFrom(server, HOME);
    expect((await signInFrom(server, stranger(9))).status).toBe(200); // from now on known too
    for (const n of [1, 2]) expect(await wrongFrom(server, stranger(n))).toBe(401);
    const late = await signInFrom(server, stranger(3));
    expect([late.status, late.body.code]).toEqual([429, "rate_limited"]);
    expect(Number(late.headers.get("retry-after"))).toBeWithin(3_000, 3_601);
    for (const address of [HOME, stranger(9)]) {
      expect(await wrongFrom(server, address)).toBe(401);
      expect((await signInFrom(server, address)).status).toBe(200);
    }
    server.advance(HOUR);
    expect((await signInFrom(server, stranger(3))).status).toBe(200);
  });

  test("a try that it refuses counts for neither of the other two limits", async () => {
    await using server = await proxied({
      SVC_RATE_SIGN_IN: "3/1h",
      SVC_RATE_SIGN_IN_ACCOUNT: "3/1h",
      SVC_RATE_SIGN_IN_NAME: "1/1m",
    });
    expect(await wrongFrom(server, stranger(1))).toBe(401);
    for (let n = 0; n < 5; n++) expect(await wrongFrom(server, stranger(1))).toBe(429);
    server.advance(61_000);
    expect(await wrongFrom(server, stranger(1))).toBe(401);
    server.advance(61_000);
    expect(await wrongFrom(server, stranger(1))).toBe(401);
  });

  test("does not tell whether there is such an account: a stranger sees the same of each", async () => {
    await using server = await proxied(few);
    await signUpFrom(server, HOME);
    const seen = async (email: string, first: number) => {
      const answers = [];
      for (let n = first; n < first + 5; n++) {
        const { status, body, headers } = await signInFrom(server, stranger(n), "wrong password", email);
        const { request_id, retry_after, ...said } = body;
        const named = [...headers.keys()].filter((name) => name !== "date").toSorted();
        answers.push({ status, said: { ...said, error: said.error.replace(/\d+/, "n") }, named });
      }
      return answers;
    };
    expect(await seen(EMAIL, 10)).toEqual(await seen("nobody@example.org", 20));
  });

  test("whoever is signed in approves a device from anywhere, whatever strangers try", async () => {
    await using server = await proxied({ SVC_RATE_SIGN_IN_NAME: "1/1h" });
    await signUpFrom(server, HOME);
    const cookie = cookieOf(await submit(server, "/signin", { email: EMAIL, password: PASSWORD }, from(HOME)))!;
    expect(await wrongFrom(server, stranger(1))).toBe(401);
    server.advance(2 * HOUR); // the password was given long ago
    expect(await wrongFrom(server, stranger(1))).toBe(401);
    expect(await wrongFrom(server, stranger(2))).toBe(429);
    const { user_code } = await device(() => server).begin();
    const away = { cookie, ...from(stranger(3)) };
    const page = await (await server.api(`/device?user_code=${user_code}`, { headers: away })).text();
    const fields = { user_code, decision: "approve", csrf: csrfOf(page), password: PASSWORD };
    expect((await submit(server, "/device", fields, away)).status).toBe(303);
  });
});

describe("what an account remembers of networks", () => {
  const remembered = (server: TestServer) =>
    read<{ account_id: string; network_hash: string }>(server.data_dir, "select * from sign_in_networks");

  test("is a keyed hash of each, another for each account, and goes with the account", async () => {
    await using server = await proxied();
    const [ann, ben] = [await signUpFrom(server, HOME), await signUpFrom(server, HOME, "ben@example.org")];
    const rows = remembered(server);
    expect(rows.map(({ account_id }) => account_id).toSorted()).toEqual(
      [ann, ben].map(({ body }) => body.account_id).toSorted(),
    );
    expect(new Set(rows.map(({ network_hash }) => network_hash)).size).toBe(2);
    const plain = new Bun.CryptoHasher("sha256").update(HOME).digest("base64url");
    expect(JSON.stringify(rows)).not.toContain(HOME);
    expect(JSON.stringify(rows)).not.toContain(plain);
    await call(server, "DELETE", "/account", undefined, bearer(ann.body.session_token));
    expect(remembered(server)).toHaveLength(1);
  });

  test("is bounded: of 40 networks the 32 that signed in last stay", async () => {
    await using server = await proxied({ SVC_RATE_SIGN_IN_NAME: "1/1h" });
    const { body } = await signUpFrom(server, HOME);
    const { store } = server.running;
    const account = (await store.accounts.byEmail(EMAIL))!;
    for (let n = 0; n < 39; n++) {
      server.advance(1);
      const session = { session_id: `sess_${n}`, hash: `hash ${n}`, client: "x", network_hash: `network ${n}` };
      expect(await store.sessions.start(session, account)).toBe(true);
    }
    expect(remembered(server)).toHaveLength(32);
    expect(await store.accounts.knows(body.account_id, "network 38")).toBe(true);
    expect(await store.accounts.knows(body.account_id, "network 6")).toBe(false);
  });

  test("ages: half a year after its last sign-in a network is new again, and the sweep forgets it", async () => {
    await using server = await proxied({ SVC_RATE_SIGN_IN_NAME: "1/1h" });
    await signUpFrom(server, HOME);
    server.advance(179 * DAY);
    await wrongFrom(server, stranger(1));
    expect((await signInFrom(server, HOME)).status).toBe(200);
    server.advance(181 * DAY);
    await wrongFrom(server, stranger(1));
    expect((await signInFrom(server, HOME)).status).toBe(429);
    await server.running.store.sweep(server.now());
    expect(remembered(server)).toEqual([]);
  });
});

/** Passwords that argon2id is asked about, in order; each waits until it is let go. */
function heldHashes() {
  const begun: string[] = [];
  const held: (() => void)[] = [];
  const spy = spyOn(Bun.password, "verify").mockImplementation((password) => {
    begun.push(Buffer.from(password as Uint8Array).toString());
    return new Promise<boolean>((resolve) => void held.push(() => resolve(false)));
  });
  return {
    begun,
    /** Lets `n` go, each when it has begun. */
    async letGo(n: number) {
      for (let i = 0; i < n; i++) {
        await until(() => held.length > 0);
        held.shift()!();
      }
    },
    [Symbol.dispose]: () => spy.mockRestore(),
  };
}

describe("A6 the line for argon2id", () => {
  test("is taken in turn by network: one that floods it is behind everybody who asks once", async () => {
    await using server = await proxied();
    using hashes = heldHashes();
    using asked = spyOn(server.running.store.accounts, "knows");
    const flood = Array.from({ length: 14 }, (_, n) => signInFrom(server, stranger(1), `flood ${n}`));
    await until(() => hashes.begun.length === 2);
    const others = [2, 3, 4].map((n) => signInFrom(server, stranger(n), `other ${n}`, `other${n}@example.org`));
    await until(() => asked.mock.calls.length === 17);
    await Bun.sleep(0); // between that question and the line there is no I/O
    await hashes.letGo(17);
    const answers = await Promise.all([...flood, ...others]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
    const place = (name: string) => hashes.begun.indexOf(name);
    for (const n of [2, 3, 4]) expect(place(`other ${n}`)).toBeLessThan(7);
  });

  test("of one network at most 16 wait: the next is 503 at once, with Retry-After", async () => {
    await using server = await proxied();
    using hashes = heldHashes();
    const flood = Array.from({ length: 20 }, (_, n) => signInFrom(server, stranger(1), `flood ${n}`));
    const [first] = await Promise.all([Promise.race(flood), until(() => hashes.begun.length === 2)]);
    expect([first.status, first.headers.get("retry-after")]).toEqual([503, "3"]);
    await hashes.letGo(18);
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401).length).toBe(18);
    expect(statuses.filter((status) => status === 503).length).toBe(2);
  });
});

describe("a gate that few may wait at", () => {
  const limits = { width: 1, most: [9, 6, 4], ms: 30_000, late: () => new Error("late") };

  /** The order in which those who come one after the other, while another is busy, are let in; `-` for who is refused. */
  async function order(arrivals: readonly FairnessKey[]): Promise<string> {
    const { run } = createGate(limits);
    const busy = Promise.withResolvers<void>();
    const first = run(() => busy.promise, ["busy"]);
    let seen = "";
    const all = arrivals.map((from) =>
      run(async () => void (seen += from.at(-1)), from).catch(() => void (seen += "-")),
    );
    await Promise.resolve();
    busy.resolve();
    await Promise.all([first, ...all]);
    return seen;
  }
  const at = (path: string): FairnessKey => path.split("/");

  test.each<[title: string, arrivals: string, order: string]>([
    ["one network: first come, first served", "n/a n/a n/a", "aaa"],
    ["two: in turn", "n/a n/a n/a n/b n/b", "ababa"],
    ["a newcomer comes before the second of everybody", "n/a n/a n/b n/b n/c", "abcab"],
    ["past the bound of a network it is refused, and others are not", "n/a n/a n/a n/a n/a n/b", "-abaaa"],
    ["the wider place is taken in turn first: many networks of one are one", "x/a x/b x/c x/d y/e y/f", "aebfcd"],
    ["past the bound of the wider place", "x/a x/b x/c x/d x/e x/f x/g y/h", "-ahbcdef"],
    ["past the bound of all", "a/a b/b c/c d/d e/e f/f g/g h/h i/i j/j", "-abcdefghi"],
  ])("%s", async (_, arrivals, expected) => {
    expect(await order(arrivals.split(" ").map(at))).toBe(expected);
  });

  test("who waited too long leaves the line to the others, and work that fails gives its place back", async () => {
    const { run } = createGate({ ...limits, ms: 1 });
    const busy = Promise.withResolvers<void>();
    const first = run(() => busy.promise, ["x", "a"]);
    await expect(run(async () => "in time", ["x", "a"])).rejects.toThrow("late");
    busy.resolve();
    await first;
    await expect(run(() => Promise.reject(new Error("broken")), ["x", "a"])).rejects.toThrow("broken");
    expect(await run(async () => "whole", ["x", "b"])).toBe("whole");
  });
});
