/** `svc update` and `svc forget`: the link decides which site, the content whether anything is sent. */
import { afterAll, beforeAll, describe, expect, test, setDefaultTimeout } from "bun:test";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Home, json } from "../kit/cli.ts";
import { DEPLOYED, fakeServer } from "../kit/fake-server.ts";
import { slugOf, startServer, type TestServer } from "../kit/server.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(30_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const newHome = () => Home.make(server.base_url);
const deployed = async (home: Home, args: string[] = [], cwd = home.dir) =>
  json(await home.run([...args, "--json"], { cwd }));
const pageOf = async (url: unknown) => (await server.site(slugOf(url))).text();

describe("update", () => {
  test("publishes what the candidate folder holds now, looked up anew", async () => {
    await using home = await newHome();
    await home.write("", { "out/index.html": "<title>1</title>one" });
    const first = await deployed(home);
    await home.write("", { "dist/index.html": "<title>2</title>two" });
    const { code, out, err } = await home.run(["update"]);
    expect([code, out]).toEqual([0, `${first["url"]}\n`]);
    expect(err).toContain("Updated in");
    expect(err).toContain("from dist");
    expect(await pageOf(first["url"])).toContain("two");
  });

  test("the way back that it names works from where it was run", async () => {
    await using home = await newHome();
    await home.write("dist", { "index.html": "one" });
    await home.write("other", { "index.html": "other" });
    const { site_id } = await deployed(home, ["dist"]);
    await deployed(home, ["other"]);
    await home.write("dist", { "index.html": "two" });
    const back = /The one before: svc (.*)/.exec((await home.run(["update", "dist"])).err)![1]!;
    expect(back).toBe(`rollback --site ${site_id}`);
    const { code, err } = await home.run(back.split(" "));
    expect(code).toBe(0);
    expect(err).toMatch(new RegExp(`Forward again: svc rollback [0-9a-f]{16} --site ${site_id}`));
    const inside = await home.run(["rollback", /rollback ([0-9a-f]{16})/.exec(err)![1]!], { cwd: home.path("dist") });
    expect(inside.err).toMatch(/Forward again: svc rollback [0-9a-f]{16}\n/);
  });

  test("a file that moved below .well-known is a change, for that folder is never taken off", async () => {
    await using home = await newHome();
    await home.write("dist", { "security.txt": "contact" });
    const first = await deployed(home, ["dist"]);
    await rm(home.path("dist", "security.txt"));
    await home.write("dist", { ".well-known/security.txt": "contact" });
    const { err } = await home.run(["update", "dist"]);
    expect(err).toContain("Updated in");
    const slug = new URL(String(first["url"])).hostname.split(".")[0]!;
    expect((await server.site(slug, "/.well-known/security.txt")).status).toBe(200);
  });

  test("identical content: `No changes (already live)` on stderr, the URL on stdout, nothing sent", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>", "dist/a.txt": "a" });
    const first = await deployed(home);
    const site_id = String(first["site_id"]);
    const record = {
      ...DEPLOYED,
      site_id,
      live_version_id: first["version_id"],
      versions: [],
      spa: { enabled: false },
    };
    const fake = fakeServer(() => Response.json(record));
    await writeFile(
      join(home.config, "projects.json"),
      JSON.stringify({ version: 1, projects: (await home.links()).map((link) => ({ ...link, origin: fake.url })) }),
    );
    const { code, out, err } = await home.run(["update"], { env: { DEPLOY_URL: fake.url } });
    await fake.stop();
    expect([code, out]).toEqual([0, `${DEPLOYED.url}\n`]);
    expect(err).toContain("No changes (already live)");
    expect(fake.asked.map(({ method, path }) => [method, path])).toEqual([["GET", `/sites/${site_id}`]]);
  });

  const SAME: [string, Record<string, string>][] = [
    [
      "one folder around everything, which the server strips",
      { "dist/index.html": "", "dist/app/index.html": "<title>a</title>", "dist/app/x.txt": "x" },
    ],
    ["an index in another case", { "dist/index.html": "<title>a</title>", "dist/sub/Index.htm": "s" }],
    [
      "names in Unicode, with spaces, and odd ones",
      { "dist/index.html": "<title>a</title>", "dist/a b/ünï.txt": "u", "dist/__proto__": "p", "dist/😀": "e" },
    ],
    ["files that are never deployed", { "dist/index.html": "<title>a</title>", "dist/.env": "s", "dist/.git/x": "g" }],
    ["no page at all", { "dist/index.html": "", "dist/a.txt": "a" }],
  ];
  test.each(SAME)("the version known before the upload is the server's: %s", async (name, files) => {
    await using home = await newHome();
    await home.write("", files);
    const args: string[] = [];
    if (name.startsWith("one folder") || name.startsWith("no page")) {
      await rm(home.path("dist/index.html"));
      args.push("dist");
    }
    const first = await deployed(home, args);
    expect(first["ok"]).toBe(true);
    expect(await deployed(home, ["update", ...args])).toMatchObject({
      changed: false,
      version_id: first["version_id"],
    });
    expect((await home.run(["update", ...args])).err).toContain("No changes (already live)");
  });

  test("--json is the deploy object plus `changed`", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    const first = await deployed(home);
    const expected = { ...first, elapsed_ms: expect.any(Number) };
    expect(await deployed(home, ["update"])).toEqual({ ...expected, changed: false });
    await home.write("", { "dist/new.txt": "new" });
    expect(await deployed(home, ["update"])).toEqual({
      ...expected,
      version_id: expect.not.stringMatching(String(first["version_id"])),
      files: 2,
      bytes: 19,
      changed: true,
    });
  });

  test("-q: the URL alone on stdout", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    const { url } = await deployed(home);
    expect(await home.run(["update", "-q"])).toMatchObject({
      out: `${url}\n`,
      err: expect.stringMatching(/^svc_manage_\S+\n$/),
    });
  });

  test("an older content is used again, not stored twice", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    const first = await deployed(home);
    await home.write("", { "dist/index.html": "<title>2</title>" });
    await deployed(home, ["update"]);
    await home.write("", { "dist/index.html": "<title>1</title>" });
    expect(await deployed(home, ["update"])).toMatchObject({ changed: true, version_id: first["version_id"] });
    expect(((await deployed(home, ["versions"]))["versions"] as unknown[]).length).toBe(2);
  });

  test("--spa and --no-spa set the fallback, also where the content is live already", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>shell" });
    const { url } = await deployed(home);
    const slug = new URL(String(url)).hostname.split(".")[0]!;
    const deep = async () => (await server.site(slug, "/deep/link", { headers: { accept: "text/html" } })).status;
    expect(await deep()).toBe(404);
    const on = await home.run(["update", "--spa"]);
    expect(on.err).toContain("Unknown paths are answered with index.html");
    expect(await deep()).toBe(200);
    expect(await deployed(home, ["update", "--no-spa"])).toMatchObject({ changed: false });
    expect(await deep()).toBe(404);
    const both = await home.run(["update", "--spa", "--no-spa"]);
    expect([both.code, both.err]).toEqual([2, "  ✗ --spa and --no-spa contradict each other.\n"]);
  });
});

test("where the build folder is gone the hint keeps the site", async () => {
  await using home = await newHome();
  await home.write("", { "dist/index.html": "<title>1</title>" });
  const { site_id } = await deployed(home);
  await rm(home.path("dist"), { recursive: true });
  await home.write("", { "build/client/index.html": "<title>2</title>" });
  const command = `svc update --site ${site_id} build/client`;
  expect((await home.run(["update"])).err).toContain(`Run: ${command}\n`);
  expect(await deployed(home, command.split(" ").slice(1))).toMatchObject({ changed: true, site_id });
});

test("a second deploy of a place is a new site, and says where the one before is", async () => {
  await using home = await newHome();
  await home.write("my site", { "index.html": "<title>1</title>" });
  const first = await deployed(home, ["my site"]);
  const { out, err } = await home.run(["my site"]);
  expect(out).not.toBe(`${first["url"]}\n`);
  expect(err).toContain(`This is a new site. The one before stays at ${first["url"]}`);
  expect(err).toContain("svc update 'my site' publishes your next version here.");
  expect(await deployed(home, ["update"])).toMatchObject({ url: out.trim() });
});

describe("which site", () => {
  test("the path given finds its own link, and no other", async () => {
    await using home = await newHome();
    await home.write("", { "a/index.html": "<title>a</title>", "b/index.html": "<title>b</title>" });
    const a = await deployed(home, ["a"]);
    await home.write("", { "a/index.html": "<title>a2</title>" });
    expect(await deployed(home, ["update", "a"])).toMatchObject({ site_id: a["site_id"], changed: true, source: "a" });
    expect(await deployed(home, ["update", "a/"])).toMatchObject({ site_id: a["site_id"], changed: false });
    expect(await deployed(home, ["update", "."], home.path("a"))).toMatchObject({ site_id: a["site_id"] });
    expect(await deployed(home, ["update"], home.path("a"))).toMatchObject({ site_id: a["site_id"], source: "." });
    const none = await home.run(["update", "b", "--json"]);
    expect(none.code).toBe(1);
    expect(json(none)).toEqual({ ok: false, error: expect.stringContaining("Deploy it: svc b"), code: "not_linked" });
  });

  test("without a path the one linked path inside; of several none, and they are listed", async () => {
    await using home = await newHome();
    await home.write("", { "sites/a/index.html": "a", "sites/b/index.html": "b", "sites-too/index.html": "c" });
    const a = await deployed(home, ["sites/a"]);
    await deployed(home, ["sites-too"]);
    const cwd = home.path("sites");
    expect(await deployed(home, ["update"], cwd)).toMatchObject({ site_id: a["site_id"], source: "a" });
    const b = await deployed(home, ["b"], cwd);
    for (const command of ["update", "versions", "rollback", "forget"]) {
      const ran = await home.run([command, "--json"], { cwd });
      expect(ran.code).toBe(1);
      expect(json(ran)["code"]).toBe("several_links");
      expect(json(ran)["error"]).toContain(`b (${b["url"]}), a (${a["url"]})`);
    }
  });

  test("nothing linked: exit 1 and how to deploy", async () => {
    await using home = await newHome();
    const { code, out, err } = await home.run(["update"]);
    expect([code, out, err]).toEqual([
      1,
      "",
      "  ✗ Nothing was deployed here yet. Deploy it: svc, or name a site: --site <id>\n",
    ]);
  });

  test("--site and --token need no link, and make none", async () => {
    await using home = await newHome();
    await using elsewhere = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    const first = await deployed(home);
    await elsewhere.write("", { "dist/index.html": "<title>2</title>two", "x/index.html": "<title>3</title>three" });
    const named = ["--site", String(first["site_id"]), `--token=${first["manage_token"]}`];
    expect(await deployed(elsewhere, ["update", ...named])).toMatchObject({
      changed: true,
      url: first["url"],
      source: "dist",
    });
    expect(await deployed(elsewhere, [...named, "update", "x"])).toMatchObject({ changed: true, source: "x" });
    expect(await pageOf(first["url"])).toContain("three");
    expect((await elsewhere.run(["update"])).code).toBe(1);
    const without = await elsewhere.run(["update", "--site", String(first["site_id"]), "--json"]);
    expect(json(without)).toEqual({ ok: false, error: expect.stringContaining("--token"), code: "unauthorized" });
  });

  test("--site takes the token of a link, and the content of where one stands", async () => {
    await using home = await newHome();
    await home.write("", { "a/dist/index.html": "<title>a</title>", "b/dist/index.html": "<title>b</title>from b" });
    const a = await deployed(home, [], home.path("a"));
    const update = await deployed(home, ["update", "--site", String(a["site_id"])], home.path("b"));
    expect(update).toMatchObject({ changed: true, source: "dist" });
    expect(await pageOf(a["url"])).toContain("from b");
  });

  test.each([["../limits"], ["a/b"], ["x?y"]])("--site %s is no id", async (id) => {
    await using home = await newHome();
    const { code, err } = await home.run(["update", "--site", id]);
    expect(code).toBe(2);
    expect(err).toContain("--site wants an id");
  });
});

describe("tokens", () => {
  test("--token goes first and alone; then the link's; then the session", async () => {
    await using home = await newHome();
    const record = { ...DEPLOYED, live_version_id: "x", versions: [], spa: { enabled: false } };
    const fake = fakeServer((path, _, request) => {
      if (path === "/sites") return Response.json(DEPLOYED);
      const taken = request.headers.get("authorization") === "Bearer good";
      return taken ? Response.json(record) : Response.json({ error: "No.", code: "unauthorized" }, { status: 401 });
    });
    home.server = fake.url;
    await home.write("", { "dist/index.html": "i" });
    await home.run(["-q"]);
    const sent = async (args: string[], env: Record<string, string> = {}) => {
      fake.asked.length = 0;
      const ran = await home.run(["versions", ...args, "--json"], { env });
      return { tokens: fake.asked.map(({ headers }) => headers.get("authorization")), body: json(ran) };
    };
    expect((await sent(["--token", "bad"], { SVC_TOKEN: "good" })).tokens).toEqual(["Bearer bad"]);
    expect((await sent(["--token", "good"])).tokens).toEqual(["Bearer good"]);
    const fallen = await sent([], { SVC_TOKEN: "good" });
    expect(fallen.tokens).toEqual(["Bearer svc_manage_fake", "Bearer good"]);
    expect(fallen.body["ok"]).toBe(true);
    const refused = await sent([], { SVC_TOKEN: "bad" });
    expect(refused.body).toEqual({
      ok: false,
      error: "No. The token came from the link of this folder.",
      code: "unauthorized",
    });
    await fake.stop();
  });

  test("a stored token is never sent to another server than the one that issued it", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    const first = await deployed(home);
    const other = fakeServer(() => Response.json(DEPLOYED));
    for (const args of [["update"], ["versions"], ["rollback"], ["update", "--site", String(first["site_id"])]]) {
      expect((await home.run(args, { env: { DEPLOY_URL: other.url } })).code).toBe(1);
    }
    expect(other.asked).toEqual([]);
    await home.run(["-q"], { env: { DEPLOY_URL: other.url } });
    expect(await home.links()).toHaveLength(2);
    expect((await home.run(["update"])).out).toBe(`${first["url"]}\n`);
    await other.stop();
  });

  test("a place that is linked on another server is told so", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    await deployed(home);
    const ran = await home.run(["update", "--json"], { env: { DEPLOY_URL: "http://127.0.0.1:1" } });
    const error = `What was deployed here is on ${server.base_url}, and DEPLOY_URL names http://127.0.0.1:1.`;
    expect(json(ran)).toEqual({ ok: false, error, code: "not_linked" });
  });

  test("a link of another server does not hide the one inside", async () => {
    await using home = await newHome();
    await home.write("", { "a/index.html": "<title>a</title>", "dist/index.html": "<title>d</title>" });
    const a = await deployed(home, ["a"]);
    const other = fakeServer(() => Response.json(DEPLOYED));
    await home.run(["-q"], { env: { DEPLOY_URL: other.url } });
    await other.stop();
    expect(await deployed(home, ["update"])).toMatchObject({ site_id: a["site_id"], source: "a" });
  });

  test("without DEPLOY_URL a link leads to its own server", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    const first = await deployed(home);
    expect((await home.run(["update"], { env: { DEPLOY_URL: "" } })).out).toBe(`${first["url"]}\n`);
  });

  test("a token that is none here is told with where it came from", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    await deployed(home);
    const ran = await home.run(["update", "--token", "svc_manage_wrong", "--json"]);
    expect(ran.code).toBe(1);
    expect(json(ran)).toMatchObject({
      ok: false,
      code: "unauthorized",
      error: expect.stringContaining("The token came from --token."),
    });
    expect(await home.links()).toHaveLength(1);
  });
});

describe("a site that is gone", () => {
  test("404: the stale link is dropped, and a fresh deploy is the way on", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    const { site_id } = await deployed(home);
    const gone = fakeServer(() => Response.json({ error: "Unknown site.", code: "unknown_site" }, { status: 404 }));
    const moved = (await home.links()).map((link) => ({ ...link, origin: gone.url }));
    await writeFile(join(home.config, "projects.json"), JSON.stringify({ version: 1, projects: moved }));
    const ran = await home.run(["update", "--json"], { env: { DEPLOY_URL: gone.url } });
    await gone.stop();
    expect(ran.code).toBe(1);
    expect(json(ran)).toEqual({
      ok: false,
      error: "The site is gone: it has expired or was deleted. The link to it was dropped. Deploy it afresh: svc",
      code: "unknown_site",
    });
    expect(JSON.stringify(await home.links())).not.toContain(String(site_id));
  });

  test("a link whose time has passed is not used", async () => {
    await using home = await newHome();
    await home.write("", { "site/index.html": "<title>1</title>" });
    await deployed(home, ["site"]);
    const old = (await home.links()).map((link) => ({ ...link, expires_at: Date.now() - 1 }));
    await writeFile(join(home.config, "projects.json"), JSON.stringify({ version: 1, projects: old }));
    const ran = await home.run(["update", "site", "--json"]);
    expect(json(ran)).toEqual({
      ok: false,
      error: "The site that was deployed from site has expired. Deploy it afresh: svc site",
      code: "site_expired",
    });
  });

  test("a site that no longer expires keeps its link", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>" });
    const { site_id, expires_at } = await deployed(home);
    server.expire({ site_id: String(site_id) }, Number(expires_at) + 86_400_000);
    const before = (await home.links())[0]!;
    await home.run(["versions"]);
    expect((await home.links())[0]!["expires_at"]).toBe(Number(before["expires_at"]) + 86_400_000);
  });

  test("a linked folder that is gone is named", async () => {
    await using home = await newHome();
    await home.write("", { "site/index.html": "<title>1</title>" });
    await deployed(home, ["site"]);
    await rm(home.path("site"), { recursive: true });
    const ran = await home.run(["update", "--json"]);
    expect(json(ran)).toMatchObject({ ok: false, error: expect.stringMatching(/site is not there\.$/) });
  });
});

describe("forget", () => {
  test("drops the link and leaves the site alone; stdout stays empty", async () => {
    await using home = await newHome();
    await home.write("", { "dist/index.html": "<title>1</title>kept" });
    const { url } = await deployed(home);
    const { code, out, err } = await home.run(["forget"]);
    expect([code, out]).toEqual([0, ""]);
    expect(err).toContain(`Forgot that . is ${url}.`);
    expect(await pageOf(url)).toContain("kept");
    expect((await home.run(["update"])).code).toBe(1);
    expect((await home.run(["forget"])).code).toBe(1);
  });

  test("by path; and with --site all folders that are linked to it", async () => {
    await using home = await newHome();
    await home.write("", { "a/index.html": "a", "b/index.html": "b" });
    const a = await deployed(home, ["a"]);
    await deployed(home, ["b"]);
    expect(json(await home.run(["forget", "b", "--json"]))).toEqual({ ok: true, forgotten: [home.path("b")] });
    const [link] = await home.links();
    const twice = [link, { ...link, folder: "/elsewhere" }];
    await writeFile(join(home.config, "projects.json"), JSON.stringify({ version: 1, projects: twice }));
    const { code, err } = await home.run(["forget", "--site", String(a["site_id"])]);
    expect(code).toBe(0);
    expect(err.trim().split("\n")).toHaveLength(2);
    expect(await home.links()).toEqual([]);
    const none = await home.run(["forget", "--site", String(a["site_id"]), "--json"]);
    expect([none.code, json(none)["code"]]).toEqual([1, "not_linked"]);
  });

  test("works where the folder itself is gone", async () => {
    await using home = await newHome();
    await home.write("", { "deep/a/index.html": "a" });
    await deployed(home, ["deep/a"]);
    await rm(home.path("deep/a"), { recursive: true });
    expect((await home.run(["forget", "deep/a"])).code).toBe(0);
  });
});
