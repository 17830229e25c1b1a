/** BEYOND 11: what is kept of visits, for how long, and when it goes. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openFile, read } from "../kit/database.ts";
import { databases } from "../kit/database-server.ts";
import { operate, operator } from "../kit/operator.ts";
import { bearer, call, signUp } from "../kit/people.ts";
import { ended, type ServerProcess, startProcess, temporaryFolder } from "../kit/process.ts";
import { callsOf, type DeployResult, startServer, type TestServer } from "../kit/server.ts";
import { shared, sharedServer } from "../kit/shared.ts";
import { until } from "../kit/until.ts";
import { ownership } from "../accounts/owned.ts";
import { backupsIn, serverOn } from "../operators/backups.ts";
import { NAVIGATION, statistics, visit } from "./visiting.ts";

setDefaultTimeout(120_000);
const DAY = 86_400_000;
const PAGE = { "index.html": "<!doctype html><title>Home</title>" };
const GARBAGE = "this is no database".repeat(1000);
const NOTHING = { views: 0, visitors: 0, bots: 0, misses: 0 };

const server = await sharedServer();
const home = shared(await temporaryFolder());
const { fresh, backedUp, restored } = backupsIn(() => home.path);
const { owned } = ownership(() => server);
const ann = await signUp(server);

/** As a server with `SVC_BACKUP` takes it. */
async function snapshotTo(place: string, data_dir: string): Promise<void> {
  const { code, stderr } = await operator(data_dir, ["backup"], { env: { SVC_BACKUP: place } });
  if (code !== 0) throw new Error(stderr);
}

/** The rows that the file, or a shared store, has of a site, counted. */
function rowsOf(data_dir: string, site_id: string): number {
  const count = (from: string): string => `select count(*) as n from ${from} where site_id = ?`;
  if (databases.urlOf(data_dir) !== undefined) {
    const rows = ["stats_days", "stats_names"].map(
      (table) => read<{ n: unknown }>(data_dir, count(table), site_id)[0]!,
    );
    return rows.reduce((sum, { n }) => sum + Number(n), 0);
  }
  using db = openFile(data_dir, "stats.db");
  const counts = ["days", "names"].map((table) => db.query<{ n: number }, [string]>(count(`${table} join sites using (site_no)`))); // prettier-ignore
  return counts.reduce((sum, one) => sum + one.get(site_id)!.n, 0);
}

async function visited(at: TestServer, files = PAGE): Promise<DeployResult> {
  const site = await at.deploy(files);
  await visit(at, site.slug);
  await visit(at, site.slug, "/missing-page");
  expect((await statistics(at, site)).totals).toEqual({ ...NOTHING, views: 1, visitors: 1, misses: 1 });
  expect(rowsOf(at.data_dir, site.site_id)).toBe(3);
  return site;
}

describe("BEYOND 11: names are bounded, whatever strangers ask for", () => {
  test("1,000 paths, 200 referrers and 200 misses a day; the rest is (other), before a flush and after many", async () => {
    const site = await server.deploy(PAGE, "?spa=on");
    const plain = await server.deploy(PAGE);
    const ask = async (slug: string, n: number) => {
      const headers = { ...NAVIGATION, referer: `https://r${n}.example/` };
      await (await server.site(slug, `/p-${n}`, { headers })).arrayBuffer();
    };
    for (const [from, to] of [
      [0, 600],
      [600, 1300],
    ] as const) {
      await Promise.all(
        Array.from({ length: 8 }, async (_, w) => {
          for (let n = from + w; n < to; n += 8) await Promise.all([ask(site.slug, n), ask(plain.slug, n)]);
        }),
      );
      await statistics(server, site); // hands over what is held
      await statistics(server, plain);
    }
    using db = openFile(server.data_dir, "stats.db");
    const names = (id: string, kind: string) =>
      db
        .query<{ n: number; sum: number; other: number }, [string, string]>(
          `select count(*) as n, sum(count) as sum, sum(case name when '(other)' then count else 0 end) as other
         from names join sites using (site_no) where site_id = ? and kind = ?`,
        )
        .get(id, kind)!;
    expect(names(site.site_id, "paths")).toEqual({ n: 1001, sum: 1300, other: 300 });
    expect(names(site.site_id, "referrers")).toEqual({ n: 201, sum: 1300, other: 1100 });
    expect(names(plain.site_id, "missed")).toEqual({ n: 201, sum: 1300, other: 1100 });
    const told = await statistics(server, site);
    expect([told.paths.length, told.paths[0]]).toEqual([100, { path: "(other)", views: 300 }]);
    expect(told.referrers[0]).toEqual({ host: "(other)", views: 1100 });
    expect((await statistics(server, plain)).misses[0]).toMatchObject({ path: "(other)", hits: 1100, rule: null });
  });

  test("names of every class of characters and of some KB come back as they were asked for, cut, in a whole answer", async () => {
    const site = await server.deploy(PAGE, "?spa=on");
    const names = [
      "‮evil",
      "emoji-😀",
      "한글",
      "ﷺ",
      "a\u0301\u0302",
      "'\"<script>alert(1)</script>",
      "%",
      "\u2028line",
      "\ufeffx",
      "-- drop table days",
      "x".repeat(5000),
    ];
    for (const name of names) {
      const headers = {
        ...NAVIGATION,
        "user-agent": `Mozilla/5.0 ${"U".repeat(5000)}`,
        referer: `https://${"r".repeat(60)}.example/${"q".repeat(2000)}`,
      };
      expect(await visit(server, site.slug, `/${encodeURIComponent(name)}`, headers)).toBe(200);
    }
    const told = await statistics(server, site);
    expect(told.paths.map(({ path }) => path).toSorted()).toEqual(
      names.map((name) => `/${name}`.normalize("NFC").slice(0, 256)).toSorted(),
    );
    expect(told.totals).toMatchObject({ views: names.length, visitors: 1 });
    expect(told.referrers).toEqual([{ host: `${"r".repeat(60)}.example`, views: names.length }]);
  });
});

describe("BEYOND 11: DATA/stats.db", () => {
  test("keeps 400 days, today among them", async () => {
    await using other = await startServer();
    const site = await visited(other);
    other.giveAway(site);
    other.advance(399 * DAY);
    await visit(other, site.slug);
    expect((await statistics(other, site, "days=400")).totals).toMatchObject({ views: 2, misses: 1 });
    other.advance(DAY);
    await visit(other, site.slug);
    expect((await statistics(other, site, "days=400")).totals).toMatchObject({ views: 2, misses: 0 });
    expect(rowsOf(other.data_dir, site.site_id)).toBe(4);
  });

  test("is the server's user's alone, and is flushed at the drain", async () => {
    await using other = await startServer({ SVC_STATS_FLUSH: "1h" });
    const site = await other.deploy(PAGE);
    await visit(other, site.slug);
    await other.stop();
    expect(rowsOf(other.data_dir, site.site_id)).toBe(2);
    expect((await stat(join(other.data_dir, "stats.db"))).mode & 0o777).toBe(0o600);
  });

  test.each([
    ["is garbage at the start", (path: string) => writeFile(path, GARBAGE), "damaged"],
    ["is a folder", async (path: string) => (await rm(path), await Bun.write(join(path, "x"), "x")), "damaged"],
    [
      "is half of it",
      async (path: string) => writeFile(path, (await Bun.file(path).bytes()).subarray(0, 9000)),
      "damaged",
    ],
    ["is gone", (path: string) => rm(path), "gone"],
  ] as const)("pages are served and counting begins anew where it %s, running or not", async (_, harm, word) => {
    for (const running of [false, true]) {
      const data_dir = fresh();
      const start = () => startProcess(["--data-dir", data_dir, "--log", "json"], { env: { SVC_STATS_FLUSH: "1s" } });
      let process = await start();
      const site = await callsOf(process).deploy(PAGE);
      await visit(process, site.slug);
      await statistics(callsOf(process), site);
      const path = join(data_dir, "stats.db");
      if (!running) await ended(process, "SIGTERM");
      for (const suffix of running ? [] : ["-wal", "-shm"]) await rm(path + suffix, { force: true });
      await harm(path);
      if (!running) process = await start();
      expect(await visit(process, site.slug)).toBe(200);
      const { totals } = await statistics(callsOf(process), site);
      // While it runs the log may still have all that was overwritten in the file.
      expect(totals.views).toBeWithin(1, running ? 3 : 2);
      await ended(process, "SIGTERM");
      if (running ? word === "gone" : word === "damaged") {
        expect(process.stderr()).toMatch(new RegExp(`statistics.*${word}`));
        expect(existsSync(`${path}.damaged`)).toBe(word === "damaged");
      }
    }
  });

  test("two workers lose no count and count a visitor of both once; kill -9 loses what was not flushed", async () => {
    const data_dir = fresh();
    const flags = ["--data-dir", data_dir, "--workers", "2", "--log", "off", "--trust-proxy", "127.0.0.1"];
    const start = () => startProcess(flags, { env: { SVC_STATS_FLUSH: "1s" } });
    let process: ServerProcess = await start();
    const site = await callsOf(process).deploy(PAGE);
    const visits = Array.from({ length: 200 }, (_, n) => n);
    await Promise.all(
      visits.map((n) =>
        visit(process, site.slug, n % 2 ? "/" : "/none", { ...NAVIGATION, "x-forwarded-for": `192.0.2.${n % 50}` }),
      ),
    );
    const expected = { views: 100, visitors: 25, bots: 0, misses: 100 };
    await until(async () => (await statistics(callsOf(process), site)).totals.views === 100);
    await until(async () => Bun.deepEquals((await statistics(callsOf(process), site)).totals, expected));
    await process.end();
    process = await start();
    const told = await statistics(callsOf(process), site);
    expect([told.totals, told.paths, told.misses]).toEqual([
      expected,
      [{ path: "/", views: 100 }],
      [{ path: "/none", hits: 100, internal: 0, rule: null }],
    ]);
    await visit(process, site.slug);
    expect((await statistics(callsOf(process), site)).totals.views).toBeLessThanOrEqual(101);
    await process.end();
  });
});

describe("BEYOND 11: the rows of a site go at once", () => {
  const remove: Record<string, (site: DeployResult) => Promise<unknown>> = {
    "when its owner deletes it": async (site) =>
      call(server, "DELETE", `/account/sites/${site.site_id}`, undefined, ann.bearer),
    "when its owner deletes it with others": async (site) =>
      call(server, "POST", "/account/sites/bulk-delete", { site_ids: [site.site_id] }, ann.bearer),
    "when the operator deletes it": async (site) => operate(server.data_dir, "delete", site.slug),
    "with {stats: false}": async (site) =>
      call(server, "PATCH", `/sites/${site.site_id}/settings`, { stats: false }, ann.bearer),
  };
  test.each(Object.entries(remove))("%s", async (_, act) => {
    const site = await owned(ann, "to go");
    const other = await visited(server);
    await visit(server, site.slug);
    await call(server, "GET", `/sites/${site.site_id}/stats`, undefined, ann.bearer);
    await visit(server, site.slug); // held, and not flushed
    expect(rowsOf(server.data_dir, site.site_id)).toBe(2);
    await act(site);
    expect(rowsOf(server.data_dir, site.site_id)).toBe(0);
    expect(rowsOf(server.data_dir, other.site_id)).toBe(3);
  });

  test("with the account", async () => {
    const bob = await signUp(server);
    const site = await owned(bob, "to go");
    await visit(server, site.slug);
    await call(server, "GET", `/sites/${site.site_id}/stats`, undefined, bob.bearer);
    expect(rowsOf(server.data_dir, site.site_id)).toBe(2);
    await call(server, "DELETE", "/account", undefined, bob.bearer);
    expect(rowsOf(server.data_dir, site.site_id)).toBe(0);
  });

  test("with the sweep that ends it", async () => {
    const site = await visited(server);
    server.expire(site);
    await operate(server.data_dir, "gc");
    expect(rowsOf(server.data_dir, site.site_id)).toBe(0);
  });

  test("what was held of it is dropped, and what comes once it counts again is new", async () => {
    const site = await visited(server);
    const set = (stats: boolean) =>
      call(server, "PATCH", `/sites/${site.site_id}/settings`, { stats }, bearer(site.manage_token));
    await visit(server, site.slug);
    await set(false);
    expect(await visit(server, site.slug)).toBe(200);
    expect(await statistics(server, site)).toMatchObject({ enabled: false, totals: NOTHING, paths: [] });
    await set(true);
    await visit(server, site.slug);
    expect(await statistics(server, site)).toMatchObject({ enabled: true, totals: { views: 1, misses: 0 } });
  });

  test("nothing of them is left in the file or its log", async () => {
    const site = await server.deploy(PAGE);
    await visit(server, site.slug, "/an-unmistakable-path");
    await statistics(server, site);
    const holds = () => Bun.spawnSync(["grep", "-c", "unmistakable", join(server.data_dir, "stats.db"), join(server.data_dir, "stats.db-wal")]).stdout.toString(); // prettier-ignore
    expect(holds()).toMatch(/:[1-9]/);
    await call(server, "PATCH", `/sites/${site.site_id}/settings`, { stats: false }, bearer(site.manage_token));
    expect(holds()).not.toMatch(/:[1-9]/);
  });
});

test("BEYOND 11: SVC_STATS=off counts nothing, has no salt, and shows what was counted before", async () => {
  await using other = await startServer();
  const site = await visited(other);
  await other.stop();
  await other.start([{ SVC_STATS: "off" }]);
  expect(existsSync(join(other.data_dir, "stats-salt"))).toBe(false);
  await visit(other, site.slug);
  expect(await statistics(other, site)).toMatchObject({ enabled: false, totals: { views: 1, misses: 1 } });
});

describe("BEYOND 11: backups", () => {
  test("a copy has statistics and never the salt; what is restored of it shows them", async () => {
    const site = await visited(server);
    const folder = await backedUp(server);
    expect((await readdir(folder)).filter((name) => name.startsWith("stats"))).toEqual(["stats.db"]);
    await using other = await serverOn(await restored(folder));
    expect((await statistics(other, site)).totals).toEqual({ ...NOTHING, views: 1, visitors: 1, misses: 1 });
    await visit(other, site.slug);
    expect((await statistics(other, site)).totals.views).toBe(2);
  });

  test("so does a snapshot", async () => {
    const site = await visited(server);
    const place = fresh();
    await snapshotTo(place, server.data_dir);
    const data_dir = fresh();
    await operate(data_dir, "restore", place);
    await using other = await serverOn(data_dir);
    expect((await statistics(other, site)).totals).toEqual({ ...NOTHING, views: 1, visitors: 1, misses: 1 });
    using db = openFile(data_dir);
    expect(db.query("select name from sqlite_schema where name like 'backup_%'").all()).toEqual([]);
  });

  test("a damaged file keeps no backup from being made, and verify names it", async () => {
    await using other = await startServer();
    await visited(other);
    await other.stop();
    for (const suffix of ["", "-wal", "-shm"]) await rm(join(other.data_dir, `stats.db${suffix}`), { force: true });
    await writeFile(join(other.data_dir, "stats.db"), GARBAGE);
    const verified = await operator(other.data_dir, ["verify"]);
    expect([verified.code, verified.stdout]).toEqual([1, expect.stringContaining("stats.db")]);
    await operate(other.data_dir, "backup", fresh());
    await snapshotTo(fresh(), other.data_dir);
  });
});
