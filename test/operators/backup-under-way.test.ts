/** Backups beside deploys, and backups and restores that were cut short (RELIABILITY P8, K27 to K29). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, readFile, rm, symlink, truncate, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { read } from "../kit/database.ts";
import { blobFile, operate, operator } from "../kit/operator.ts";
import { SVC_SERVER, startProcess, temporaryFolder } from "../kit/process.ts";
import { type DeployResult, startServer } from "../kit/server.ts";
import { shared, sharedServer } from "../kit/shared.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { backupsIn, exists, serverOn } from "./backups.ts";

setDefaultTimeout(60_000);

const HOUR_MS = 60 * 60_000;

const server = await sharedServer();
const home = shared(await temporaryFolder());

const { fresh, backedUp, restored } = backupsIn(() => home.path);

describe("P8 while deploys run", () => {
  test("each backup restores to a state that existed: every site is one of its versions, whole, and none is older than the last answered one", async () => {
    const sites = await Promise.all(
      Array.from({ length: 4 }, (_, n) => server.deploy({ "index.html": page(n, 0), "data.txt": `${n} 0` })),
    );
    const answered = sites.map(() => 0);
    const asked = sites.map(() => 0);
    let stop = false;
    const deploying = Promise.all(
      sites.map(async (site, n) => {
        while (!stop) {
          const version = ++asked[n]!;
          await server.redeploy(site, { "index.html": page(n, version), "data.txt": `${n} ${version}` });
          answered[n] = version;
        }
      }),
    );
    const backups: { folder: string; least: number[]; most: number[] }[] = [];
    for (let n = 0; n < 3; n++) {
      const least = [...answered];
      const folder = await backedUp(server);
      backups.push({ folder, least, most: [...asked] });
    }
    stop = true;
    await deploying;
    for (const { folder, least, most } of backups) {
      const data_dir = await restored(folder); // ends with verify: exit code 0
      await using other = await serverOn(data_dir);
      for (const [n, site] of sites.entries()) {
        const data = await (await other.site(site.slug, "/data.txt")).text();
        const version = Number(data.split(" ")[1]);
        expect(version).toBeGreaterThanOrEqual(least[n]!);
        expect(version).toBeLessThanOrEqual(most[n]!);
        const whole = (await (await other.site(site.slug)).text()).endsWith(page(n, version));
        expect([site.slug, version, whole]).toEqual([site.slug, version, true]);
      }
    }
    expect(Math.min(...answered)).toBeGreaterThan(0);
  }, 60_000);

  test("the sweep takes no blob while a backup holds them, and takes them when the hold has lapsed", async () => {
    await using source = await startServer();
    const gone = await source.deploy({ "index.html": "an orphan" });
    await operate(source.data_dir, "delete", gone.slug);
    const orphan = blobFile(source.data_dir, "an orphan");
    const old = new Date(Date.now() - 2 * HOUR_MS);
    await utimes(orphan, old, old);
    source.holdBlobs(Date.now() + HOUR_MS);
    await operate(source.data_dir, "gc");
    expect(await Bun.file(orphan).exists()).toBe(true);
    source.endHolds();
    await operate(source.data_dir, "gc");
    expect(await Bun.file(orphan).exists()).toBe(false);
  });

  test("a backup that ended leaves no hold behind", async () => {
    await backedUp(server);
    expect(server.rows("holds")).toBe(0);
  });
});

const page = (site: number, version: number): string => `<body>${`${site}.${version} `.repeat(2000)}`;

describe("half of one", () => {
  test("K27 K28 a backup that was killed is refused; the source is unharmed and its hold lapses", async () => {
    await using folder = await temporaryFolder();
    const child = await startProcess(["--data-dir", folder.path, "--log", "off"]);
    const source = `http://127.0.0.1:${child.port}`;
    const bytes = (n: number) => crypto.getRandomValues(new Uint8Array(20_000)).fill(n % 256, 0, 8);
    const files = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`f${n}.bin`, bytes(n)]));
    const headers = { "content-type": "application/zip" };
    const deploys: DeployResult[] = [];
    for (let n = 0; n < 6; n++) {
      const body = zipOf({ ...files, "index.html": `site ${n}`, "own.bin": bytes(n) });
      deploys.push((await (await fetch(`${source}/sites`, { method: "POST", body, headers })).json()) as DeployResult);
    }
    let killed = 0;
    for (const reached of ["db", "SHA256SUMS.unfinished", "blobs"]) {
      const target = fresh();
      const backup = Bun.spawn([...SVC_SERVER, "backup", target, "--data-dir", folder.path], { stderr: "ignore" });
      await until(() => exists(join(target, reached)), 0);
      backup.kill("SIGKILL");
      await backup.exited;
      if (await exists(join(target, "SHA256SUMS"))) continue; // it was faster than the kill
      killed++;
      const data_dir = fresh();
      const refused = await operator(data_dir, ["restore", target]);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/incomplete|There is no backup in/)]);
      expect(await exists(data_dir)).toBe(false);
      expect((await operator(folder.path, ["backup", target])).stderr).toContain("is not empty");
    }
    expect(killed).toBeGreaterThan(0);
    const holds = read<{ expires_at: number }>(folder.path, "select expires_at from holds");
    for (const { expires_at } of holds) expect(expires_at).toBeLessThan(Date.now() + HOUR_MS);
    for (const { slug } of deploys) {
      const host = `${slug}.localhost:${child.port}`;
      expect((await fetch(`${source}/`, { headers: { host } })).status).toBe(200);
    }
    expect((await operator(folder.path, ["verify"])).code).toBe(0);
    expect((await operator(folder.path, ["backup", fresh()])).code).toBe(0);
    await child.end();
  }, 60_000);

  const NO_FILE = /damaged: blobs\/.+ is not a file/;
  async function replaced(folder: string, by: (path: string) => Promise<unknown>): Promise<void> {
    await unlink(blobFile(folder, "a blob"));
    await by(blobFile(folder, "a blob"));
  }
  test.each<[string, (folder: string) => Promise<unknown>, RegExp]>([
    ["without its list", (folder) => unlink(join(folder, "SHA256SUMS")), /There is no backup in/],
    ["with half its list", (folder) => truncate(join(folder, "SHA256SUMS"), 200), /incomplete/],
    ["with a list cut at a line", (folder) => cutLine(folder), /incomplete/],
    ["without its database", (folder) => unlink(join(folder, "db")), /incomplete: db is missing/],
    ["with another database", (folder) => writeFile(join(folder, "db"), "x"), /damaged: db does not match/],
    ["without its secrets", (folder) => unlink(join(folder, "secrets")), /incomplete: secrets is missing/],
    ["without one of its blobs", (folder) => unlink(blobFile(folder, "a blob")), /incomplete: blobs\/.+ is missing/],
    ["with a link for a blob", (folder) => replaced(folder, (at) => symlink("/etc/hosts", at)), NO_FILE],
    ["with a folder for a blob", (folder) => replaced(folder, (at) => mkdir(at)), NO_FILE],
    ["with a pipe for a blob", (folder) => replaced(folder, async (at) => Bun.spawn(["mkfifo", at]).exited), NO_FILE],
    ["of a newer version", (folder) => newer(folder), /written by a newer svc-server/],
    ["that is no folder", (folder) => rm(folder, { recursive: true }), /There is no folder/],
  ])("a backup %s is refused before anything is written", async (_, harm, sentence) => {
    await server.deploy({ "index.html": "x", "a.txt": "a blob" });
    const folder = await backedUp(server);
    await harm(folder);
    const data_dir = fresh();
    const refused = await operator(data_dir, ["restore", folder]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(sentence)]);
    expect(await exists(data_dir)).toBe(false);
  });

  test("K29 a restore that was killed leaves a folder that no server and no restore takes", async () => {
    await using source = await startServer();
    for (let n = 0; n < 3; n++) {
      const files = Array.from({ length: 150 }, (_, f) => [`${f}.txt`, `site ${n} file ${f} ${"x".repeat(5000)}`]);
      await source.deploy(Object.fromEntries([["index.html", "x"], ...files]));
    }
    const folder = await backedUp(source);
    const data_dir = fresh();
    const restore = Bun.spawn([...SVC_SERVER, "restore", folder, "--data-dir", data_dir], { stderr: "ignore" });
    await until(() => exists(join(data_dir, "blobs")));
    restore.kill("SIGKILL");
    await restore.exited;
    expect(await exists(join(data_dir, "restoring"))).toBe(true);
    await expect(startProcess(["--data-dir", data_dir])).rejects.toThrow("was not finished");
    expect((await operator(data_dir, ["sites"])).code).toBe(1);
    const again = await operator(data_dir, ["restore", folder]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("was interrupted: empty that folder")]);
    await rm(data_dir, { recursive: true });
    expect((await operator(data_dir, ["restore", folder])).code).toBe(0);
  }, 60_000);
});

async function cutLine(folder: string): Promise<void> {
  const path = join(folder, "SHA256SUMS");
  const lines = (await readFile(path, "utf8")).split("\n");
  await writeFile(path, lines.toSpliced(2, 1).join("\n"));
}

async function newer(folder: string): Promise<void> {
  const path = join(folder, "SHA256SUMS");
  await writeFile(path, (await readFile(path, "utf8")).replace(/schema \d+/, "schema 99"));
}
