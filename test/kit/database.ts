/** The database as a file: the one place of the tests that knows SQL and where the tables lie. Whoever tests the service
 *  itself uses the names of `TestServer`. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { openDataDir } from "../../src/store/sqlite/data-dir.ts";

type Value = string | number | null;

/** A database file of the data directory: "db", or "rates.db". The caller closes it: `using db = …`. */
export function openFile(data_dir: string, name = "db", readonly = true): Database {
  const db = new Database(join(data_dir, name), readonly ? { readonly } : { create: true, strict: true });
  db.run("PRAGMA busy_timeout = 5000");
  if (!readonly) db.run("PRAGMA foreign_keys = ON");
  return db;
}

/** Seen by a running server at its next request, as whoever commits tells it. */
export function write(data_dir: string, statement: string, ...values: Value[]): void {
  const { sqlite, generation, close } = openDataDir(data_dir, Date.now);
  try {
    sqlite.run(statement, values);
    generation.advance();
  } finally {
    close();
  }
}

export function read<T = Record<string, Value>>(data_dir: string, statement: string, ...values: Value[]): T[] {
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
export function snapshot(data_dir: string): unknown {
  using db = openFile(data_dir);
  return [
    "select account_id, email, password_hash from accounts order by 1",
    "select session_id, account_id, hash from sessions order by 1",
    "select * from sites order by site_id",
    "select * from versions order by version_no",
    "select hash, site_id, kind from tokens order by 1",
    "select * from tombstones order by slug",
    "select * from leftovers order by site_id",
    "select state, account_id from device_logins order by device_hash",
    "select count(*) from audit",
  ].map((statement) => db.query(statement).values());
}

/** What somebody has: one site and the sessions. */
export const belongings = (data_dir: string, { site_id, account_id }: { site_id: string; account_id: string }) => [
  read(data_dir, "select * from sites where site_id = ?", site_id),
  read(data_dir, "select session_id from sessions where account_id = ?", account_id),
];

/** The write lock of the database, in another's hand: whoever publishes waits until it lets go. */
export interface HeldWrites {
  /** Ends the account's sessions; seen by others once the lock is given back. */
  endSessions(account_id: string): void;
  letGo(): void;
}

/** Nothing may be written in this thread meanwhile: it would wait for itself. */
export function holdWrites(data_dir: string): HeldWrites {
  const db = openFile(data_dir, "db", false);
  db.run("BEGIN IMMEDIATE");
  return {
    endSessions: (account_id) => void db.run("delete from sessions where account_id = ?", [account_id]),
    letGo() {
      db.run("COMMIT");
      db.close();
    },
  };
}
