/** BEYOND 14: every server gives out its own `svc`, with itself as the default server. `.ci/run` does the same with the npm of
 *  Node 18, 20 and the newest. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import packageJson from "../../package.json";
import { Home, json } from "../kit/cli.ts";
import { local, startProcess, temporaryFolder } from "../kit/process.ts";
import { signUp } from "../kit/people.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { visitorOf } from "../kit/visitor.ts";

setDefaultTimeout(120_000);

const QUIETLY = { npm_config_update_notifier: "false", npm_config_loglevel: "error", npm_config_fetch_retries: "0" };
/** npm 12 wants to be told that it may fetch from elsewhere than its registry. */
const FROM_HERE = "--allow-remote=root";
const [NPM, NPX] = [Bun.which("npm")!, Bun.which("npx")!];

let server: TestServer;
let home: Home;
let url: string;
/** For npm: a machine without /etc/hosts does not know localhost, and svc does. */
let by_address: string;

beforeAll(async () => {
  server = await startServer();
  home = await Home.make("");
  url = `${server.base_url}/svc.tgz`;
  by_address = `http://127.0.0.1:${server.port}/svc.tgz`;
  await home.write("site", { "index.html": "<title>Given</title>" });
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const fetched = async (address: string, init: RequestInit = {}): Promise<{ answer: Response; bytes: Uint8Array }> => {
  const answer = await fetch(address, init);
  return { answer, bytes: await answer.bytes() };
};

/** The files in a package, path → text. */
async function unpacked(bytes: Uint8Array): Promise<Map<string, string>> {
  const archive = new Bun.Archive(bytes);
  const files = await archive.files();
  return new Map(await Promise.all([...files].map(async ([path, file]) => [path, await file.text()] as const)));
}

describe("GET /svc.tgz", () => {
  test("is one file for all who ask, without an account, and is kept by its ETag", async () => {
    const { answer, bytes } = await fetched(url);
    expect([answer.status, Object.fromEntries(answer.headers)]).toEqual([
      200,
      expect.objectContaining({
        "content-type": "application/gzip",
        "content-disposition": `attachment; filename="svc-${packageJson.version}.tgz"`,
        "cache-control": "no-cache",
        "x-content-type-options": "nosniff",
        etag: expect.stringMatching(/^"[0-9a-f]{16}"$/),
      }),
    ]);
    expect((await fetched(url)).bytes).toEqual(bytes);
    const etag = answer.headers.get("etag")!;
    expect((await fetch(url, { headers: { "if-none-match": etag } })).status).toBe(304);
    const head = await fetch(url, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length"), head.headers.get("etag")]).toEqual([
      200,
      String(bytes.length),
      etag,
    ]);
  });

  test.each<[range: string, condition: Record<string, string>, status: number, first: number, last: number]>([
    ["bytes=0-9", {}, 206, 0, 9],
    ["bytes=100-", {}, 206, 100, -1],
    ["bytes=-5", {}, 206, -5, -1],
    ["bytes=0-9", { "if-range": '"another"' }, 200, 0, -1],
    ["bytes=9-0", {}, 200, 0, -1],
  ])("Range %s with %j is %i", async (range, condition, status, first, last) => {
    const { bytes } = await fetched(url);
    const { answer, bytes: part } = await fetched(url, { headers: { range, ...condition } });
    const from = first < 0 ? bytes.length + first : first;
    const to = last < 0 ? bytes.length + last : last;
    expect([answer.status, part]).toEqual([status, bytes.subarray(from, to + 1)]);
    if (status === 206) expect(answer.headers.get("content-range")).toBe(`bytes ${from}-${to}/${bytes.length}`);
  });

  test("a range behind its end is 416 with the size", async () => {
    const { bytes } = await fetched(url);
    const { answer } = await fetched(url, { headers: { range: `bytes=${bytes.length}-` } });
    expect([answer.status, answer.headers.get("content-range")]).toEqual([416, `bytes */${bytes.length}`]);
  });

  test("holds what npm pack would, without scripts, and names the server in program and library", async () => {
    const files = await unpacked((await fetched(url)).bytes);
    expect([...files.keys()].toSorted()).toEqual(
      ["LICENSE", "README.md", "dist/cli.js", "dist/lib.d.ts", "dist/lib.js", "package.json"].map(
        (path) => `package/${path}`,
      ),
    );
    const { name, version, bin, exports, engines, type } = packageJson;
    const described = JSON.parse(files.get("package/package.json")!) as Record<string, unknown>;
    expect(described).toMatchObject({ name, version, bin, exports, engines, type });
    expect(described).not.toContainAnyKeys(["scripts", "devDependencies", "dependencies", "private"]);
    for (const path of ["dist/cli.js", "dist/lib.js"]) {
      expect(files.get(`package/${path}`)).toContain(`const SVC_DEFAULT_SERVER = ${JSON.stringify(server.base_url)};`);
    }
    expect(files.get("package/dist/cli.js")).toStartWith("#!/usr/bin/env node\n");
  });

  test("is not on a site's host, and takes no other method", async () => {
    const { slug } = await server.deploy({ "index.html": "<title>x</title>" });
    expect((await server.site(slug, "/svc.tgz")).status).toBe(404);
    expect((await fetch(url, { method: "POST" })).status).toBe(405);
  });
});

describe("npm and npx of this machine take it", () => {
  test("npx deploys with nothing installed, says how to call it again, and updates", async () => {
    const npx = [NPX, "-y", FROM_HERE, by_address];
    const first = await home.run(["./site"], { program: npx, env: QUIETLY });
    expect([first.code, first.out]).toEqual([0, expect.stringMatching(/^http:\/\/[a-z0-9-]+\.localhost:\d+\n$/)]);
    expect(first.err).toContain(`npx ${FROM_HERE} ${by_address} update ./site publishes your next version here.`);
    expect(await (await fetch(first.out.trim())).text()).toContain("Given");
    await home.write("site", { "index.html": "<title>Given again</title>" });
    expect((await home.run(["update", "./site"], { program: npx, env: QUIETLY })).out).toBe(first.out);
  });

  test("npm installs it; its server goes behind DEPLOY_URL and a login, and one line says which was used", async () => {
    await using other = await startServer();
    const globals = home.path("globals");
    const install = [NPM, "install", "--global", "--prefix", globals, FROM_HERE, by_address];
    expect((await home.run([], { program: install, env: QUIETLY })).code).toBe(0);
    const program = [join(globals, "bin", "svc")];
    const version = await home.run(["--version"], { program });
    expect(version.out).toBe(`svc ${packageJson.version}\n${server.base_url}\n`);
    const own = await home.run(["site"], { program });
    expect(own.out).toEndWith(`.localhost:${server.port}\n`);
    expect(own.err).not.toContain("This svc came from");
    const env = { DEPLOY_URL: other.base_url };
    const elsewhere = await home.run(["site"], { program, env });
    expect(elsewhere.out).toEndWith(`.localhost:${other.port}\n`);
    expect(elsewhere.err).toContain(
      `On ${other.base_url}, as DEPLOY_URL says. This svc came from ${server.base_url}.\n`,
    );
    const person = await signUp(other);
    await home.run(["login", other.base_url, "--token", person.session_token], { program });
    expect((await home.run(["site"], { program })).err).toContain("as your last login says.");
    expect(json(await home.run(["site", "--json"], { program }))).toMatchObject({ ok: true });
    await home.run(["logout"], { program });
  });
});

test("the compiled server carries it", async () => {
  await using dir = await temporaryFolder();
  const compiled = await startProcess(["--data-dir", dir.path]);
  const files = await unpacked((await fetched(`${local(compiled)}/svc.tgz`)).bytes);
  expect(files.get("package/dist/cli.js")).toContain(`"http://localhost:${compiled.port}"`);
  await compiled.end();
});

test("start page, empty dashboard, llms.txt and manual say the line with the server's own address", async () => {
  const ann = await visitorOf(server);
  const line = `npx -y ${FROM_HERE} ${url} ./my-site`;
  const install = `npm install --global ${FROM_HERE} ${url}`;
  const pages: Record<string, string> = {};
  for (const path of ["/", "/dashboard", "/docs/cli"]) pages[path] = (await ann.read(path)).text;
  pages["/llms.txt"] = await (await fetch(`${server.base_url}/llms.txt`)).text();
  for (const path of ["/", "/docs/cli", "/llms.txt"]) expect(pages[path]).toContain(line);
  for (const path of Object.keys(pages)) expect(pages[path]).toContain(install);
});
