/** `svc [path]`: what is deployed, what is printed, what is remembered (SPEC, "CLI"; CONTRACT 8). */
import { describe, expect, test, setDefaultTimeout } from "bun:test";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { CLI, Home, json } from "../kit/cli.ts";
import { DEPLOYED, fakeServer } from "../kit/fake-server.ts";
import { slugOf } from "../kit/server.ts";
import { shared, sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const server = await sharedServer("--max-files", "20", "--max-bytes", "100000", "--max-zip-bytes", "60000");
const home = shared(await Home.make(server.base_url));

describe("the result", () => {
  test("the live URL alone is on stdout, all else on stderr, and the site is served", async () => {
    const cwd = await home.write("site", { "dist/index.html": "<title>Hi</title>hello", "dist/a.css": "b{}" });
    const { code, out, err } = await home.run([], { cwd });
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^http://[a-z0-9-]+\\.localhost:${server.port}\\n$`));
    expect(await (await server.site(slugOf(out))).text()).toContain("hello");
    expect(err).toContain("Live in");
    expect(err).toContain("2 files, 25 bytes from dist");
    expect(err).toMatch(/Here until \d+ \w+ \d{4}, 14 days from now/);
    expect(err).not.toContain("svc_manage_");
    expect(err).not.toContain("\x1b");
  });

  test("--json prints exactly the object of the specification", async () => {
    const cwd = await home.write("as-json", { "dist/index.html": "<title>Hi</title>" });
    const ran = await home.run(["--json"], { cwd });
    expect(ran.code).toBe(0);
    expect(json(ran)).toEqual({
      ok: true,
      url: expect.stringMatching(/^http:\/\/[a-z0-9-]+\.localhost:\d+$/),
      site_id: expect.stringMatching(/^site_[0-9a-z]{20}$/),
      version_id: expect.stringMatching(/^[0-9a-f]{16}$/),
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      manage_token: expect.stringMatching(/^svc_manage_/),
      claim_token: expect.stringMatching(/^svc_claim_/),
      owner_account_id: null,
      source: "dist",
      files: 1,
      bytes: 17,
      elapsed_ms: expect.any(Number),
      healed: [],
      warnings: [],
      version_url: expect.stringMatching(/^http:\/\/[0-9a-f]{16}--[a-z0-9-]+\.localhost:\d+$/),
    });
    expect(ran.out.trimEnd()).not.toContain("\n");
  });

  test.each([["-q"], ["--quiet"]])("%s: the URL on stdout, the manage_token on stderr, no more", async (flag) => {
    const cwd = await home.write("quiet", { "dist/index.html": "<title>Hi</title>", "dist/.env": "x" });
    const { code, out, err } = await home.run([flag], { cwd });
    expect(code).toBe(0);
    expect(out).toMatch(/^http:\/\/\S+\n$/);
    expect(err).toMatch(/^svc_manage_[\w-]{43}\n$/);
  });

  test("--json beats -q", async () => {
    const cwd = await home.write("both", { "dist/index.html": "<title>Hi</title>" });
    expect(json(await home.run(["-q", "--json"], { cwd }))["ok"]).toBe(true);
  });

  test("what was fixed and what is wrong is told with its recipe, with --json too", async () => {
    const cwd = await home.write("healed", { "dist/page.html": "<p>no title", "dist/nested/index.html": "x" });
    for (const flags of [["dist"], ["dist", "--json"]]) {
      const { err } = await home.run(flags, { cwd });
      expect(err).toMatch(/Fixed for you\n  ✓ .*page\.html/);
    }
    const set_up = await home.run([await home.write("notes", { "README.md": "# Notes" })]);
    expect(set_up.err).toMatch(/ {2}Set up for you\n {2}✓ .*README\.md/);
    expect(set_up.err).not.toContain("Fixed for you");
    const fake = fakeServer(() =>
      Response.json({
        ...DEPLOYED,
        warnings: [
          { code: "missing_asset", message: "index.html loads a.js", path: "index.html", fix_recipe: "Add a.js." },
          { code: "missing_asset", message: "it loads a.js too", path: "b.html", fix_recipe: "Add a.js." },
          ...["x", "y", "z"].map((name) => ({ code: "broken_link", message: name, fix_recipe: "Take it away." })),
          { code: "missing_title", message: "no title", fix_recipe: "Give it one." },
        ],
      }),
    );
    const { err, out } = await home.run(["dist", "--json"], { cwd, env: { DEPLOY_URL: fake.url } });
    await fake.stop();
    expect(err).toContain("6 things are broken or risky");
    expect(err).toContain("  ! x\n  ! y\n  ! z\n    → For all 3: Take it away.\n  ! no title\n    → Give it one.\n");
    expect(err).toContain("  ! index.html loads a.js\n  ! b.html: it loads a.js too\n    → For both: Add a.js.\n");
    expect(JSON.parse(out)).toMatchObject({ ok: true });
  });
});

describe("what is deployed", () => {
  test("without a path the first candidate with an index.html", async () => {
    const cwd = await home.write("order", {
      "dist/x.txt": "x",
      "out/index.html": "<title>o</title>",
      "public/index.html": "p",
    });
    expect(json(await home.run(["--json"], { cwd }))["source"]).toBe("out");
  });

  test("without a candidate: exit 1, and the exact command to run", async () => {
    const cwd = await home.write("none", { "dist/app/browser/index.html": "i" });
    const { code, out, err } = await home.run([], { cwd });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("No build directory found");
    expect(err).toContain("Run: svc dist/app/browser");
    const failed = await home.run(["--json"], { cwd });
    expect(failed.code).toBe(1);
    expect(json(failed)).toEqual({
      ok: false,
      error: expect.stringContaining("svc dist/app/browser"),
      code: "no_build_directory",
    });
    expect(failed.err).toBe("");
  });

  test("a folder, by any way of writing it", async () => {
    const cwd = await home.write("ways", {
      "site dir/index.html": "<title>w</title>",
      "-dash/index.html": "<title>w</title>",
    });
    for (const args of [
      ["site dir"],
      ["site dir/"],
      ["./site dir"],
      [join(cwd, "site dir")],
      ["./-dash"],
      ["--", "-dash"],
    ]) {
      expect(
        (
          await home.run(
            [...args, "--json"].sort((a) => (a === "--json" ? -1 : 0)),
            { cwd },
          )
        ).code,
      ).toBe(0);
    }
    expect((await home.run(["."], { cwd: join(cwd, "site dir") })).code).toBe(0);
  });

  test("a single file, HTML or not", async () => {
    const cwd = await home.write("single", { "page.html": "<title>p</title>one page", "notes.txt": "plain" });
    const page = json(await home.run(["page.html", "--json"], { cwd }));
    expect(page).toMatchObject({ source: "page.html", files: 1, bytes: 24 });
    expect(await (await server.site(slugOf(String(page["url"])))).text()).toContain("one page");
    const notes = json(await home.run(["notes.txt", "--json"], { cwd }));
    expect(await (await server.site(slugOf(String(notes["url"])), "/notes.txt")).text()).toBe("plain");
    expect(await (await server.site(slugOf(String(notes["url"])))).text()).toContain("notes.txt");
  });

  test("a word that names a command is one only before --", async () => {
    const cwd = await home.write("named", { "update/index.html": "<title>u</title>" });
    expect((await home.run(["update"], { cwd })).code).toBe(1);
    expect((await home.run(["./update"], { cwd })).code).toBe(0);
    expect((await home.run(["--", "update"], { cwd })).code).toBe(0);
  });

  test("secrets, rubbish and what .svcignore names stay here, and a person sees which", async () => {
    const cwd = await home.write("leaves", {
      "dist/index.html": "<title>l</title>",
      "dist/.env": "SECRET",
      "dist/node_modules/x.js": "x",
      "dist/.DS_Store": "x",
      "dist/.svcignore": "*.map\n",
      "dist/a.js.map": "m",
    });
    const { out, err } = await home.run([], { cwd });
    expect(err).toContain("1 file,");
    expect(err).toContain("Left out, as always: .env, node_modules");
    for (const path of ["/.env", "/a.js.map", "/.svcignore"]) {
      expect((await server.site(slugOf(out), path)).status).toBe(404);
    }
  });

  test("all that was left out is named, to a program and in a dry run too; with -q nothing is", async () => {
    const names = [".aws", ".bash_history", ".docker", ".env", ".git-credentials", ".gnupg", ".kube", ".npmrc", ".ssh"];
    const isFolder = (name: string) => /aws|docker|gnupg|kube|ssh/.test(name);
    const files = Object.fromEntries(names.map((name) => [`dist/${name}${isFolder(name) ? "/x" : ""}`, "secret"]));
    const cwd = await home.write("left-out", { ...files, "dist/index.html": "<title>Hi</title>" });
    const said = `Left out, as always: ${names.join(", ")}`;
    for (const flags of [[], ["--json"], ["--dry-run"], ["--dry-run", "--json"]])
      expect([flags, (await home.run(["dist", ...flags], { cwd })).err.includes(said)]).toEqual([flags, true]);
    expect((await home.run(["dist", "-q"], { cwd })).err).not.toContain("Left out");
    expect((await home.run(["preview", "dist", "-q"], { cwd })).err).not.toContain("Left out");
  });

  test("a link that leaves the folder is refused before anything is sent", async () => {
    const cwd = await home.write("escape", { "dist/index.html": "i", "dist/passwd": { link: "/etc/passwd" } });
    const ran = await home.run(["--json"], { cwd });
    expect(ran.code).toBe(1);
    expect(json(ran)["error"]).toContain("passwd is a symbolic link to /etc/passwd, outside of the folder");
  });

  test.each([
    ["nothing.html", "not_found", "There is no file or folder nothing.html."],
    ["", "not_found", "There is no file or folder without a name."],
    ["udpate", "not_found", "There is no file or folder udpate. Did you mean svc update?"],
    ["hepl", "not_found", "There is no file or folder hepl. Did you mean svc help?"],
  ])("a path that is not there (%s) is told, with what was meant", async (path, code, error) => {
    const ran = await home.run([path, "--json"]);
    expect(ran.code).toBe(1);
    expect(json(ran)).toEqual({ ok: false, error, code });
  });

  test("an empty folder has nothing to deploy", async () => {
    await mkdir(home.path("empty"), { recursive: true });
    expect(json(await home.run(["empty", "--json"]))["code"]).toBe("empty_deploy");
  });
});

test("a file that cannot be read is named", async () => {
  const cwd = await home.write("locked", { "dist/index.html": "i", "dist/.svcignore/x": "a folder" });
  const ran = await home.run(["--json"], { cwd });
  expect(ran.code).toBe(1);
  expect(json(ran)).toMatchObject({ ok: false, error: expect.stringContaining(".svcignore") });
});

test("a folder reached by a link is the same place as the folder", async () => {
  const cwd = await home.write("place", { "real/dist/index.html": "<title>p</title>" });
  await symlink("real", join(cwd, "alias"));
  await home.run(["-q", join(cwd, "real/dist")]);
  expect((await home.run(["update", join(cwd, "alias/dist")])).err).toContain("No changes");
});

describe("CONTRACT 8: a zip in the place of a folder", () => {
  const FILES = { "index.html": "<title>Zipped</title>zipped", "img/a.txt": "a" };

  test("is the site that is in it, of the same version as the folder, also in a folder of its own", async () => {
    const cwd = await home.write("zips", Object.fromEntries(Object.entries(FILES).map(([p, c]) => [`folder/${p}`, c])));
    await home.write("zips", {
      "site.zip": zipOf(FILES),
      "WRAPPED.ZIP": zipOf({ "x/index.html": FILES["index.html"], "x/img/a.txt": "a" }),
    });
    const [folder, zip, wrapped] = [
      await home.run(["folder", "--json"], { cwd }),
      await home.run(["site.zip", "--json"], { cwd }),
      await home.run(["WRAPPED.ZIP", "--json"], { cwd }),
    ].map(json);
    expect([zip!["version_id"], wrapped!["version_id"]]).toEqual([folder!["version_id"], folder!["version_id"]]);
    expect([zip!["files"], zip!["bytes"], zip!["source"]]).toEqual([2, 28, "site.zip"]);
    expect(await (await server.site(slugOf(String(zip!["url"])))).text()).toContain("zipped");
    const again = await home.run(["update", "site.zip"], { cwd });
    expect([again.code, again.err.includes("No changes (already live)")]).toEqual([0, true]);
    await home.write("zips", { "site.zip": zipOf({ ...FILES, "b.txt": "b".repeat(40_000) }) });
    const next = await home.run(["update", "site.zip"], { cwd });
    expect([next.code, next.err.includes("1 added, 2 unchanged")]).toEqual([0, true]);
  });

  test.each<[string, Uint8Array, RegExp]>([
    ["cut off", zipOf(FILES).subarray(0, 100), /cut off/],
    ["damaged", zipOf(FILES).map((byte, n) => (n === 45 ? byte ^ 255 : byte)), /damaged|CRC|cannot be/],
    ["no zip at all", new TextEncoder().encode("hello"), /zip/i],
  ])("one that is %s is refused with the server's reason, and nothing is published", async (_, bytes, why) => {
    const cwd = await home.write("broken-zips", { "site.zip": bytes });
    const before = server.rows("sites");
    const { code, out, err } = await home.run(["site.zip"], { cwd });
    expect([code, out, server.rows("sites")]).toEqual([1, "", before]);
    expect(err).toMatch(why);
  });

  test("is refused before it is sent where it holds too much", async () => {
    const cwd = await home.write("large-zips", { "site.zip": zipOf({ "a.txt": "a".repeat(100_001) }) });
    const { code, err } = await home.run(["site.zip"], { cwd });
    expect([code, err.includes("site.zip is 100001 bytes large")]).toEqual([1, true]);
    expect(err).toContain("Leave files out of the zip");
    await home.write("large-zips", { "site.zip": crypto.getRandomValues(new Uint8Array(60_001)) });
    const unread = await home.run(["site.zip"], { cwd });
    expect([unread.code, unread.err.includes("site.zip is 60001 bytes large, and the server takes 60000")]).toEqual([
      1,
      true,
    ]);
  });
});
