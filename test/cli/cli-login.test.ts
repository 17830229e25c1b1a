/** `svc login`: a person, a browser, or a token (SPEC, "CLI"; CONTRACT 5 and 8). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { browserCommand } from "../../src/cli/terminal/open-browser.ts";
import { ctrlCAt, homeWithSite, json } from "../kit/cli.ts";
import { deviceCode, fakeServer } from "../kit/fake-server.ts";
import { decideLogin } from "../kit/people.ts";
import { sharedPerson } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const { server, person } = await sharedPerson();

const newHome = (at = server.base_url) => homeWithSite(at);

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
    const { code, raw } = await home.runOnTerminal(["login"], {}, ctrlCAt(/Waiting for you/));
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
    [["login", "--check", "x", "somewhere"], "--check asks the server that gave the code"],
    [["logout", "x"], "svc logout takes no argument"],
    [["list", "x"], "svc list takes no argument"],
  ])("%j is wrong usage", async (args, sentence) => {
    await using home = await newHome();
    const { code, out, err } = await home.run(args);
    expect(code).toBe(2);
    expect(out + err).toContain(sentence);
  });
});
