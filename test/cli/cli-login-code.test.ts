/** `svc login` by a code: when it asks, and --request and --check for programs (RFC 8628; CONTRACT 5 and 8). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Server } from "../../src/cli/saved/server.ts";
import { askForApproval, askForCode, waitForApproval } from "../../src/cli/service/device.ts";
import { Failure } from "../../src/cli/failure.ts";
import { type Home, homeWithSite, json } from "../kit/cli.ts";
import { deviceCode, fakeServer } from "../kit/fake-server.ts";
import { decideLogin } from "../kit/people.ts";
import { sharedPerson } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const { server, person } = await sharedPerson();

const newHome = (at = server.base_url) => homeWithSite(at);

describe("waiting for approval (RFC 8628, 3.5)", () => {
  const APPROVED = { access_token: "t", account_id: "a" };
  const failing = (code: string) => new Failure(code, code);

  /** How long was waited before each try, with answers that come one after the other. */
  async function pauses(answers: string[], interval: number | undefined, expires_in = 900) {
    const [waited, left] = [[] as number[], [...answers]];
    let now = 0;
    const clock = {
      now: () => now,
      wait: async (ms: number) => {
        waited.push(ms / 1000);
        now += ms;
      },
    };
    const askOnce = async () => {
      const next = left.shift();
      if (next !== undefined) throw failing(next);
      return APPROVED;
    };
    const options = { expires_in, ...(interval !== undefined && { interval }) };
    const ended = await waitForApproval(options, askOnce, clock).catch((error: Failure) => error.code);
    return { waited, ended };
  }

  test.each<[string, string[], number | undefined, number[]]>([
    ["the interval is kept", ["authorization_pending", "authorization_pending"], 3, [3, 3, 3]],
    ["5 s where the server names none", ["authorization_pending"], undefined, [5, 5]],
    ["slow_down adds 5 s for good", ["slow_down", "authorization_pending", "slow_down"], 5, [5, 10, 10, 15]],
    ["a server that is away is asked ever more seldom", ["unreachable", "unreachable"], 5, [5, 10, 20]],
  ])("%s", async (_, answers, interval, expected) => {
    expect(await pauses(answers, interval)).toEqual({ waited: expected, ended: APPROVED as never });
  });

  test.each([["access_denied"], ["expired_token"], ["invalid_input"]])("%s ends it", async (code) => {
    expect(await pauses(["authorization_pending", code], 5)).toEqual({ waited: [5, 5], ended: code });
  });

  test("the code's own end ends it, although nobody says so", async () => {
    const { waited, ended } = await pauses(Array<string>(50).fill("authorization_pending"), 5, 20);
    expect([waited.length, ended]).toEqual([4, "expired_token"]);
  });

  test("slow_down from the server: the login goes on and succeeds", async () => {
    let polls = 0;
    const fake = fakeServer((path) => {
      if (path === "/auth/device/code") return Response.json(deviceCode(fake, { interval: 1 }));
      if (path === "/auth/device/token" && ++polls === 1) {
        return Response.json({ error: "slow_down", code: "slow_down" }, { status: 400 });
      }
      return Response.json({ access_token: "svc_session_x", account_id: "a" });
    });
    const waited: number[] = [];
    const clock = { now: () => 0, wait: async (ms: number) => void waited.push(ms) };
    const from: Server = { base: fake.url, origin: fake.url, chosen_by: "DEPLOY_URL" };
    const code = await askForCode(from);
    const approval = await waitForApproval(code, () => askForApproval(from, code.device_code), clock);
    expect(approval).toEqual({ access_token: "svc_session_x", account_id: "a" });
    expect(waited).toEqual([1000, 6000]);
    await fake.stop();
  });
});

describe("--request and --check, for programs", () => {
  const request = async (home: Home) => json(await home.run(["login", "--request"]));

  test("a login begun, not yet decided, approved; and used once", async () => {
    await using home = await newHome();
    const begun = await home.run(["login", "--request"]);
    expect([begun.code, begun.err]).toEqual([0, ""]);
    const { id, user_code } = json(begun) as { id: string; user_code: string };
    expect(json(begun)).toEqual({
      ok: true,
      id: expect.stringMatching(/^login_[\w-]{12}$/),
      user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
      verification_uri: `${server.base_url}/device`,
      verification_uri_complete: `${server.base_url}/device?user_code=${user_code}`,
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect(begun.out).not.toContain("svc_device_");
    expect(await home.modeOf("logins.json")).toBe(0o600);

    const early = await home.run(["login", "--check", id]);
    expect(early.code).toBe(1);
    expect(json(early)).toMatchObject({ ok: false, code: "authorization_pending" });
    expect(await home.hasSaved("session.json")).toBe(false);
    expect(json(await home.run(["login", "--check", id]))["code"]).toBe("slow_down");

    server.advance(20_000);
    await decideLogin(server, user_code, "approve", person);
    const done = await home.run(["login", "--check", id]);
    expect(done.code).toBe(0);
    expect(json(done)).toEqual({ ok: true, account_id: person.account_id });
    expect(await home.modeOf("session.json")).toBe(0o600);
    expect(json(await home.run(["--json"]))["owner_account_id"]).toBe(person.account_id);
    expect(json(await home.run(["login", "--check", id]))["code"]).toBe("expired_token");
    expect(await home.saved("logins.json")).toEqual({ version: 1, logins: [] });
  });

  test("a denied login is told once and forgotten", async () => {
    await using home = await newHome();
    const { id, user_code } = (await request(home)) as { id: string; user_code: string };
    await decideLogin(server, user_code, "deny", person);
    const denied = await home.run(["login", "--check", id]);
    expect([denied.code, json(denied)["code"]]).toEqual([1, "access_denied"]);
    expect(json(await home.run(["login", "--check", id]))["code"]).toBe("expired_token");
  });

  test("an unknown id is expired_token, and nobody is asked", async () => {
    const fake = fakeServer(() => Response.json({}));
    await using home = await newHome(fake.url);
    const refused = await home.run(["login", "--check", "login_nobodys"]);
    expect([refused.code, json(refused)["code"]]).toEqual([1, "expired_token"]);
    expect(fake.asked).toEqual([]);
    await fake.stop();
  });

  test("the code is asked for where it came from, whatever DEPLOY_URL names then", async () => {
    await using home = await newHome();
    const { id, user_code } = (await request(home)) as { id: string; user_code: string };
    await decideLogin(server, user_code, "approve", person);
    const elsewhere = { env: { DEPLOY_URL: "http://127.0.0.1:1" } };
    expect((await home.run(["login", "--check", id], elsewhere)).code).toBe(0);
    expect(await home.saved("session.json")).toMatchObject({ origin: server.base_url });
  });

  test("several may wait at once, and a code that ran out is dropped", async () => {
    await using home = await newHome();
    const [first, second] = [await request(home), await request(home)];
    const { logins } = (await home.saved("logins.json")) as { logins: { id: string; expires_at: number }[] };
    expect(logins.map(({ id }) => id)).toEqual([String(first["id"]), String(second["id"])]);
    const old = logins.map((login) => (login.id === first["id"] ? { ...login, expires_at: 1 } : login));
    await writeFile(join(home.config, "logins.json"), JSON.stringify({ version: 1, logins: old }));
    expect(json(await home.run(["login", "--check", String(first["id"])]))["code"]).toBe("expired_token");
    expect(json(await home.run(["login", "--check", String(second["id"])]))["code"]).toBe("authorization_pending");
  });

  test.each([
    [["login", "--request", "--nope"], 2],
    [["login", "--check"], 2],
    [["login", "--check=x", "extra"], 2],
  ])("%j is refused in JSON too", async (args, exit) => {
    await using home = await newHome();
    const { code, out, err } = await home.run(args);
    expect([code, err]).toEqual([exit, ""]);
    expect(json({ out })).toMatchObject({ ok: false, code: "usage" });
  });
});
