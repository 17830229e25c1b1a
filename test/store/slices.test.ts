/** RELIABILITY 2, Delete: what goes is gone at once, and its bulk follows in slices that keep nobody waiting. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sweeping } from "../../src/store/sweep.ts";
import { databaseFile } from "../../src/store/sqlite/database.ts";
import { openDataDir } from "../../src/store/sqlite/data-dir.ts";
import { count, openFile, read } from "../kit/database.ts";
import { addSites, addVersions } from "../kit/many.ts";
import { operate } from "../kit/operator.ts";
import { ROOT } from "../kit/paths.ts";
import { bearer, call, signUp } from "../kit/people.ts";
import { local, startProcess, temporaryFolder } from "../kit/process.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { longTest } from "../kit/whole.ts";

setDefaultTimeout(120_000);

const page = { "index.html": "<title>x</title>x", "a.txt": "a" };

/** The rows that a transaction of `work` changed at most. */
async function largest(data_dir: string, work: (parts: ReturnType<typeof openDataDir>) => Promise<unknown>) {
  const parts = openDataDir(data_dir, Date.now);
  const changed = () => parts.sqlite.query<{ n: number }, []>("select total_changes() as n").get()!.n;
  let most = 0;
  let transactions = 0;
  const counted = <T>(run: () => Promise<T>) => {
    const before = changed();
    return run().finally(() => {
      most = Math.max(most, changed() - before);
      transactions++;
    });
  };
  const { db } = parts;
  await work({
    ...parts,
    db: { ...db, write: (op) => counted(() => db.write(op)), change: (op, told) => counted(() => db.change(op, told)) },
  });
  parts.close();
  return { most, transactions };
}

/** What the deletion of a whole site must leave behind at every moment. */
function sound(data_dir: string): void {
  using db = openFile(data_dir);
  expect(db.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
  expect(db.query("PRAGMA foreign_key_check").values()).toEqual([]);
  const astray = `select count(*) from versions where site_id not in (select site_id from sites)
    and site_id not in (select site_id from leftovers)`;
  expect(db.query(astray).values()).toEqual([[0]]);
  // P4: the rows of half a version still name their blobs.
  expect(db.query("select count(*) from files where blob_no not in (select blob_no from blobs)").values()).toEqual([
    [0],
  ]);
}

const deleted = (server: TestServer, site_id: string, headers: Record<string, string>) =>
  call(server, "DELETE", `/account/sites/${site_id}`, undefined, headers);

describe("a site of thousands of versions", () => {
  test("D1, D2 is gone with one short transaction; its rows follow, 500 of them at a time at most", async () => {
    await using server = await startServer();
    const person = await signUp(server);
    const site = (await (await server.post(zipOf(page), person.bearer)).json()) as { site_id: string; slug: string };
    addVersions(server.data_dir, site, 2000);
    expect((await deleted(server, site.site_id, person.bearer)).status).toBe(200);
    expect((await server.site(site.slug)).status).toBe(404);
    expect([server.rows("sites"), server.rows("versions"), server.rows("files")]).toEqual([0, 2001, 4002]);
    expect((await server.running.store.census(Date.now())).versions).toBe(0);
    expect((await call(server, "GET", "/account/sites", undefined, person.bearer)).body.sites).toEqual([]);
    sound(server.data_dir);
    const { most, transactions } = await largest(server.data_dir, sweeping.clearLeftovers);
    expect(most).toBeLessThanOrEqual(500);
    expect(transactions).toBeGreaterThan(10);
    expect(["versions", "files", "leftovers"].map((table) => server.rows(table))).toEqual([0, 0, 0]);
    sound(server.data_dir);
  });

  test("K24 whose removal is ended between two slices is removed by the next sweep, and is whole nowhere", async () => {
    await using dir = await temporaryFolder();
    const flags = ["--data-dir", dir.path, "--gc-interval", "1s", "--log", "off"];
    const first = await startProcess(flags);
    const answer = await fetch(`${local(first)}/sites`, {
      method: "POST",
      body: zipOf(page),
      headers: { "content-type": "application/zip" },
    });
    const site = (await answer.json()) as { site_id: string; slug: string };
    addVersions(dir.path, site, 20_000);
    const rows = () => count(dir.path, "files");
    const all = rows();
    await operate(dir.path, "delete", site.slug);
    await until(() => rows() < all);
    await first.end();
    expect(rows()).toBeGreaterThan(0);
    sound(dir.path);
    await operate(dir.path, "verify");
    const second = await startProcess(flags);
    const headers = { host: `${site.slug}.localhost:${second.port}` };
    expect((await fetch(`${local(second)}/`, { headers })).status).toBe(404);
    await until(() => count(dir.path, "leftovers") === 0);
    expect([rows(), count(dir.path, "versions"), count(dir.path, "tombstones")]).toEqual([0, 0, 1]);
    await second.end();
    sound(dir.path);
  });

  test("leaves nothing of its content in a backup that is taken before the sweep", async () => {
    await using server = await startServer();
    await using folder = await temporaryFolder();
    const site = await server.deploy({ "index.html": "to be forgotten" });
    addVersions(server.data_dir, site, 2000);
    await operate(server.data_dir, "delete", site.slug);
    const backup = join(folder.path, "backup");
    await operate(server.data_dir, "backup", backup);
    expect(["versions", "files", "leftovers"].map((table) => count(backup, table))).toEqual([0, 0, 0]);
    expect(count(backup, "tombstones")).toBe(1);
  });
});

describe("many sites", () => {
  longTest(
    "K23 an account of 4,900 goes whole in one transaction; each site is gone, its token says so, its slug stays taken",
    async () => {
      await using server = await startServer();
      const person = await signUp(server);
      const site = (await (await server.post(zipOf(page), person.bearer)).json()) as {
        site_id: string;
        slug: string;
        manage_token: string;
      };
      addSites(server.data_dir, site, 4899);
      expect((await server.site("many-4899")).status).toBe(200);
      const answer = await call(server, "DELETE", "/account", undefined, person.bearer);
      expect(answer.body.deleted).toBeArrayOfSize(4900);
      for (const slug of [site.slug, "many-1", "many-4899"]) expect((await server.site(slug)).status).toBe(404);
      const former = await call(server, "GET", `/sites/${site.site_id}`, undefined, bearer(site.manage_token));
      expect([former.status, former.body.code]).toEqual([404, "unknown_site"]);
      expect(["sites", "accounts", "sessions"].map((table) => server.rows(table))).toEqual([0, 0, 0]);
      expect([server.rows("tombstones"), server.rows("leftovers"), server.rows("audit")]).toEqual([4900, 4900, 4901]);
      sound(server.data_dir);
      await server.running.store.sweep(server.now());
      expect(["versions", "files", "leftovers"].map((table) => server.rows(table))).toEqual([0, 0, 0]);
      sound(server.data_dir);
    },
  );

  test("that expire go a hundred at a time", async () => {
    await using server = await startServer();
    const site = await server.deploy(page);
    addSites(server.data_dir, site, 999);
    const { most, transactions } = await largest(server.data_dir, (parts) =>
      sweeping.expireSites(parts, site.expires_at!),
    );
    expect(most).toBeLessThanOrEqual(400); // a tombstone, a note for the sweep, an audit line, and the row that goes
    expect(transactions).toBeGreaterThanOrEqual(10);
    expect((await server.site("many-999")).status).toBe(410);
    sound(server.data_dir);
  });
});

test("K17 a database of schema 4 keeps its versions, files and tokens, also those of sites that are gone", async () => {
  await using dir = await temporaryFolder();
  using db: Database = openFile(dir.path, "db", false);
  for (const n of [1, 2, 3, 4]) db.run(readFileSync(join(ROOT, `src/store/sqlite/schema-${n}.sql`), "utf8"));
  db.run(`PRAGMA user_version = 4;
    begin;
    insert into sites (site_id, slug, created_at, expires_at, live_version_id) values ('site_a', 'a', '2031', 1, 'v');
    insert into versions values (7, 'site_a', 'v', 'd', null, '2031', 1, 1, 0, 'none');
    insert into blobs values (3, 'hash', 1);
    insert into files values (7, 'index.html', 3, 'text/html', 0);
    insert into tokens values ('one', 'site_a', 'manage', '2031', null);
    insert into tombstones values ('b', 'site_b', 'deleted', '2031');
    insert into tombstone_tokens values ('two', 'site_b', 'claim');
    commit`);
  databaseFile.migrate(db);
  const rows = (table: string) => db.query(`select count(*) from ${table}`).values()[0]![0];
  expect(["sites", "versions", "files", "tokens", "tombstones"].map(rows)).toEqual([1, 1, 1, 2, 1]);
  expect(db.query("PRAGMA foreign_key_check").values()).toEqual([]);
  expect(db.query("PRAGMA foreign_keys").values()).toEqual([[1]]);
  expect(read(dir.path, "select hash, site_id, kind from tokens order by hash")).toEqual([
    { hash: "one", site_id: "site_a", kind: "manage" },
    { hash: "two", site_id: "site_b", kind: "claim" },
  ]);
});
