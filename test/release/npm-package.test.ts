/** CONTRACT 8: the npm package `svc`, packed, installed and run by the npm and the Node of this machine. `.ci/run` does the
 *  same on Node 18, 20 and the newest. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { copyFile, cp, mkdir, readdir, readFile, stat, symlink } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import packageJson from "../../package.json";
import { Home, json, type RunOptions } from "../kit/cli.ts";
import { ROOT } from "../kit/paths.ts";
import { startServer, type TestServer } from "../kit/server.ts";

setDefaultTimeout(120_000);

const NPM = Bun.which("npm")!;
const NPX = Bun.which("npx")!;
/** What JavaScript, fetch and `node:` have only since a later Node than 18. */
const LATER =
  /\bfromAsync\b|\.bytes\(\)|\.to(Sorted|Reversed|Spliced)\(|\bwithResolvers\b|\bgroupBy\(|\bURL\.parse\(|\bAbortSignal\.any\(|\.toBase64\(|\bfromBase64\(|\.isWellFormed\(|\.(keys|values|entries)\(\)\s*\.(map|filter|toArray|some|every|find)\(|\bimport\.meta\.(dir|dirname|filename|main)\b|\b(await )?using [a-z]/;

/** No network, no other folder than the test's. */
const OFFLINE = { npm_config_offline: "true", npm_config_update_notifier: "false", npm_config_loglevel: "error" };

let server: TestServer;
let home: Home;
/** The tarball; beside it the folder into which it was installed. */
let tarball: string;
let globals: string;

/** What the pack takes: the README is another one meanwhile, and other tests read the checkout's. */
async function copyOfCheckout(): Promise<string> {
  const checkout = home.path("checkout");
  await mkdir(checkout);
  for (const file of ["package.json", "bun.lock", "README.md", "LICENSE", "cli.ts", "lib.ts"])
    await copyFile(join(ROOT, file), join(checkout, file));
  for (const folder of ["src", "scripts", "types"])
    await cp(join(ROOT, folder), join(checkout, folder), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(checkout, "node_modules"));
  return checkout;
}

/** A command in the test's home, which must end well. */
async function done(command: string[], options: Pick<RunOptions, "cwd" | "env"> = {}): Promise<string> {
  const ran = await home.run([], { program: command, ...options, env: { ...OFFLINE, ...options.env } });
  if (ran.code !== 0) throw new Error(`${command.join(" ")} ended with ${ran.code}: ${ran.err}`);
  return ran.out;
}

const inTarball = (path: string): Promise<string> => done(["tar", "-xzOf", tarball, `package/${path}`]);
const CHECKOUT_README = await readFile(join(ROOT, "README.md"), "utf8");

beforeAll(async () => {
  server = await startServer();
  home = await Home.make(server.base_url);
  const checkout = await copyOfCheckout();
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`;
  await done([NPM, "pack", "--pack-destination", home.dir], { cwd: checkout, env: { PATH } });
  tarball = home.path(`svc-${packageJson.version}.tgz`);
  expect(await readFile(join(checkout, "README.md"), "utf8")).toBe(CHECKOUT_README);
  globals = home.path("globals");
  await done([NPM, "install", "--global", "--prefix", globals, tarball]);
});

afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

describe("what is in it", () => {
  test("the command, the library with its types, licence and README: no more", async () => {
    const rows = (await done(["tar", "-tzf", tarball])).trim().split("\n");
    expect(rows.map((row) => row.replace("package/", "")).toSorted()).toEqual(
      ["LICENSE", "README.md", "dist/cli.js", "dist/lib.d.ts", "dist/lib.js", "package.json"].toSorted(),
    );
  });

  test("package.json names the command, and nothing to install beside it", async () => {
    const packed = JSON.parse(await inTarball("package.json")) as Record<string, unknown>;
    expect(packed["bin"]).toEqual({ svc: "dist/cli.js" });
    expect(packed).not.toHaveProperty("dependencies");
    expect(packed).not.toHaveProperty("optionalDependencies");
    expect(packed).not.toHaveProperty("peerDependencies");
    expect(await readdir(join(globals, "lib", "node_modules"))).toEqual(["svc"]);
    expect(existsSync(join(globals, "lib", "node_modules", "svc", "node_modules"))).toBe(false);
  });

  test.each(["dist/cli.js", "dist/lib.js"])("%s is one file that imports node: alone", async (path) => {
    const text = await inTarball(path);
    const imported = new Bun.Transpiler({ loader: "js" }).scanImports(text.replace(/^#!.*/, ""));
    expect(imported.length).toBeGreaterThan(3);
    expect(imported.map((one) => one.path).filter((name) => !name.startsWith("node:"))).toEqual([]);
    expect(text).not.toMatch(/\brequire\(|\bimport\((?!"node:)/);
    expect(LATER.exec(text)?.[0]).toBeUndefined();
  });

  test("the command begins with one line for Node, and has every module once", async () => {
    const text = await inTarball("dist/cli.js");
    expect(text.match(/^#!.*$/gm)).toEqual(["#!/usr/bin/env node"]);
    // A bundle of cli.ts with its own first line has src/cli/failure.ts and src/cli/saved/shared-file.ts twice.
    for (const once of ["has a name that is too long", "Application Support"])
      expect([once, text.split(once).length - 1]).toEqual([once, 1]);
  });

  test("it is as large as the manual says, give or take a sixth", async () => {
    const manual = await readFile(join(ROOT, "docs", "cli.md"), "utf8");
    const [, said] = /^\| the npm package .*\| (\d+) KB +\|/m.exec(manual)!;
    const { size } = await stat(tarball);
    expect(size / 1000 / Number(said)).toBeWithin(5 / 6, 7 / 6);
  });

  test("the README's links are absolute, and each leads to a file of the checkout", async () => {
    const readme = await inTarball("README.md");
    const prose = readme.replaceAll(/```[^]*?```|`[^`\n]*`/g, "");
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)|\b(?:src|srcset|href)="([^"]+)"/g)].map(
      ([, markdown, html]) => markdown ?? html!,
    );
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter((link) => !/^(https?:\/\/|#)/.test(link))).toEqual([]);
    const base = packageJson.repository.url.replace(/\.git$/, "");
    const paths = links.filter((link) => link.startsWith(base)).map((link) => link.slice(base.length));
    expect(paths.length).toBeGreaterThan(20);
    const tag = `v${packageJson.version}`;
    const lost = paths.filter((path) => {
      const [, file] = new RegExp(`^/(?:blob|raw)/${tag.replaceAll(".", "\\.")}/([^#]+)`).exec(path) ?? [];
      return file === undefined || !existsSync(join(ROOT, file));
    });
    expect(lost).toEqual([]);
    const relative = readme.replaceAll(new RegExp(`${base}/(?:blob|raw)/${tag}/`, "g"), "");
    expect(relative).toBe(CHECKOUT_README);
  });
});

describe("npm install --global", () => {
  const svc = (args: string[], cwd: string, env: Record<string, string> = {}) =>
    home.run(args, {
      cwd,
      program: ["svc"],
      env: { PATH: `${join(globals, "bin")}${delimiter}${process.env["PATH"]}`, ...env },
    });

  test("svc deploys, updates, lists and rolls back as the binary does, and calls itself svc", async () => {
    const project = await home.write("project", { "dist/index.html": "<!doctype html><title>One</title><p>first" });
    const first = json(await svc(["--json"], project));
    expect(first).toMatchObject({ ok: true, source: "dist", files: 1 });
    const host = new URL(String(first["url"])).host;
    const page = async () => (await fetch(server.base_url, { headers: { host } })).text();
    expect(await page()).toContain("first");
    expect((await svc(["update"], project)).err).toContain("No changes (already live)");
    await home.write("project/dist", { "index.html": "<!doctype html><title>Two</title><p>second" });
    expect(json(await svc(["update", "--json"], project))).toMatchObject({ ok: true, changed: true });
    expect(await page()).toContain("second");
    expect((await svc(["versions"], project)).out.trimEnd().split("\n")).toHaveLength(2);
    expect((await svc(["rollback", "-q"], project)).out).toBe(`${first["url"]}\n`);
    expect(await page()).toContain("first");
    expect((await svc(["list"], project)).err).toContain("run svc login");
  });

  test("a .env and a bunfig.toml of the folder that it runs in are no settings of its", async () => {
    const hostile = await home.write("hostile", {
      ".env": "DEPLOY_URL=http://127.0.0.1:1\nSVC_TOKEN=svc_session_planted\n",
      "bunfig.toml": 'preload = ["./preload.ts"]\n',
      "preload.ts": 'throw new Error("preloaded")',
      "package.json": '{"type":"commonjs"}',
      "dist/index.html": "<title>t</title>",
    });
    expect(json(await svc(["--json"], hostile))).toMatchObject({ ok: true, owner_account_id: null });
  });

  test("a name below localhost is this machine, whatever the system knows of it", async () => {
    const asked: string[] = [];
    await using other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ headers }) => (asked.push(headers.get("host")!), new Response("", { status: 404 })),
    });
    const folder = await home.write("named", { "dist/index.html": "<title>t</title>" });
    const host = `no-such-name.localhost:${other.port}`;
    expect((await svc([], folder, { DEPLOY_URL: `http://${host}` })).code).toBe(1);
    expect(asked).toContain(host);
  });

  test("an answer that breaks off is told without Node's own code for it", async () => {
    using listener = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data: (socket) =>
          void socket.end("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{"),
      },
    });
    const origin = `http://127.0.0.1:${listener.port}`;
    const ran = await svc(["list"], home.dir, { DEPLOY_URL: origin, SVC_API_KEY: "svc_session_x" });
    expect(ran.code).toBe(1);
    expect(ran.err).toContain(`The connection to ${origin} broke. Try again.`);
  });

  test.each([
    [["--version"], 0, `svc ${packageJson.version}\n`, ""],
    [["--help"], 0, "svc [path]", ""],
    [["--nonsense"], 2, "", "--nonsense"],
    [["nowhere"], 1, "", "There is no file or folder"],
  ])("svc %j exits %i", async (args, code, out, err) => {
    const ran = await svc(args, home.dir);
    expect(ran.code).toBe(code);
    expect(ran.out).toContain(out);
    expect(ran.err).toContain(err);
  });
});

describe("npx", () => {
  test("npx with the tarball needs nothing else, and what it prints can be typed", async () => {
    await home.write("elsewhere", { "site/index.html": "<title>By npx</title>" });
    const cwd = home.path("elsewhere");
    const { out, err, code } = await home.run([], {
      program: [NPX, "--yes", `../svc-${packageJson.version}.tgz`, "./site"],
      cwd,
      env: OFFLINE,
    });
    expect([code, out]).toEqual([0, expect.stringMatching(/^http:\/\/[a-z0-9-]+\.localhost:\d+\n$/)]);
    expect(err).toContain(`npx ../svc-${packageJson.version}.tgz update ./site publishes your next version here.`);
  });

  test("npx svc in a project that has the package as a dependency", async () => {
    const project = await home.write("with-svc", { "package.json": '{"name":"p","version":"1.0.0"}' });
    await done([NPM, "install", tarball], { cwd: project });
    expect(await readdir(join(project, "node_modules"))).toContain("svc");
    const { err } = await home.run([], { program: [NPX, "svc", "list"], cwd: project, env: OFFLINE });
    expect(err).toContain("npx svc list needs your account: run npx svc login");
  });
});
