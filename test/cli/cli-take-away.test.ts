/** BEYOND 9: `svc pull` and `svc diff`. */
import { chmod, mkdir, readdir, readFile } from "node:fs/promises";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Home, json } from "../kit/cli.ts";
import { DEPLOYED, fakeServer } from "../kit/fake-server.ts";
import { slugOf } from "../kit/server.ts";
import { shared, sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";
import { contentHash } from "../../src/base/version-id.ts";

setDefaultTimeout(60_000);

const server = await sharedServer();
const home = shared(await Home.make(server.base_url));
const FILES = { "index.html": "<title>Pulled</title>", "img/é.txt": "é", "a/b/c.txt": "c" };
const NEXT = { "index.html": "<title>Pulled, twice</title>", "img/é.txt": "é", "new.txt": "n" };
const cwd = await home.write("site", Object.fromEntries(Object.entries(FILES).map(([p, c]) => [`dist/${p}`, c])));
const first = json(await home.run(["--json"], { cwd }));
await home.write("next", Object.fromEntries(Object.entries(NEXT).map(([p, c]) => [`dist/${p}`, c])));
const next = json(await home.run(["update", home.path("next", "dist"), "--site", String(first["site_id"]), "--json"]));
const [site_id, url, old] = [String(first["site_id"]), String(first["url"]), String(first["version_id"])];

const filesIn = async (folder: string): Promise<Record<string, string>> => {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = found.filter((one) => one.isFile()).map((one) => `${one.parentPath}/${one.name}`);
  const entries = paths.map(async (path) => [path.slice(folder.length + 1), await readFile(path, "utf8")] as const);
  return Object.fromEntries(await Promise.all(entries));
};

describe("svc pull", () => {
  test("writes the live version into ./<slug>, and prints the folder; it links nothing", async () => {
    const links = await home.links();
    const place = await home.write("plain", { "x.txt": "x" });
    const { code, out, err } = await home.run(["pull", site_id], { cwd: place });
    const folder = home.path("plain", slugOf(url));
    expect([code, out]).toEqual([0, `${folder}\n`]);
    expect(err).toContain(`Version ${next["version_id"]}: 3 files`);
    expect(await filesIn(folder)).toEqual(NEXT);
    expect((await home.links()).map(({ folder: at }) => at)).toEqual(links.map(({ folder: at }) => at));
    expect((await readdir(place)).toSorted()).toEqual([slugOf(url), "x.txt"].toSorted());
  });

  test.each([
    ["its address", url],
    ["its host alone", new URL(url).host],
    ["a version's own address", url.replace("://", `://${old}--`)],
  ])("finds the site by %s", async (_, written) => {
    const { code, out } = await home.run(["pull", written, "by-address", "--force"]);
    expect([code, out]).toEqual([0, `${home.path("by-address")}\n`]);
  });

  test("a former version by the beginning of its id, with what it says to programs", async () => {
    const ran = await home.run(["pull", site_id, "former", "--at", old.slice(0, 6), "--json"]);
    const folder = home.path("former");
    expect(json(ran)).toEqual({ ok: true, site_id, version_id: old, folder, files: 3, bytes: 24 });
    expect(await filesIn(folder)).toEqual(FILES);
    const again = json(await home.run([folder, "--json"]));
    expect(again["version_id"]).toBe(old);
  });

  test("leaves a folder that is not empty alone; with --force it replaces files and removes none", async () => {
    const folder = await home.write("full", { "index.html": "mine", "mine.txt": "mine" });
    const refused = await home.run(["pull", site_id, "full"]);
    expect([refused.code, refused.out]).toEqual([1, ""]);
    expect(refused.err).toContain("is not empty, and nothing was written");
    expect(await filesIn(folder)).toEqual({ "index.html": "mine", "mine.txt": "mine" });
    expect((await home.run(["pull", site_id, "full", "--force"])).code).toBe(0);
    expect(await filesIn(folder)).toEqual({ ...NEXT, "mine.txt": "mine" });
    await mkdir(home.path("empty"));
    expect((await home.run(["pull", site_id, "empty"])).code).toBe(0);
    await home.write("", { "a-file": "x" });
    expect((await home.run(["pull", site_id, "a-file"])).code).toBe(1);
  });

  test("without a site: the one that was deployed from here; nonsense is refused", async () => {
    const { code, out } = await home.run(["pull"], { cwd });
    expect([code, out]).toEqual([0, `${home.path("site", slugOf(url))}\n`]);
    for (const words of [
      ["pull", "a", "b", "c"],
      ["pull", "not/a/site"],
    ])
      expect((await home.run(words)).code).toBe(2);
    for (const words of [
      ["pull", "site_none"],
      ["pull", "http://elsewhere.localhost:1"],
      ["pull", site_id, "--at", "0".repeat(16)],
    ]) {
      const ran = await home.run(words);
      expect([words, ran.code, ran.out]).toEqual([words, 1, ""]);
    }
  });

  test("a folder that cannot be written leaves nothing behind", async () => {
    const place = await home.write("read-only", {});
    await mkdir(place, { recursive: true });
    await chmod(place, 0o500);
    const ran = await home.run(["pull", site_id, "read-only/there"]);
    await chmod(place, 0o700);
    if (process.getuid?.() !== 0) expect([ran.code, await readdir(place)]).toEqual([1, []]);
  });

  const row = (path: string, bytes: string) => ({
    path,
    sha256: contentHash(new TextEncoder().encode(bytes)),
    bytes: bytes.length,
    media_type: "text/plain",
  });
  test.each<[string, ReturnType<typeof row>[], Record<string, string>]>([
    ["leaves the folder", [row("../x.txt", "x")], { "../x.txt": "x" }],
    ["is absolute", [row("/x.txt", "x")], { "/x.txt": "x" }],
    ["climbs in the middle", [row("a/../../x.txt", "x")], { "a/../../x.txt": "x" }],
    ["has a backslash", [row("..\\x.txt", "x")], { "..\\x.txt": "x" }],
    ["is not what it was", [row("x.txt", "x")], { "x.txt": "y" }],
    ["does not come", [row("x.txt", "x"), row("y.txt", "y")], { "x.txt": "x" }],
    ["nobody listed", [row("x.txt", "x")], { "x.txt": "x", "z.txt": "z" }],
    ["makes another version", [row("x.txt", "x")], { "x.txt": "x" }],
  ])("writes nothing where a file %s", async (_, listed, zipped) => {
    const version_id = "0123456789abcdef";
    const record = { ...DEPLOYED, live_version_id: version_id, versions: [], spa: { enabled: false } };
    const fake = fakeServer((path) =>
      path.endsWith("/files")
        ? Response.json({ version_id, live: true, files: listed })
        : path.endsWith("/zip")
          ? new Response(zipOf(zipped), { headers: { "content-type": "application/zip" } })
          : Response.json(record),
    );
    await using other = await Home.make(fake.url);
    const ran = await other.run(["pull", DEPLOYED.site_id, "there", "--token", "svc_manage_x"], {
      env: { DEPLOY_URL: fake.url },
    });
    await fake.stop();
    expect([ran.code, ran.out]).toEqual([1, ""]);
    expect(ran.err).toContain("Nothing was written: ");
    expect(await readdir(other.path()).then((names) => names.filter((name) => /there|x\.txt/.test(name)))).toEqual([]);
  });
});

describe("svc diff", () => {
  test("prints what came, went and changed, by path; with --exit-code 1 where they differ", async () => {
    const lines = "- a/b/c.txt\n~ index.html\n+ new.txt\n";
    expect(await home.run(["diff", old.slice(0, 6)], { cwd })).toEqual({ code: 0, out: lines, err: "" });
    expect((await home.run(["diff", old, "live", "--exit-code"], { cwd })).code).toBe(1);
    const same = await home.run(["diff", "live", String(next["version_id"]), "--exit-code", "--site", site_id]);
    expect(same).toEqual({ code: 0, out: "", err: "" });
    const body = json(await home.run(["diff", old, "--json"], { cwd }));
    expect(body).toMatchObject({ ok: true, from: old, to: next["version_id"], added: [{ path: "new.txt", bytes: 1 }] });
  });

  test("of an unknown version, of none, and of three", async () => {
    expect((await home.run(["diff", "ffff"], { cwd })).err).toContain("Unknown version ffff");
    expect((await home.run(["diff"], { cwd })).code).toBe(2);
    expect((await home.run(["diff", "a", "b", "c"], { cwd })).code).toBe(2);
  });
});
