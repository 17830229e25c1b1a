/** `svc login`, `logout`, `list`, and deploys with a session (SPEC.md, "CLI"; CONTRACT.md 5 and 8; RFC 8628). */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Server } from "../../src/cli/saved/state.ts";
import { askForApproval, askForCode, waitForApproval } from "../../src/cli/service/device.ts";
import { Failure } from "../../src/cli/failure.ts";
import { browserCommand } from "../../src/cli/terminal/open-browser.ts";
import { Home, json } from "../kit/cli.ts";
import { DEPLOYED, deviceCode, fakeServer } from "../kit/fake-server.ts";
import { decideLogin, type Person, signUp } from "../kit/people.ts";
import { slugOf, startServer, type TestServer } from "../kit/server.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

let server: TestServer;
let person: Person;
beforeAll(async () => {
  server = await startServer();
  person = await signUp(server);
});
afterAll(() => server[Symbol.asyncDispose]());

const newHome = async (at = server.base_url): Promise<Home> => {
  const home = await Home.make(at);
  await home.write("", { "dist/index.html": "<title>t</title>" });
  return home;
};
describe("a person", () => {
  test("approves the code in a browser: the session is saved 0600 with its server, and deploys are owned", async () => {
    await using home = await newHome();
    let approving: Promise<void> | null = null;
    const { code, raw } = await home.runOnTerminal(["login"], {}, (seen) => {
      const shown = /Your code: \S*?([B-Z]{4}-[B-Z]{4})/.exec(seen)?.[1];
      if (shown !== undefined) approving ??= decideLogin(server, shown, "approve", person);
    });
    await approving;
    expect(code).toBe(0);
    expect(raw).toContain(`${server.base_url}/device?user_code=`);
    expect(raw).toContain("Waiting for you to approve it");
    expect(raw).toContain("Signed in");
    expect(await home.saved("session.json")).toEqual({
      version: 1,
      origin: server.base_url,
      session_token: expect.stringMatching(/^svc_session_/),
      account_id: person.account_id,
    });
    expect(await home.modeOf("session.json")).toBe(0o600);

    const deployed = await home.run([]);
    expect(deployed.err).toContain("Yours: it does not expire.");
    expect(deployed.err).not.toContain("Here until");
    const result = json(await home.run(["--json"]));
    expect(result).toMatchObject({ owner_account_id: person.account_id, expires_at: null, claim_token: null });
    expect(result["manage_token"]).toStartWith("svc_manage_");
    const updated = json(await home.run(["update", "--json", "--spa"]));
    expect(updated).toMatchObject({ owner_account_id: person.account_id, expires_at: null, claim_token: null });
  });

  test("nothing is on stdout, with -q too: the code is on stderr; --json tells of the account", async () => {
    const fake = fakeServer((path) =>
      path === "/auth/device/code"
        ? Response.json(deviceCode(fake, { interval: 0.01 }))
        : path === "/auth/device/token"
          ? Response.json({ access_token: "svc_session_x", token_type: "Bearer", account_id: "acct_x" })
          : Response.json({ attached: [], skipped: [] }),
    );
    for (const flags of [[], ["-q"]]) {
      await using home = await newHome(fake.url);
      const { code, out, err } = await home.run(["login", ...flags]);
      expect([code, out]).toEqual([0, ""]);
      expect(err).toContain("Your code: BCDF-GHJK");
      expect(err).toContain(`${fake.url}/device?user_code=BCDF-GHJK`);
    }
    await using home = await newHome(fake.url);
    expect(json(await home.run(["login", "--json"]))).toEqual({
      ok: true,
      account_id: "acct_x",
      attached: [],
      skipped: [],
    });
    await fake.stop();
  });

  test("Ctrl-C while it waits: exit 130, the cursor is back, no session", async () => {
    await using home = await newHome();
    const { code, raw } = await home.runOnTerminal(["login"], {}, (seen, terminal) => {
      if (seen.includes("Waiting for you") && !seen.includes("^C")) terminal.write("\x03");
    });
    expect(code).toBe(130);
    expect(raw.endsWith("\x1b[?25h")).toBe(true);
    expect(await home.hasSaved("session.json")).toBe(false);
  });

  test("a session that cannot be saved is told", async () => {
    await using home = await newHome();
    await mkdir(home.config);
    await mkdir(join(home.config, "session.json"));
    const { code, err } = await home.run(["login", "--token", person.session_token]);
    expect(code).toBe(1);
    expect(err).toContain(`The session could not be saved in ${join(home.config, "session.json")}`);
  });
});

describe("the browser", () => {
  const NOTHING = {};
  test.each<[string, Record<string, string>, string | null]>([
    ["darwin", NOTHING, "open"],
    ["win32", NOTHING, "rundll32"],
    ["linux", { DISPLAY: ":0" }, "xdg-open"],
    ["linux", { WAYLAND_DISPLAY: "wayland-0" }, "xdg-open"],
    ["linux", NOTHING, null],
    ["linux", { DISPLAY: ":0", CI: "true" }, null],
    ["darwin", { CI: "1" }, null],
    ["darwin", { SSH_CONNECTION: "a b" }, null],
    ["win32", { SSH_CLIENT: "a b" }, null],
    ["linux", { DISPLAY: "localhost:10.0", SSH_TTY: "/dev/pts/0" }, null],
  ])("on %s with %j is opened by %p", (platform, env, program) => {
    expect(browserCommand(env, platform)?.[0] ?? null).toBe(program);
  });

  /** What a terminal with a display opens, by a program that writes it down. */
  async function opened(args: string[], uri: string, env: Record<string, string> = {}): Promise<string | null> {
    const fake = fakeServer((path) =>
      path === "/auth/device/code"
        ? Response.json(deviceCode(fake, { verification_uri_complete: uri, interval: 0.01 }))
        : Response.json({ error: "access_denied", code: "access_denied" }, { status: 400 }),
    );
    await using home = await newHome(fake.url);
    const bin = await home.write("bin", { "xdg-open": `#!/bin/sh\nprintf '%s' "$*" > "${home.dir}/opened"\n` });
    await chmod(join(bin, "xdg-open"), 0o755);
    const PATH = `${bin}:${process.env["PATH"]}`;
    await home.runOnTerminal(["login", ...args], { env: { PATH, DISPLAY: ":0", ...env } });
    await fake.stop();
    const note = Bun.file(home.path("opened"));
    return (await note.exists()) ? note.text() : null;
  }

  const URI = "http://localhost:9/device?user_code=BCDF-GHJK";
  test.skipIf(process.platform !== "linux")("is opened at the approval page", async () => {
    expect(await opened([], URI)).toBe(URI);
  });
  test.skipIf(process.platform !== "linux").each<[string, string[], string, Record<string, string>]>([
    ["in CI", [], URI, { CI: "1" }],
    ["for --json", ["--json"], URI, {}],
    ["for an address that is no web page", [], "file:///etc/passwd", {}],
    ["for what is a flag", [], "--help", {}],
  ])("is not opened %s", async (_, args, uri, env) => {
    expect(await opened(args, uri, env)).toBeNull();
  });
});

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
    const from: Server = { base: fake.url, origin: fake.url, named: true };
    const code = await askForCode(from);
    const approval = await waitForApproval(code, () => askForApproval(from, code.device_code), clock);
    expect(approval).toEqual({ access_token: "svc_session_x", account_id: "a" });
    expect(waited).toEqual([1000, 6000]);
    await fake.stop();
  });
});

describe("--token", () => {
  test("is asked for at the server, saved, and told by its address", async () => {
    await using home = await newHome();
    const { code, out, err } = await home.run(["login", "--token", person.session_token]);
    expect([code, out]).toEqual([0, ""]);
    expect(err).toContain(`Signed in as ${person.email}`);
    expect(await home.saved("session.json")).toMatchObject({ session_token: person.session_token });
  });

  test.each([
    ["unknown", "svc_session_nobodys", 1, "unauthorized"],
    ["of a site", "svc_manage_x", 1, "unauthorized"],
    ["with what no header carries", "svc_session_ü", 2, "usage"],
  ])("%s: nothing is saved, and what was saved stays", async (_, token, exit, reason) => {
    await using home = await newHome();
    const refused = await home.run(["login", "--token", token, "--json"]);
    expect([refused.code, json(refused)["code"]]).toEqual([exit, reason]);
    expect(await home.hasSaved("session.json")).toBe(false);
    await home.run(["login", "--token", person.session_token]);
    expect((await home.run(["login", "--token", token])).code).toBe(exit);
    expect(await home.saved("session.json")).toMatchObject({ session_token: person.session_token });
  });

  test("nothing is saved where no server answers", async () => {
    await using home = await newHome("http://127.0.0.1:1");
    expect((await home.run(["login", "--token", "svc_session_x"])).code).toBe(1);
    expect(await home.hasSaved("session.json")).toBe(false);
  });

  test("SVC_TOKEN goes before what is saved, and that is told", async () => {
    await using home = await newHome();
    const { err } = await home.run(["login", "--token", person.session_token], { env: { SVC_TOKEN: "x" } });
    expect(err).toContain("SVC_TOKEN is set and goes before this session.");
  });

  test.each([
    [["login", "--token", "x", "--request"], "--token and --request are different ways"],
    [["login", "--check", "x", "--request"], "--request and --check are different ways"],
    [["login", "somewhere"], "svc login takes no argument"],
    [["logout", "x"], "svc logout takes no argument"],
    [["list", "x"], "svc list takes no argument"],
  ])("%j is wrong usage", async (args, sentence) => {
    await using home = await newHome();
    const { code, out, err } = await home.run(args);
    expect(code).toBe(2);
    expect(out + err).toContain(sentence);
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

describe("the sites of before", () => {
  test("anonymous sites of this server become the account's; what was skipped is told with its reason", async () => {
    await using home = await newHome();
    const other = await signUp(server);
    const site = async (folder: string) => {
      await home.write(folder, { "index.html": `<title>${folder}</title>` });
      return json(await home.run([folder, "--json"])) as { site_id: string; url: string; claim_token: string };
    };
    const [mine, twice, theirs, gone] = [
      await site("mine"),
      await site("twice"),
      await site("theirs"),
      await site("gone"),
    ];
    for (const [person_, { site_id, claim_token }] of [
      [other, theirs],
      [person, twice],
    ] as const) {
      await server.api(`/sites/${site_id}/claim`, {
        method: "POST",
        headers: { ...person_.bearer, "content-type": "application/json" },
        body: JSON.stringify({ claim_token }),
      });
    }
    server.remove({ ...gone, slug: slugOf(gone.url) });
    const ran = await home.run(["login", "--token", person.session_token]);
    expect(ran.code).toBe(0);
    expect(ran.err).toContain("1 site deployed here before: yours now, for good");
    expect(ran.err).toContain(mine.url);
    expect(ran.err).toContain(`${theirs.url} was skipped: it belongs to another account`);
    expect(ran.err).toContain(`${twice.url} was skipped: it was yours already`);
    expect(ran.err).toContain(`${gone.url} was skipped: it is gone`);
    const after = new Map((await home.links()).map((link) => [link["site_id"], link]));
    expect(after.get(mine.site_id)).toMatchObject({ expires_at: null, claim_token: null });
    expect(after.get(twice.site_id)).toMatchObject({ expires_at: null });
    expect(after.get(theirs.site_id)).toMatchObject({ expires_at: expect.any(Number) });
    expect(after.has(gone.site_id)).toBe(false);
    // What was attached is not asked for again.
    expect((await home.run(["login", "--token", person.session_token])).err).not.toContain(mine.url);
    expect((await home.run(["update", "mine", "--spa"])).code).toBe(0);
  });

  const linked = (n: number, origin: string, more: object = {}) => ({
    folder: `/p/${n}`,
    looked_up: false,
    origin,
    site_id: `site_${n}`,
    url: `http://s${n}.localhost`,
    manage_token: `svc_manage_${n}`,
    claim_token: null,
    expires_at: Date.now() + 1e6,
    used_at: n,
    ...more,
  });
  const accountOr = (answer: (request: Request) => Promise<Response>) => (path: string, _: number, request: Request) =>
    path === "/account" ? Response.json({ account_id: "acct_x", email: "x@example.org" }) : answer(request);
  async function remember(home: Home, projects: object[]): Promise<void> {
    await mkdir(home.config, { recursive: true });
    await writeFile(join(home.config, "projects.json"), JSON.stringify({ version: 1, projects }));
  }

  test("go in slices of at most 100; owned ones, those without a token and those of others stay home", async () => {
    const slices: string[][] = [];
    const fake = fakeServer(
      accountOr(async (request) => {
        const { sites } = (await request.json()) as { sites: { site_id: string; manage_token: string }[] };
        slices.push(sites.map(({ site_id }) => site_id));
        return Response.json({ attached: sites.map(({ site_id }) => site_id), skipped: [] });
      }),
    );
    await using home = await newHome(fake.url);
    const usual = Array.from({ length: 230 }, (_, n) => linked(n, fake.url));
    await remember(home, [
      ...usual,
      linked(3, fake.url, { folder: "/p/again" }),
      linked(900, "http://elsewhere.example"),
      linked(901, fake.url, { expires_at: null }),
      linked(902, fake.url, { manage_token: null }),
      linked(903, fake.url, { expires_at: 1 }),
    ]);
    const ran = json(await home.run(["login", "--token", "svc_session_x", "--json"]));
    await fake.stop();
    expect(slices.map(({ length }) => length)).toEqual([100, 100, 30]);
    expect(new Set(slices.flat()).size).toBe(230);
    expect(slices.flat()).not.toContain("site_900");
    expect(ran["attached"]).toHaveLength(230);
  });

  test("a slice that fails leaves the login, and what was attached before it", async () => {
    let calls = 0;
    const fake = fakeServer(
      accountOr(async (request) => {
        const { sites } = (await request.json()) as { sites: { site_id: string }[] };
        if (++calls > 1) return Response.json({ error: "Too often.", code: "rate_limited" }, { status: 429 });
        return Response.json({ attached: sites.map(({ site_id }) => site_id), skipped: [] });
      }),
    );
    await using home = await newHome(fake.url);
    await remember(
      home,
      Array.from({ length: 120 }, (_, n) => linked(n, fake.url)),
    );
    const { code, err } = await home.run(["login", "--token", "svc_session_x"]);
    await fake.stop();
    expect(code).toBe(0);
    expect(err).toContain("were not attached: Too often.");
    expect(await home.hasSaved("session.json")).toBe(true);
    expect((await home.links()).filter((link) => link["expires_at"] === null).length).toBeGreaterThan(0);
  });
});

describe("logout", () => {
  test("deletes the session alone, asks nothing of the server, and may be repeated", async () => {
    await using home = await newHome();
    await home.run([]);
    await home.run(["login", "--token", person.session_token]);
    const offline = { env: { DEPLOY_URL: "http://127.0.0.1:1" } };
    const first = await home.run(["logout"], offline);
    expect([first.code, first.out]).toEqual([0, ""]);
    expect(first.err).toContain("Signed out");
    expect(await home.hasSaved("session.json")).toBe(false);
    expect(await home.hasSaved("projects.json")).toBe(true);
    expect((await home.run(["logout"], offline)).err).toContain("There was no saved session.");
    expect(json(await home.run(["logout", "--json"]))).toEqual({ ok: true });
    expect((await server.api("/account", { headers: person.bearer })).status).toBe(200);
  });
});

describe("list", () => {
  test("the account's sites as an array, newest first", async () => {
    await using home = await newHome();
    const owner = await signUp(server);
    await home.run(["login", "--token", owner.session_token]);
    expect((await home.run(["list"])).out).toBe("[]\n");
    const first = json(await home.run(["--json"]));
    server.advance(1000);
    const second = json(await home.run(["dist/index.html", "--json"]));
    for (const flags of [[], ["--json"], ["-q"]]) {
      const { out, code } = await home.run(["list", ...flags]);
      expect(code).toBe(0);
      expect(JSON.parse(out)).toEqual(
        [second, first].map(({ site_id, url, version_id }) => ({
          site_id,
          url,
          slug: slugOf(url),
          label: null,
          created_at: expect.stringMatching(/Z$/),
          live_version_id: version_id,
        })),
      );
    }
    const env = { SVC_TOKEN: owner.session_token, SVC_CONFIG_DIR: home.path("empty") };
    expect(JSON.parse((await home.run(["list"], { env })).out)).toHaveLength(2);
  });

  test("without a session: exit 1 and the way to get one", async () => {
    await using home = await newHome();
    const { code, out, err } = await home.run(["list"]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("svc list needs your account: run svc login, or set SVC_TOKEN.");
    expect(json(await home.run(["list", "--json"]))).toMatchObject({ ok: false, code: "unauthorized" });
  });
});

describe("the session", () => {
  test("is shown to the server that gave it, and to no other", async () => {
    const fake = fakeServer(() => Response.json(DEPLOYED));
    await using home = await newHome();
    await home.run(["login", "--token", person.session_token]);
    await home.run(["dist"], { env: { DEPLOY_URL: fake.url } });
    await fake.stop();
    expect(fake.asked.map(({ headers }) => headers.get("authorization"))).toEqual([null]);
  });

  test("that has ended makes no anonymous site: it is told how to go on", async () => {
    await using home = await newHome();
    const other = await signUp(server);
    await home.run(["login", "--token", other.session_token]);
    await server.api("/auth/logout", { method: "POST", headers: other.bearer });
    const { code, err, out } = await home.run([]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("The token came from the saved session. Sign in again: svc login");
    expect(json(await home.run(["list", "--json"]))["code"]).toBe("unauthorized");
  });
});
