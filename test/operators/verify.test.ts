/** `svc-server verify` and `gc` (CONTRACT 7, RELIABILITY 2): bit rot is found, put aside, told, and healed by a
 *  redeploy; nothing that a version names is ever swept. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, readdir, readFile, stat, truncate, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loseLiveVersion } from "../kit/database.ts";
import { blobFile, listed, operate, operator } from "../kit/operator.ts";
import { SVC_SERVER } from "../kit/process.ts";
import { startServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";

setDefaultTimeout(60_000);

const HOUR_MS = 60 * 60_000;
const TEXT = "bytes that will rot";
const SHA256 = blobFile("", TEXT).slice(-64);

/** The same length, so that only a hash can tell. */
const flip = async (path: string) => {
  const bytes = await readFile(path);
  bytes[3]! ^= 1;
  await writeFile(path, bytes);
};

const ROT: [string, string, (path: string) => Promise<unknown>][] = [
  ["flipped", "damaged", flip],
  ["cut", "damaged", (path) => truncate(path, 4)],
  ["emptied", "damaged", (path) => truncate(path, 0)],
  ["deleted", "missing", unlink],
];

describe("verify", () => {
  test("finds nothing in what is whole: exit code 0", async () => {
    await using server = await startServer();
    await server.deploy({ "index.html": "a", "b.txt": "b" });
    const result = await operator(server.data_dir, ["verify"]);
    expect(result).toEqual({ code: 0, stdout: "", stderr: "checked 2 blobs, 2 bytes: 0 faults\n" });
  });

  test.each(ROT)(
    "a blob that was %s is %s: exit code 1, its sites are listed, a redeploy heals it",
    async (_, why, rot) => {
      await using server = await startServer();
      const first = await server.deploy({ "index.html": "one", "a.txt": TEXT });
      const second = await server.deploy({ "index.html": TEXT });
      await server.redeploy(second, { "index.html": "newer" });
      await rot(blobFile(server.data_dir, TEXT));

      const found = await operator(server.data_dir, ["verify"]);
      expect(found.code).toBe(1);
      expect(found.stdout.trimEnd().split("\n")).toEqual([
        expect.stringContaining(`blob ${SHA256} is ${why}`),
        `  ${first.slug} (${first.site_id}) ${first.version_id} [live] a.txt`,
        `  ${second.slug} (${second.site_id}) ${second.version_id} index.html`,
      ]);
      const quarantine = await readdir(join(server.data_dir, "quarantine")).catch(() => []);
      expect(quarantine).toEqual(why === "missing" ? [] : [SHA256]);
      expect(await Bun.file(blobFile(server.data_dir, TEXT)).exists()).toBe(false);
      const again = await operator(server.data_dir, ["verify"]);
      expect([again.code, again.stdout]).toEqual([1, expect.stringContaining(`blob ${SHA256} is missing`)]);

      await server.deploy({ "index.html": "three", "other-name.txt": TEXT });
      expect((await operator(server.data_dir, ["verify"])).code).toBe(0);
      expect(await (await server.site(first.slug, "/a.txt")).text()).toBe(TEXT);
    },
  );

  test("a blob in quarantine is a 500 for its file and harms no other", async () => {
    await using server = await startServer();
    const site = await server.deploy({ "index.html": "whole", "a.bin": TEXT });
    await flip(blobFile(server.data_dir, TEXT));
    await operator(server.data_dir, ["verify"]);
    await server.stop();
    await server.start([]);
    expect((await server.site(site.slug, "/a.bin")).status).toBe(500);
    expect((await server.site(site.slug)).status).toBe(200);
  });

  // Root reads everything: there the file is whole, and that is the right answer.
  test("a blob that may not be read is not called whole", async () => {
    await using server = await startServer();
    await server.deploy({ "index.html": TEXT });
    const path = blobFile(server.data_dir, TEXT);
    await chmod(path, 0);
    const readable = await readFile(path).then(
      () => true,
      () => false,
    );
    const found = await operator(server.data_dir, ["verify"]);
    expect(found.code).toBe(readable ? 0 : 1);
    if (!readable) expect(found.stdout).toContain("cannot be read");
  });

  test("faults of the database itself are told too", async () => {
    await using server = await startServer();
    const site = await server.deploy({ "index.html": "x" });
    loseLiveVersion(server.data_dir, site);
    const found = await operator(server.data_dir, ["verify"]);
    expect([found.code, found.stdout]).toEqual([
      1,
      "database: a row of sites names a row of versions that is not there\n",
    ]);
  });

  test("what it found shows in the metrics of the running server, until it is healed", async () => {
    await using server = await startServer("--gc-interval", "1s");
    await server.deploy({ "index.html": TEXT });
    const missing = async () => /^svc_blobs_missing (\d+)$/m.exec(await (await server.api("/metrics")).text())![1];
    expect(await missing()).toBe("0");
    await unlink(blobFile(server.data_dir, TEXT));
    await operator(server.data_dir, ["verify"]);
    expect(await missing()).toBe("1");
    await server.deploy({ "index.html": "x", "a.txt": TEXT });
    await until(async () => (await missing()) === "0");
  });

  test("the server goes through all blobs by itself, a slice after each sweep", async () => {
    await using server = await startServer("--gc-interval", "1s");
    const site = await server.deploy({ "index.html": "x", "a.txt": TEXT, "b.txt": "another" });
    const path = blobFile(server.data_dir, TEXT);
    await flip(path);
    await until(() => stat(path).then(() => false, () => true)); // prettier-ignore
    expect(await readdir(join(server.data_dir, "quarantine"))).toEqual([SHA256]);
    expect((await server.site(site.slug, "/b.txt")).status).toBe(200);
  });

  test("beside deploys of the very bytes that rot, no blob of a live version is lost", async () => {
    await using server = await startServer();
    const sites = await Promise.all([1, 2].map((n) => server.deploy({ "index.html": `site ${n}`, "a.txt": TEXT })));
    let stop = false;
    const deploying = Promise.all(
      sites.map(async (site, n) => {
        for (let i = 0; !stop; i++) await server.redeploy(site, { "index.html": `site ${n} ${i}`, "a.txt": TEXT });
      }),
    );
    for (let round = 0; round < 4; round++) {
      await flip(blobFile(server.data_dir, TEXT)).catch(() => {});
      await operator(server.data_dir, ["verify"]);
    }
    stop = true;
    await deploying;
    for (const site of sites) await server.redeploy(site, { "index.html": "last", "a.txt": TEXT });
    expect((await operator(server.data_dir, ["verify"])).code).toBe(0);
  });
});

describe("gc", () => {
  const backdate = async (path: string) => {
    const old = new Date(Date.now() - 2 * HOUR_MS);
    await utimes(path, old, old);
  };

  test("takes what expired and what nothing names for an hour, and says how much", async () => {
    await using server = await startServer();
    const kept = await server.deploy({ "index.html": "kept", "a.txt": TEXT });
    const gone = await server.deploy({ "index.html": "gone", "a.txt": TEXT });
    await operate(server.data_dir, "delete", gone.slug);
    for (const text of ["kept", "gone", TEXT]) await backdate(blobFile(server.data_dir, text));
    const young = await server.deploy({ "index.html": "young" });
    await operate(server.data_dir, "delete", young.slug);
    const { stderr } = await operate(server.data_dir, "gc");
    expect(stderr).toBe("swept 0 expired sites and 1 orphaned file\n");
    const left = await Promise.all(
      ["kept", TEXT, "gone", "young"].map((text) => Bun.file(blobFile(server.data_dir, text)).exists()),
    );
    expect(left).toEqual([true, true, false, true]);
    expect(await (await server.site(kept.slug, "/a.txt")).text()).toBe(TEXT);
  });

  test("K25 G3 a clock that is behind the newest deploy: refused with a sentence, swept with --force", async () => {
    await using server = await startServer();
    server.advance(48 * HOUR_MS);
    const gone = await server.deploy({ "index.html": "gone" });
    await server.deploy({ "index.html": "from tomorrow" });
    await operate(server.data_dir, "delete", gone.slug);
    await backdate(blobFile(server.data_dir, "gone"));
    const refused = await operator(server.data_dir, ["gc"]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("The clock is behind")]);
    expect(await Bun.file(blobFile(server.data_dir, "gone")).exists()).toBe(true);
    await operate(server.data_dir, "gc", "--force");
    expect(await Bun.file(blobFile(server.data_dir, "gone")).exists()).toBe(false);
  });

  test("K25 killed at any moment it loses nothing that a version names, and the next one ends the work", async () => {
    await using server = await startServer();
    const files = (from: number) =>
      Object.fromEntries(Array.from({ length: 190 }, (_, n) => [`${n}`, `file ${from + n}`]));
    const blobs = () => Array.fromAsync(new Bun.Glob("??/*").scan({ cwd: join(server.data_dir, "blobs") }));
    const kept = await server.deploy({ "index.html": "kept", ...files(0) });
    const named = new Set(await blobs());
    for (const from of [100, 300, 500, 700, 900, 1100]) {
      const gone = await server.deploy({ "index.html": `gone ${from}`, ...files(from) });
      await operate(server.data_dir, "delete", gone.slug);
    }
    for (const path of await blobs()) await backdate(join(server.data_dir, "blobs", path));
    // In the order in which gc goes through them, so that the last one tells whether it had ended.
    const orphans = (await blobs()).filter((path) => !named.has(path)).toSorted();
    const isThere = (at: number) => existsSync(join(server.data_dir, "blobs", orphans.at(at)!));
    for (const reached of [0, 150, 300, 450]) {
      expect(isThere(-1)).toBe(true);
      const gc = Bun.spawn([...SVC_SERVER, "gc", "--data-dir", server.data_dir], { stderr: "ignore" });
      await until(() => !isThere(reached), 0);
      gc.kill("SIGKILL");
      await gc.exited;
      expect(isThere(-1)).toBe(true);
      expect((await operator(server.data_dir, ["verify"])).code).toBe(0);
    }
    await operate(server.data_dir, "gc");
    expect(await blobs()).toHaveLength(191);
    const again = await server.deploy({ "index.html": "again", ...files(300) });
    expect(await (await server.site(again.slug, "/149")).text()).toBe("file 449");
    expect(await (await server.site(kept.slug, "/149")).text()).toBe("file 149");
  });

  test("K24 bytes that were swept are stored anew by the next deploy that has them", async () => {
    await using server = await startServer();
    const gone = await server.deploy({ "index.html": TEXT });
    await operate(server.data_dir, "delete", gone.slug);
    await backdate(blobFile(server.data_dir, TEXT));
    await operate(server.data_dir, "gc");
    const site = await server.deploy({ "index.html": TEXT });
    expect(await (await server.site(site.slug)).text()).toContain(TEXT);
    expect(await listed(server.data_dir, "sites")).toHaveLength(1);
  });
});
