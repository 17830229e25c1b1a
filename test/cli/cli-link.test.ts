/** `svc [path]`: whose site it becomes, and what is remembered of it (SPEC, "CLI"; CONTRACT 8). */
import { describe, expect, test, setDefaultTimeout } from "bun:test";
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { CLI, Home, json } from "../kit/cli.ts";
import { DEPLOYED, fakeServer } from "../kit/fake-server.ts";
import { shared, sharedServer } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const server = await sharedServer("--max-files", "20", "--max-bytes", "100000", "--max-zip-bytes", "60000");
const home = shared(await Home.make(server.base_url));

describe("credentials: SVC_TOKEN, then the saved session, then SVC_API_KEY, then none", () => {
  const session = (origin: string) => JSON.stringify({ origin, session_token: "saved", account_id: "acct_x" });
  const CASES: [string, Record<string, string>, ((origin: string) => string) | null, string | null][] = [
    ["all three", { SVC_TOKEN: "env", SVC_API_KEY: "key" }, session, "Bearer env"],
    ["a saved session and a key", { SVC_API_KEY: "key" }, session, "Bearer saved"],
    ["a key alone", { SVC_API_KEY: "key" }, null, "Bearer key"],
    ["none", {}, null, null],
    ["empty variables", { SVC_TOKEN: "", SVC_API_KEY: "" }, null, null],
    ["a session of another server", {}, () => session("http://localhost:1"), null],
    ["a session of the same host under https", {}, (origin) => session(origin.replace("http:", "https:")), null],
    ["a session file that is broken", {}, () => "{", null],
    ["a session file of another shape", {}, () => '{"session_token":["x"]}', null],
  ];
  test.each(CASES)("%s", async (_, env, saved, sent) => {
    await using other = await Home.make("");
    const fake = fakeServer(() => Response.json(DEPLOYED));
    await other.write("config", saved === null ? {} : { "session.json": saved(fake.url) });
    await other.write("p", { "dist/index.html": "i" });
    const ran = await other.run(["-q"], { cwd: other.path("p"), env: { DEPLOY_URL: fake.url, ...env } });
    await fake.stop();
    expect(ran.code).toBe(0);
    expect(fake.asked.map(({ headers }) => headers.get("authorization"))).toEqual([sent]);
  });

  test("an owned site has no expiry and no claim token", async () => {
    const { claim_token: _, ...owned } = {
      ...DEPLOYED,
      expires_at: null,
      owner_account_id: "acct_01234567890123456789",
    };
    const fake = fakeServer(() => Response.json(owned));
    const cwd = await home.write("owned", { "dist/index.html": "i" });
    const env = { DEPLOY_URL: fake.url, SVC_TOKEN: "svc_session_x" };
    const [asJson, asText] = [await home.run(["--json"], { cwd, env }), await home.run([], { cwd, env })];
    await fake.stop();
    expect(json(asJson)).toMatchObject({
      expires_at: null,
      claim_token: null,
      owner_account_id: "acct_01234567890123456789",
    });
    expect(asText.err).not.toContain("Here until");
  });
});

describe("the link", () => {
  test("is kept in projects.json, 0600, in a folder of its own, and never in the project", async () => {
    await using own = await Home.make(server.base_url);
    const cwd = await own.write("p", { "dist/index.html": "i" });
    await own.run([], { cwd });
    await own.run(["dist"], { cwd });
    expect((await stat(join(own.config, "projects.json"))).mode & 0o777).toBe(0o600);
    expect((await stat(own.config)).mode & 0o777).toBe(0o700);
    expect(await readdir(cwd)).toEqual(["dist"]);
    expect(await readdir(join(cwd, "dist"))).toEqual(["index.html"]);
    expect(await readdir(own.config)).toEqual(["projects.json"]);
    expect(await own.links()).toMatchObject([
      { folder: join(cwd, "dist"), looked_up: false, origin: server.base_url },
      { folder: cwd, looked_up: true, origin: server.base_url, manage_token: expect.stringMatching(/^svc_manage_/) },
    ]);
  });

  test.each([
    ["SVC_CONFIG_DIR", { SVC_CONFIG_DIR: "over/there" }, "over/there"],
    ["XDG_CONFIG_HOME", { SVC_CONFIG_DIR: "", XDG_CONFIG_HOME: "$HOME/xdg" }, "xdg/svc"],
    ["a relative XDG_CONFIG_HOME, which does not count", { SVC_CONFIG_DIR: "", XDG_CONFIG_HOME: "xdg" }, ".config/svc"],
    ["nothing set", { SVC_CONFIG_DIR: "" }, ".config/svc"],
  ])("lies where %s says", async (_, env, place) => {
    if (process.platform !== "linux" && !place.startsWith("over")) return;
    await using own = await Home.make(server.base_url);
    await own.write("", { "dist/index.html": "i" });
    const filled = Object.fromEntries(
      Object.entries(env).map(([key, value]) => [key, value.replace("$HOME", own.dir)]),
    );
    await own.run(["-q"], { env: filled });
    expect(await readdir(own.path(place))).toEqual(["projects.json"]);
  });

  test("64 are kept, those used last; expired ones go", async () => {
    await using own = await Home.make(server.base_url);
    const link = (n: number, expires_at: number | null) => ({
      folder: `/old/${n}`,
      looked_up: false,
      origin: "http://localhost:1",
      site_id: `site_${n}`,
      url: "http://x",
      manage_token: "svc_manage_x",
      claim_token: null,
      expires_at,
      used_at: n,
    });
    const old = Array.from({ length: 80 }, (_, n) => link(n, n === 79 ? 1 : null));
    await own.write("config", { "projects.json": JSON.stringify({ version: 1, projects: old }) });
    await own.write("", { "dist/index.html": "i" });
    await own.run(["-q"]);
    const kept = await own.links();
    expect(kept).toHaveLength(64);
    expect(kept[0]).toMatchObject({ folder: own.dir });
    expect(kept.slice(1).map(({ folder }) => folder)).toEqual(Array.from({ length: 63 }, (_, i) => `/old/${78 - i}`));
  });

  test.each([
    ["no JSON", "{"],
    ["empty", ""],
    ["JSON of another kind", "[1,2]"],
    ["a number", "7"],
    ["a folder", null],
  ])("a projects.json that is broken (%s) is put aside, never written over and never a crash", async (_, content) => {
    await using own = await Home.make(server.base_url);
    await own.write("", { "dist/index.html": "i" });
    if (content === null) await mkdir(join(own.config, "projects.json"), { recursive: true });
    else await own.write("config", { "projects.json": content });
    const asked = await own.run(["update"]);
    expect(asked.code).toBe(1);
    expect(asked.err).toContain("projects.json cannot be read");
    expect((await own.run(["-q"])).code).toBe(0);
    expect(await own.links()).toHaveLength(1);
    expect((await readdir(own.config)).sort()).toEqual(["projects.json", "projects.json.broken"]);
  });

  test("a second one that is broken is put aside too: the tokens of the first stay", async () => {
    await using own = await Home.make(server.base_url);
    await own.write("", { "dist/index.html": "i" });
    const files = [];
    for (const content of ["{first", "{second", "{third"]) {
      await own.write("config", { "projects.json": content });
      expect((await own.run(["-q"])).code).toBe(0);
      files.push(content);
    }
    const aside = (await readdir(own.config)).filter((name) => name !== "projects.json").sort();
    expect(aside).toEqual(["projects.json.broken", "projects.json.broken-2", "projects.json.broken-3"]);
    expect(await Promise.all(aside.map((name) => readFile(join(own.config, name), "utf8")))).toEqual(files);
  });

  test("entries that are damaged are passed over, the others count", async () => {
    await using own = await Home.make(server.base_url);
    await own.write("", { "dist/index.html": "i" });
    await own.run(["-q"]);
    const [good] = await own.links();
    const odd = [null, 7, "x", {}, { ...good, folder: 7 }, { ...good, manage_token: {} }, { ...good, used_at: "now" }];
    const nowhere = [
      { ...good, url: "nowhere" },
      { ...good, origin: "file:///etc" },
    ];
    const projects = [...odd, ...nowhere, good];
    await writeFile(join(own.config, "projects.json"), JSON.stringify({ version: 1, projects }));
    const { url } = json(await own.run(["open", "--json"]));
    expect(url).toBe(good!["url"]);
    expect(json(await own.run(["delete", String(url), "--yes", "--json"]))["code"]).toBe("unauthorized");
    expect((await own.run(["update"])).err).toContain("No changes");
  });

  test("where it cannot be saved the site is live all the same, and its token is told", async () => {
    await using own = await Home.make(server.base_url);
    await own.write("", { "dist/index.html": "i", blocked: "a file" });
    const { code, out, err } = await own.run([], { env: { SVC_CONFIG_DIR: own.path("blocked") } });
    expect(code).toBe(0);
    expect(out).toMatch(/^http/);
    expect(err).toContain("could not be linked");
    expect(err).toMatch(/Keep its manage_token to update it: svc_manage_/);
  });

  test("many at once lose nothing", async () => {
    await using own = await Home.make(server.base_url);
    const folders = Array.from({ length: 8 }, (_, n) => `p${n}`);
    for (const folder of folders) await own.write(folder, { "index.html": folder });
    const ran = await Promise.all(folders.map((folder) => own.run([folder, "-q"])));
    expect(ran.map(({ code }) => code)).toEqual(folders.map(() => 0));
    expect((await own.links()).map(({ folder }) => folder).sort()).toEqual(folders.map((folder) => own.path(folder)));
    expect(await readdir(own.config)).toEqual(["projects.json"]);
  }, 60_000);

  const DEAD = Bun.spawnSync(["true"]).pid;

  test.each([
    ["names nobody, and is old", "half", 60],
    ["names a process that is gone", `${DEAD} ${hostname()}\n`, 0],
    ["names another machine's, and is a minute old", "1 elsewhere\n", 61],
  ])("a lock that %s is taken over, by many at once too", async (_which, lock, age_s) => {
    await using own = await Home.make(server.base_url);
    const folders = ["a", "b", "c"];
    for (const folder of folders) await own.write(folder, { "index.html": folder });
    await own.write("config", { "projects.json.lock": lock });
    const since = Date.now() / 1000 - age_s;
    await utimes(join(own.config, "projects.json.lock"), since, since);
    const ran = await Promise.all(folders.map((folder) => own.run([folder, "-q"])));
    expect(ran.map(({ code }) => code)).toEqual(folders.map(() => 0));
    expect((await own.links()).map(({ folder }) => folder).sort()).toEqual(folders.map((folder) => own.path(folder)));
    expect(await readdir(own.config)).toEqual(["projects.json"]);
  });

  test("a lock whose holder lives is waited for, however slow the machine", async () => {
    await using own = await Home.make(server.base_url);
    await own.write("", { "dist/index.html": "i" });
    const lock = join(own.config, "projects.json.lock");
    await own.write("config", { "projects.json.lock": `${process.pid} ${hostname()}\n` });
    const since = Date.now() / 1000 - 30;
    await utimes(lock, since, since);
    let meanwhile: string[] = [];
    const whileRunning = async () => {
      await Bun.sleep(3000);
      meanwhile = await readdir(own.config);
      await rm(lock);
    };
    expect((await own.run(["-q"], { whileRunning })).code).toBe(0);
    expect(meanwhile).toEqual(["projects.json.lock"]);
    expect(await readdir(own.config)).toEqual(["projects.json"]);
  });
});
