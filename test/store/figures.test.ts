/** BEYOND 9: the figures of sites are kept up to date, come with an upgrade, and are checked. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { databaseFile } from "../../src/store/sqlite/database.ts";
import { write } from "../kit/database.ts";
import { operator } from "../kit/operator.ts";
import { ROOT } from "../kit/paths.ts";
import { startServer } from "../kit/server.ts";

const SCHEMAS = join(ROOT, "src", "store", "sqlite");
let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "svc-figures-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** As the program of that schema left it. */
function databaseOf(schema: number): Database {
  const db = new Database(join(folder, "db"), { strict: true, create: true });
  db.run("PRAGMA foreign_keys = ON");
  for (let step = 1; step <= schema; step++) db.run(readFileSync(join(SCHEMAS, `schema-${step}.sql`), "utf8"));
  db.run(`PRAGMA user_version = ${schema}`);
  return db;
}

interface File {
  path: string;
  blob_no: number;
  made?: 1;
}

function store(db: Database, site_id: string, owner: string | null, versions: File[][]): void {
  db.transaction(() => {
    const expires_at = owner === null ? 4e12 : null;
    db.run(
      "insert into sites (site_id, slug, owner_account_id, created_at, expires_at, live_version_id) values (?, ?, ?, '', ?, 'v0')",
      [site_id, site_id, owner, expires_at],
    );
    versions.forEach((files, n) => {
      const { version_no } = db
        .query<{ version_no: number }, [string, string]>(
          `insert into versions (site_id, version_id, digest, created_at, files, bytes, spa_enabled, spa_rule)
           values (?, ?, '', '', 1, 1, 0, 'none') returning version_no`,
        )
        .get(site_id, `v${n}`)!;
      for (const { path, blob_no, made = 0 } of files) {
        db.run("insert into files (version_no, path, blob_no, media_type, made) values (?, ?, ?, '', ?)", [
          version_no,
          path,
          blob_no,
          made,
        ]);
      }
    });
  })();
}

test("an upgrade counts what is stored: distinct uploaded blobs of each site, once", () => {
  using db = databaseOf(4);
  for (const [n, bytes] of [1, 10, 100, 1000].entries())
    db.run("insert into blobs values (?, ?, ?)", [n, `${n}`, bytes]);
  store(db, "other", null, [[{ path: "a", blob_no: 0 }]]);
  store(db, "site", "acct_x", [
    [
      { path: "a", blob_no: 1 },
      { path: "same", blob_no: 1 },
      { path: "made", blob_no: 3, made: 1 },
    ],
    [
      { path: "a", blob_no: 1 },
      { path: "b", blob_no: 2 },
    ],
  ]);
  databaseFile.migrate(db);
  const rows = db
    .query("select site_id, site_no, stored_bytes, stored_disk, stored_versions from sites order by site_id")
    .all();
  expect(rows).toEqual([
    { site_id: "other", site_no: 1, stored_bytes: 1, stored_disk: 4096 + 66, stored_versions: 1 },
    {
      site_id: "site",
      site_no: 2,
      stored_bytes: 110,
      stored_disk: 3 * 4096 + 66 + 72 + 72 + 66 + 66,
      stored_versions: 2,
    },
  ]);
  expect(db.query("select version_no, site_no from files group by 1, 2").values()).toEqual([
    [1, 1],
    [2, 2],
    [3, 2],
  ]);
  expect(db.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
  expect(db.query("PRAGMA foreign_key_check").values()).toEqual([]);
});

test("verify says where the figures of a site are not those of its versions", async () => {
  await using server = await startServer();
  const site = await server.deploy({ "index.html": "x" });
  expect((await operator(server.data_dir, ["verify"])).code).toBe(0);
  for (const wrong of [
    "stored_bytes = stored_bytes + 1",
    "stored_bytes = stored_bytes - 1, stored_disk = 1",
    "stored_disk = 0, stored_versions = 2",
  ]) {
    write(server.data_dir, `update sites set ${wrong} where site_id = ?`, site.site_id);
    const { code, stdout, stderr } = await operator(server.data_dir, ["verify"]);
    expect(code).toBe(1);
    expect(stdout + stderr).toContain(`the figures of ${site.slug} are not those of its versions`);
  }
});
