/** The database as a file: the one place of the tests that knows SQL and where the tables lie. Whoever tests the service
 *  itself uses the names of `TestServer`. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { Bounds } from "../../src/store/quotas.ts";
import { openBoxPage } from "../../src/store/postgres/box-page.ts";
import { openDataDir } from "../../src/store/sqlite/data-dir.ts";
import { type Asked, databases, onlyEmbedded, type Value } from "./database-server.ts";

/** For tests that store versions themselves. */
export const UNBOUNDED: Bounds = { quota_account: null, quota_address: null, keep_versions: null };

/** A database file of the data directory: "db", or "rates.db". The caller closes it: `using db = …`. */
export function openFile(data_dir: string, name = "db", readonly = true): Database {
  if (databases.urlOf(data_dir) !== undefined) throw onlyEmbedded(`${name} is a file`);
  const db = new Database(join(data_dir, name), readonly ? { readonly } : { create: true, strict: true });
  db.run("PRAGMA busy_timeout = 5000");
  if (!readonly) db.run("PRAGMA foreign_keys = ON");
  return db;
}

/** Changes the database. A running server sees the change at its next request, for each commit advances the generation. */
export const write = (data_dir: string, statement: string, ...values: Value[]): void =>
  writeAll(data_dir, [{ statement, values }]);

/** Several changes in one transaction. */
function writeAll(data_dir: string, changes: readonly Asked[]): void {
  const url = databases.urlOf(data_dir);
  if (url !== undefined) {
    if (changes.some(({ statement }) => /\bjson_set\(/.test(statement))) throw onlyEmbedded("its SQL is SQLite's");
    databases.runAll(url, changes);
    const page = openBoxPage(data_dir, Date.now, 0, false);
    page.advance("all");
    return page.close();
  }
  const { sqlite, generation, close } = openDataDir(data_dir, Date.now);
  try {
    const all = sqlite.transaction(() => {
      for (const { statement, values } of changes) sqlite.run(statement, [...values]);
    });
    all();
    generation.advance();
  } finally {
    close();
  }
}

export function read<T = Record<string, Value>>(data_dir: string, statement: string, ...values: Value[]): T[] {
  const url = databases.urlOf(data_dir);
  if (url !== undefined && /^explain/i.test(statement)) throw onlyEmbedded("its plans are SQLite's");
  if (url !== undefined) return databases.runAll(url, [{ statement, values }])[0] as T[];
  using db = openFile(data_dir);
  return db.query<T, Value[]>(statement).all(...values);
}

export const count = (data_dir: string, table: string): number =>
  read<{ n: number }>(data_dir, `select count(*) as n from ${table}`)[0]!.n;

export const auditRows = (data_dir: string) =>
  read<Record<string, string | null>>(data_dir, "select * from audit order by audit_no");

/** As if a program of another version had written the database. */
export function setSchemaVersion(data_dir: string, version: number): void {
  using db = openFile(data_dir, "db", false);
  db.run(`PRAGMA user_version = ${version}`);
}

/** As if the live version of a site had been lost. */
export function loseLiveVersion(data_dir: string, { site_id }: { site_id: string }): void {
  using db = openFile(data_dir, "db", false);
  db.run("PRAGMA foreign_keys = OFF");
  db.run("update sites set live_version_id = 'ffffffffffffffff' where site_id = ?", [site_id]);
}

/** Everything that a call may change, but for when somebody was last seen. */
const SNAPSHOT = [
  "select account_id, email, password_hash from accounts order by 1",
  "select session_id, account_id, hash from sessions order by 1",
  "select hash, token_id, account_id, name, scopes, site_ids, expires_at from deploy_tokens order by 1",
  "select * from sites order by site_id",
  "select * from versions order by version_no",
  "select * from previews order by preview_no",
  "select hash, site_id, kind from tokens order by 1",
  "select * from tombstones order by slug",
  "select * from former_slugs order by slug",
  "select domain, site_id, state, is_primary, hsts from domains order by domain, site_id",
  "select * from leftovers order by site_id",
  "select state, account_id from device_logins order by device_hash",
  "select count(*) from audit",
];

/** All of that, each time it is asked; read anew only where somebody has written since, for a thousand tests ask. */
export function openSnapshots(data_dir: string): Disposable & { take(): unknown } {
  const url = databases.urlOf(data_dir);
  if (url !== undefined)
    return {
      take: () =>
        databases.runAll(
          url,
          SNAPSHOT.map((statement) => ({ statement, values: [] })),
        ),
      [Symbol.dispose]() {},
    };
  const db = openFile(data_dir);
  let [seen, taken]: [number, unknown] = [-1, null];
  return {
    take() {
      // Before the rows: what is written between the two counts as written after them.
      const { data_version } = db.query<{ data_version: number }, []>("PRAGMA data_version").get()!;
      if (data_version !== seen) taken = SNAPSHOT.map((statement) => db.query(statement).values());
      seen = data_version;
      return taken;
    },
    [Symbol.dispose]: () => db.close(),
  };
}

export function snapshot(data_dir: string): unknown {
  using snapshots = openSnapshots(data_dir);
  return snapshots.take();
}

/** The id of the `n`th version that `addVersions` adds. */
export const idOfVersion = (n: number): string => `0${100_000_000_000_000 + n}`;

const COUNTED = "with recursive n(n) as (select 1 union all select n + 1 from n where n < ?1)";

/** As so many deploys of other content would leave a site; the last is live, and has files. */
export function addVersions(data_dir: string, { site_id }: { site_id: string }, count: number): void {
  write(
    data_dir,
    `${COUNTED} insert into versions (site_id, version_id, digest, title, created_at, files, bytes, spa_enabled, spa_rule,
       live_since, listed_no)
     select ?2, '0' || (100000000000000 + n), '0000000000000000000000000000000000000000000000000' || (100000000000000 + n), 'version ' || n, '2026-11-22T00:00:00.000Z', 1, 5,
       case when n = ?1 then 1 else 0 end, 'config',
       1, n + (select max(listed_no) from versions where site_id = ?2)
     from n`,
    count,
    site_id,
  );
  const live = idOfVersion(count);
  write(
    data_dir,
    `insert into files (version_no, site_no, path, blob_no, media_type, made)
     select (select version_no from versions where site_id = ?1 and version_id = ?2), site_no, path, blob_no, media_type, made
     from sites join files using (site_no) where site_id = ?1`,
    site_id,
    live,
  );
  write(
    data_dir,
    "update sites set live_version_id = ?2, stored_versions = stored_versions + ?3 where site_id = ?1",
    site_id,
    live,
    count,
  );
}

/** Sites of an account, newest last, ten at a time; without files. */
export function addSites(data_dir: string, { account_id }: { account_id: string }, count: number): void {
  const sites = `${COUNTED} insert into sites (site_id, slug, owner_account_id, created_at, live_version_id, stored_versions)
    select 'site_0' || (1000000000000000000 + n), 'many-' || n, ?2, '2026-11-22T00:00:00.' || (100 + n / 10) || 'Z', 'v', 1 from n`;
  const versions = `${COUNTED} insert into versions (site_id, version_id, digest, created_at, files, bytes, spa_enabled,
      spa_rule, live_since, listed_no)
    select 'site_0' || (1000000000000000000 + n), 'v', '', '', 1, 1, 0, 'none', 1, 1 from n`;
  writeAll(data_dir, [
    { statement: sites, values: [count, account_id] },
    { statement: versions, values: [count] },
  ]);
}

/** Sessions of an account that are in use; newest last. */
export const addSessions = (data_dir: string, { account_id }: { account_id: string }, count: number): void =>
  write(
    data_dir,
    `${COUNTED} insert into sessions (session_id, hash, account_id, created_at, last_used_at, client)
     select 'sess_0' || (1000000000000000000 + n), 'many-' || n, ?2, '2099-01-01', '2099-01-01', 'a client' from n`,
    count,
    account_id,
  );

/** All that an account has: one site, the sessions and the deploy tokens. */
export const belongings = (data_dir: string, { site_id, account_id }: { site_id: string; account_id: string }) => [
  read(data_dir, "select * from sites where site_id = ?", site_id),
  read(data_dir, "select session_id from sessions where account_id = ?", account_id),
  read(data_dir, "select token_id from deploy_tokens where account_id = ?", account_id),
];

/** The write lock of the database, held by another process: a deploy that publishes waits until it lets go. */
export interface HeldWrites {
  /** Ends the account's sessions; seen by others once the lock is given back. */
  endSessions(account_id: string): void;
  /** Any other change, seen as soon. */
  run(statement: string, ...values: Value[]): void;
  letGo(): void;
}

/** Nothing may be written in this thread meanwhile: it would wait for itself. */
export function holdWrites(data_dir: string): HeldWrites {
  const db = openFile(data_dir, "db", false);
  db.run("BEGIN IMMEDIATE");
  return {
    endSessions: (account_id) => void db.run("delete from sessions where account_id = ?", [account_id]),
    run: (statement, ...values) => void db.run(statement, values),
    letGo() {
      db.run("COMMIT");
      db.close();
    },
  };
}
