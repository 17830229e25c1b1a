/** The compiled programs, started from a folder that is none of ours and means them harm. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { build, suffix } from "../kit/built.ts";
import { Home, json } from "../kit/cli.ts";
import { startProcess, type ServerProcess } from "../kit/process.ts";

setDefaultTimeout(120_000);

let home: Home;
let hostile: string;
let server: ServerProcess;

const binary = (name: string) => home.path("bin", name + suffix);

beforeAll(async () => {
  home = await Home.make("");
  await build(home.path("bin"), ["svc", "svc-server"]);
  hostile = await home.write("hostile", {
    ".env": "SVC_MAX_FILES=1\nDEPLOY_URL=http://127.0.0.1:1\nSVC_TOKEN=svc_session_planted\n",
    ".env.local": "SVC_MAX_FILES=1\n",
    "bunfig.toml": 'preload = ["./preload.ts"]\n[run]\npreload = ["./preload.ts"]\n',
    "preload.ts": `require("node:fs").writeFileSync(${JSON.stringify(home.path("hostile", "preloaded"))}, "")`,
    "package.json": '{"name":"hostile","type":"commonjs"}',
    "dist/index.html": "<!doctype html><title>Compiled</title><p>from a binary",
    "dist/app.js": "console.log('x')",
  });
  server = await startProcess(["--data-dir", home.path("data"), "--log", "off"], {
    command: [binary("svc-server")],
    env: { HOME: home.dir },
    cwd: hostile,
  });
});

afterAll(async () => {
  server?.kill("SIGKILL");
  await server?.exited;
  await home[Symbol.asyncDispose]();
});

const svc = (args: string[], env: Record<string, string> = { DEPLOY_URL: server.base_url }) =>
  home.run(args, { cwd: hostile, env, program: [binary("svc")] });

test("svc-server prints one ready line and serves", async () => {
  expect(server.ready_line).toMatch(
    /^svc-server listening on http:\/\/localhost:\d+ \(sites at http:\/\/\*\.localhost:\d+\)$/,
  );
  expect(await (await fetch(`${server.base_url}/healthz`)).json()).toEqual({ ok: true });
});

test("svc calls itself as it is typed: by its file, or by its name where PATH has it", async () => {
  const run = (cwd: string, PATH: string) =>
    home.run(["update"], { cwd, env: { PATH, DEPLOY_URL: server.base_url }, program: [binary("svc")] });
  expect((await run(home.path("bin"), "")).err).toContain(`Deploy it: ./svc${suffix}, or`);
  expect((await run(home.dir, "")).err).toContain(`Deploy it: bin/svc${suffix}, or`);
  expect((await run(home.dir, home.path("bin"))).err).toContain("Deploy it: svc, or");
});

test("svc deploys, updates, lists and rolls back against it", async () => {
  const first = json(await svc(["--json"]));
  expect(first).toMatchObject({ ok: true, source: "dist", files: 2 });
  const { host } = new URL(String(first["url"]));
  const page = async () => (await fetch(server.base_url, { headers: { host } })).text();
  expect(await page()).toContain("from a binary");
  expect((await svc(["update"])).err).toContain("No changes (already live)");
  await home.write("hostile/dist", { "index.html": "<!doctype html><title>Two</title><p>second" });
  expect(json(await svc(["update", "--json"]))).toMatchObject({ ok: true, changed: true });
  expect(await page()).toContain("second");
  expect((await svc(["rollback", "-q"])).out).toBe(`${first["url"]}\n`);
  expect(await page()).toContain("from a binary");
  expect((await svc(["versions"])).out.trimEnd().split("\n")).toHaveLength(2);
});

test("Markdown is rendered in the binary too, in its thread under a limit of time", async () => {
  const folder = await home.write("notes", { "README.md": "# Compiled notes", "bad.md": "_a*".repeat(60_000) });
  const deployed = await svc([folder, "--json"]);
  expect(deployed.err).toContain("bad.md could not be rendered in time, so its page shows its source.");
  const url = String(json(deployed)["url"]);
  const page = await fetch(server.base_url, { headers: { host: new URL(url).host } });
  expect(await page.text()).toContain('<h1 id="compiled-notes">Compiled notes</h1>');
});

test("the manual is in the binary, with its search and what its pages load", async () => {
  const page = async (path: string) => (await fetch(server.base_url + path)).text();
  const chapter = await page("/docs/markdown");
  expect(chapter).toContain('<h1 id="markdown-sites">Markdown sites</h1>');
  expect(await page("/docs?q=quarantine")).toContain("/docs/self-hosting#quarantine");
  for (const [, path] of chapter.matchAll(/"(\/assets\/[^"]+)"/g)) {
    expect([path, (await fetch(server.base_url + path!)).status]).toEqual([path, 200]);
  }
});

test("the widget of comments is in the binary, under its content's hash", async () => {
  const { host } = new URL(String(json(await svc(["--json"]))["url"]));
  const script = async (path: string) => (await fetch(server.base_url + path, { headers: { host } })).text();
  const path = /\/_svc\/c\/([0-9a-f]{12})\.js/.exec(await script("/_svc/c.js"))!;
  const widget = await script(path[0]);
  expect(new Bun.CryptoHasher("sha256").update(widget).digest("hex").slice(0, 12)).toBe(path[1]!);
});

test("neither takes a .env or a bunfig.toml from where it is started", async () => {
  expect(await (await fetch(`${server.base_url}/limits`)).json()).toMatchObject({ max_files: 200 });
  const unset = await svc(["--json"], {});
  expect(unset.out).not.toContain("127.0.0.1:1");
  expect(json(await svc(["--json"]))).toMatchObject({ ok: true, owner_account_id: null });
  expect(existsSync(home.path("hostile", "preloaded"))).toBe(false);
});

test("a build for a hosted service knows its address; DEPLOY_URL still beats it", async () => {
  await build(home.path("hosted"), ["svc"], { SVC_DEFAULT_SERVER: server.base_url });
  const program = [home.path("hosted", `svc${suffix}`)];
  expect(json(await home.run(["--json"], { cwd: hostile, program }))).toMatchObject({ ok: true });
  const env = { DEPLOY_URL: "http://127.0.0.1:2" };
  expect((await home.run([], { cwd: hostile, program, env })).err).toContain("No server answers at http://127.0.0.1:2");
});

test.each([
  [["--version"], 0, "svc 0.3.0\n"],
  [["--help"], 0, "svc [path]"],
  [["--nonsense"], 2, ""],
  [["nowhere"], 1, ""],
])("svc %j exits %i", async (args, code, out) => {
  const ran = await svc(args);
  expect(ran.code).toBe(code);
  expect(ran.out).toContain(out);
});

test("on SIGTERM svc-server drains and exits 0", async () => {
  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
  expect(server.stderr()).toBe("");
  expect(await readdir(hostile)).not.toContain("svc-data");
});

test("nobody answers: the hint names the svc-server that lies beside svc", async () => {
  const hosted = home.path("hosted");
  const program = [join(hosted, `svc${suffix}`)];
  const said = async () => (await home.run(["login"], { cwd: hosted, env: { PATH: "" }, program })).err;
  expect(await said()).toContain("Start one in another terminal with svc-server, or name yours");
  await symlink(binary("svc-server"), join(hosted, `svc-server${suffix}`));
  expect(await said()).toContain(`Start one in another terminal with ./svc-server${suffix}, or name yours`);
});
