/** How the CLI reads its arguments, and what it says of itself: exit codes, help, version, folders. */
import { beforeAll, describe, expect, test, setDefaultTimeout } from "bun:test";
import { dirname, join } from "node:path";
import { configDir } from "../../src/cli/saved/shared-file.ts";
import packageJson from "../../package.json" with { type: "json" };
import { CLI, Home, json } from "../kit/cli.ts";
import { DEPLOYED, fakeServer } from "../kit/fake-server.ts";
import { shared } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const home = shared(await Home.make("http://127.0.0.1:1"));
beforeAll(async () => {
  await home.write("", { "dist/index.html": "<title>t</title>" });
});

describe("arguments", () => {
  test.each([
    [["--jsn"], "Unknown flag --jsn. Did you mean --json?"],
    [["--quite"], "Unknown flag --quite. Did you mean --quiet?"],
    [["-x"], "Unknown flag -x."],
    [["-qx"], "Unknown flag -x."],
    [["--hepl"], "Did you mean --help?"],
    [["update", "--sit", "x"], "Unknown flag --sit. Did you mean --site?"],
    [["update", "--tok=x"], "Did you mean --token?"],
    [["update", "--nospa"], "Did you mean --no-spa?"],
    [["--frobnicate"], "Unknown flag --frobnicate. See svc --help."],
    [
      ["--site", "site_x"],
      "Unknown flag --site. It belongs to svc update, svc preview, svc promote, svc previews, svc rename, svc open, svc versions, svc rollback, svc explain, svc stats, svc diff, svc forget, svc access, svc domain, svc tokens, svc token, svc comments.",
    ],
    [["versions", "--spa"], "Unknown flag --spa."],
    [["forget", "--token", "x"], "Unknown flag --token."],
    [["dist", "--compress"], "Unknown flag --compress."],
    [["update", "--site"], "--site needs a value: --site <id>"],
    [["update", "--site", "--json"], "--site needs a value"],
    [["update", "--site="], "--site was given an empty value."],
    [["--json=1"], "--json takes no value."],
    [["a", "b"], "svc takes one argument, not 2. See svc --help."],
    [["coments", "enable"], "There is no svc command coments. Did you mean svc comments enable?"],
    [["tokesn", "re voke"], "Did you mean svc tokens 're voke'?"],
    [["dist", "site"], "svc takes one argument, not 2. See svc --help."],
    [["update", "a", "b"], "svc update takes one argument, not 2."],
  ])("%p exits 2: %s", async (args, sentence) => {
    const { code, out, err } = await home.run(args);
    const said = args.includes("--json") ? String(json({ out })["error"]) : err;
    expect(code).toBe(2);
    expect(said).toContain(sentence);
    if (!args.includes("--json")) expect(out).toBe("");
  });

  test("wrong usage with --json is JSON too", async () => {
    const ran = await home.run(["--json", "--quux"]);
    expect([ran.code, ran.err]).toEqual([2, ""]);
    expect(json(ran)).toEqual({ ok: false, error: "Unknown flag --quux. See svc --help.", code: "usage" });
  });

  test("flags may stand before the command and in one word", async () => {
    const fake = fakeServer(() => Response.json({ ...DEPLOYED, live_version_id: "a", versions: [] }));
    const env = { DEPLOY_URL: fake.url };
    expect((await home.run(["--site", "site_x", "--token", "t", "versions"], { env })).code).toBe(0);
    expect((await home.run(["-qh"], { env })).out).toContain("svc turns a folder");
    await fake.stop();
  });
});

describe("commands to type are named as this one was", () => {
  const ROOT = dirname(CLI[1]!);
  const PATH = process.env["PATH"] ?? "";
  const CASES: [string, string, Record<string, string>, string][] = [
    ["in the checkout", ROOT, {}, "bun cli.ts"],
    ["in a folder of it", join(ROOT, "test"), {}, "bun ../cli.ts"],
    ["by npx, which leaves no bun behind", ROOT, { npm_lifecycle_event: "npx" }, `npx -y bun@${Bun.version} cli.ts`],
  ];
  test.each(CASES)("from source, %s", async (_, cwd, env, called) => {
    const run = async (...args: string[]) => home.run(args, { cwd, env: { PATH, ...env } });
    expect((await run("update")).err).toContain(`Deploy it: ${called}, or`);
    expect((await run("udpate")).err).toContain(`Did you mean ${called} update?`);
    expect((await run("list")).err).toContain(`${called} list needs your account: run ${called} login, or`);
    expect((await run("--help")).out).toContain(`${called} rollback [version] `);
  });
});

describe("help and version", () => {
  test.each([["-v"], ["--version"]])("%s prints the version of the package", async (flag) => {
    expect(await home.run([flag])).toEqual({ code: 0, out: "svc 0.3.0\n", err: "" });
    expect(packageJson.version).toBe("0.3.0");
    expect((await home.run(["update", flag])).out).toBe("svc 0.3.0\n");
  });

  test.each([["-h"], ["--help"]])("%s lists every command, and nothing that is not there", async (flag) => {
    const { code, out, err } = await home.run([flag]);
    expect([code, err]).toEqual([0, ""]);
    const commands = [...out.matchAll(/^  svc (\w+) /gm)].map(([, name]) => name);
    expect(commands).toEqual([
      "update",
      "preview",
      "promote",
      "previews",
      "rename",
      "open",
      "versions",
      "rollback",
      "explain",
      "stats",
      "pull",
      "diff",
      "export",
      "import",
      "forget",
      "login",
      "logout",
      "whoami",
      "list",
      "usage",
      "claim",
      "delete",
      "access",
      "domain",
      "tokens",
      "token",
      "comments",
      "install",
    ]);
    expect(out).toContain("svc [path]");
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  test.each([
    ["update", ["--site <id>", "--token <manage_token>", "--spa", "--no-spa", "--json", "-q, --quiet", "-h, --help"]],
    ["versions", ["--site <id>", "--json", "-h, --help"]],
    ["rollback", ["--site <id>", "--token <manage_token>", "--json", "-q, --quiet", "-h, --help"]],
    ["forget", ["--site <id>", "--json", "-h, --help"]],
    ["login", ["--token <session_token>", "--request", "--check <id>", "--json", "-q, --quiet", "-h, --help"]],
    ["logout", ["--json", "-q, --quiet", "-h, --help"]],
    ["list", ["--json", "-q, --quiet", "-h, --help"]],
    ["claim", ["--token <claim_token>", "--json", "-q, --quiet", "-h, --help"]],
    ["install", ["--agents", "--claude", "--cursor", "--copilot", "--windsurf", "--cline", "--roo", "--gemini"]],
    ["install", ["--all", "--global", "--list", "--dry-run", "--print", "--json", "-q, --quiet", "-h, --help"]],
  ])("svc %s --help shows its flags, and does nothing else", async (command, flags) => {
    for (const args of [
      [command, "--help"],
      ["-h", command],
    ]) {
      const { code, out } = await home.run(args);
      expect(code).toBe(0);
      expect(out).toContain(`svc ${command}`);
      for (const flag of flags) expect(out).toContain(flag);
    }
  });
});

describe("the places of the config folder", () => {
  test.each<[string, Record<string, string>, string]>([
    ["darwin", {}, "/u/me/Library/Application Support/svc"],
    ["linux", {}, "/u/me/.config/svc"],
    ["linux", { XDG_CONFIG_HOME: "/xdg" }, "/xdg/svc"],
    ["win32", { APPDATA: "C:\\u\\me\\AppData\\Roaming" }, "C:\\u\\me\\AppData\\Roaming\\svc"],
    ["darwin", { SVC_CONFIG_DIR: "/own" }, "/own"],
  ])("%s with %j: %s", (platform, env, expected) => {
    expect(configDir(env, platform, "/u/me")).toBe(expected);
  });
});
