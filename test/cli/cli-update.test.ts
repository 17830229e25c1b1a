/** `svc update`: the content decides whether anything is sent. */
import { describe, expect, test, setDefaultTimeout } from "bun:test";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deployed, Home, json } from "../kit/cli.ts";
import { DEPLOYED, fakeServer } from "../kit/fake-server.ts";
import { slugOf } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const server = await sharedServer();

const newHome = () => Home.make(server.base_url);
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
    expect(inside.err).toMatch(/Back again: svc rollback [0-9a-f]{16}\n/);
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
      version_url: expect.not.stringMatching(String(first["version_id"])),
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
