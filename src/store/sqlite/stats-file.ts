/** `DATA/stats.db` as a file: opened, put aside where it is damaged, copied into backups and taken out of them. It is a file of its own
 *  without fsync: a power cut may lose its last minutes, and no page waits for it. */
import { constants, type Database } from "bun:sqlite";
import { chmodSync, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { SqlValue } from "../operation.ts";
import { isDamage } from "../refusals.ts";
import type { Table, TableRows } from "../upkeep.ts";
import { databaseFile } from "./database.ts";

const NAME = "stats.db";
/** Once the last one has gone the next takes its place: one damaged file is kept at most. */
const ASIDE = `${NAME}.damaged`;

const SCHEMA = `
create table sites (site_no integer primary key, site_id text not null unique) strict;
create table days (
  site_no integer not null references sites on delete cascade,
  day integer not null,
  views integer not null,
  bots integer not null,
  misses integer not null,
  visitors blob not null,
  primary key (site_no, day)
) strict, without rowid;
create table names (
  site_no integer not null references sites on delete cascade,
  kind text not null check (kind in ('paths', 'referrers', 'missed')),
  day integer not null,
  name text not null,
  count integer not null,
  internal integer not null,
  primary key (site_no, kind, day, name)
) strict, without rowid;
pragma user_version = 1;`;

const PRAGMAS = [
  "busy_timeout = 5000",
  "journal_mode = WAL",
  "synchronous = OFF",
  "foreign_keys = ON",
  "trusted_schema = OFF",
  "secure_delete = ON",
  "cache_size = -4096",
];

const damaged = (why: string): Error => Object.assign(new Error(why), { code: "SQLITE_CORRUPT" });

function refuseTorn(db: Database): void {
  const check = db.query<{ quick_check: string }, []>("pragma quick_check(1)").get()?.quick_check;
  if (check !== "ok") throw damaged(String(check));
}

/** An empty file gets its tables; one of another program counts as damaged. */
function begin(db: Database): void {
  const version = () => db.query<{ user_version: number }, []>("pragma user_version").get()!.user_version;
  const isEmpty = () => db.query("select 1 from sqlite_schema limit 1").get() === null;
  db.transaction(() => {
    if (version() === 0 && isEmpty()) db.run(SCHEMA);
  }).immediate();
  if (version() !== 1) throw damaged(`its schema is ${version()}, and this program knows 1`);
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;

interface OpenFile {
  db: Database;
  inode: number | undefined;
}

/** `checks`: all of it is read once, for a power cut may have torn it. */
function openFile(data_dir: string, checks: boolean): OpenFile {
  const path = join(data_dir, NAME);
  if (existsSync(path) && !statSync(path).isFile()) throw damaged("it is no file");
  const db = databaseFile.open(data_dir, NAME, PRAGMAS);
  try {
    // Closing removes the log by its name, which may be another file's by then: that of a database begun anew.
    db.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1);
    if (checks) refuseTorn(db);
    begin(db);
    chmodSync(path, 0o600);
    return { db, inode: inodeOf(path) };
  } catch (error) {
    db.close();
    throw error;
  }
}

function putAside(data_dir: string): void {
  const path = join(data_dir, NAME);
  if (!existsSync(path)) return;
  rmSync(join(data_dir, ASIDE), { recursive: true, force: true });
  renameSync(path, join(data_dir, ASIDE));
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

/** Runs work on the file. If it is damaged, it is put aside and the work runs once more on a new one; if it is gone or was
 *  replaced, the one that has its name is opened. */
function keptOpen(data_dir: string, tell: (sentence: string) => void) {
  const path = join(data_dir, NAME);
  let open: OpenFile | null = null;

  function close(): void {
    open?.db.close();
    open = null;
  }
  function current(): Database {
    if (open !== null && inodeOf(path) !== open.inode) {
      if (!existsSync(path)) tell(`${path} is gone: statistics begin anew`);
      close();
    }
    return (open ??= openFile(data_dir, true)).db;
  }
  return {
    close,
    work<T>(run: (db: Database) => T): T {
      try {
        return run(current());
      } catch (error) {
        if (!isDamage(error)) throw error;
        // Another process may have put it aside already.
        const theirs = open !== null && inodeOf(path) !== open.inode;
        close();
        if (!theirs) {
          putAside(data_dir);
          const why = (error as Error).message;
          tell(`${path} is damaged (${why}): it is put aside as ${ASIDE}, and statistics begin anew`);
        }
        return run(current());
      }
    },
  };
}

/** For `verify`: what is wrong with the file. */
function statsFaults(data_dir: string): string[] {
  if (!existsSync(join(data_dir, NAME))) return [];
  try {
    using db = databaseFile.open(data_dir, NAME, ["query_only = ON", ...PRAGMAS.slice(0, 1)]);
    const found = db.query<{ integrity_check: string }, []>("pragma integrity_check").all();
    return found
      .map((row) => row.integrity_check)
      .filter((text) => text !== "ok")
      .map((text) => `${NAME}: ${text}`);
  } catch (error) {
    return [`${NAME}: ${(error as Error).message}`];
  }
}

// Backups.

const TABLES = ["sites", "days", "names"];
const keptAs = (table: string): string => `backup_stats_${table}`;

/** One state of the file as a file of its own. False if there is none, or if it is damaged: a backup is whole without it. */
function copyStats(data_dir: string, to: string): boolean {
  if (!existsSync(join(data_dir, NAME))) return false;
  try {
    using db = databaseFile.open(data_dir, NAME, PRAGMAS.slice(0, 1));
    begin(db);
    db.run("vacuum into ?", [to]);
    chmodSync(to, 0o600);
    return true;
  } catch (error) {
    rmSync(to, { force: true });
    if (!isDamage(error)) throw error;
    return false;
  }
}

/** Puts the file at `path` into the copy of the database, so that a snapshot is one file. */
function addToCopy(copy: Database, path: string): void {
  copy.run("attach ? as statistics", [path]);
  for (const table of TABLES) copy.run(`create table ${keptAs(table)} as select * from statistics.${table}`);
  copy.run("detach statistics");
}

/** The other way round, in a restore. */
function takeOfCopy(copy: Database, data_dir: string): void {
  const there = copy.query("select 1 from sqlite_schema where name = ?").get(keptAs(TABLES[0]!)) !== null;
  if (!there) return;
  openFile(data_dir, false).db.close();
  copy.run("attach ? as statistics", [join(data_dir, NAME)]);
  for (const table of TABLES) {
    copy.run(`insert into statistics.${table} select * from ${keptAs(table)}`);
    copy.run(`drop table ${keptAs(table)}`);
  }
  copy.run("detach statistics");
}

// The same counts as a database server has them: by the site's id, and a sketch in base64.

const SHARED: readonly Table[] = [
  { name: "stats_days", columns: ["site_id", "day", "views", "bots", "misses", "visitors"] },
  { name: "stats_names", columns: ["site_id", "kind", "day", "name", "count", "internal"] },
];
const [DAYS, NAMES] = SHARED as [Table, Table];
const ROWS = 500;
const valuesOf = (row: Record<string, SqlValue | Uint8Array>): SqlValue[] =>
  Object.values(row).map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value));

/** The rows of a data directory's file; none where there is none, or it is damaged. */
function* sharedRows(data_dir: string): Generator<TableRows> {
  if (!existsSync(join(data_dir, NAME)) || statsFaults(data_dir).length > 0) return;
  using db = databaseFile.open(data_dir, NAME, PRAGMAS.slice(0, 1));
  for (const [table, from] of [
    [DAYS, "days"],
    [NAMES, "names"],
  ] as const) {
    const all = db.query<Record<string, SqlValue | Uint8Array>, []>(
      `select ${table.columns.join(", ")} from ${from} join sites using (site_no)`,
    );
    let rows: SqlValue[][] = [];
    for (const row of all.iterate()) {
      if (rows.push(valuesOf(row)) < ROWS) continue;
      yield { table, rows };
      rows = [];
    }
    if (rows.length > 0) yield { table, rows };
  }
}

/** Makes the file at `path`, where none is, of such rows. It is not flushed. */
async function fillOf(path: string, pages: AsyncIterable<TableRows>): Promise<void> {
  using db = databaseFile.open(dirname(path), basename(path), PRAGMAS);
  begin(db);
  chmodSync(path, 0o600);
  const addSite = db.query<{ site_no: number }, [SqlValue]>("insert into sites (site_id) values (?) returning site_no");
  const sites = new Map<SqlValue, number>();
  const add = { [DAYS.name]: "days", [NAMES.name]: "names" };
  db.run("begin");
  for await (const { table, rows } of pages) {
    const insert = db.query(`insert into ${add[table.name]} values (?, ?, ?, ?, ?, ?)`);
    for (const [site_id = null, ...values] of rows) {
      const site_no = sites.get(site_id) ?? addSite.get(site_id)!.site_no;
      sites.set(site_id, site_no);
      const sketch = table === DAYS ? [Buffer.from(String(values.pop()), "base64")] : [];
      insert.run(site_no, ...values, ...sketch);
    }
  }
  db.run("commit");
}

/** The file of statistics, for what reads and writes it, for backups and for `verify`. */
export const statsFile = {
  name: NAME,
  open: openFile,
  keepOpen: keptOpen,
  copy: copyStats,
  addTo: addToCopy,
  takeOf: takeOfCopy,
  faults: statsFaults,
  shared: SHARED,
  rows: sharedRows,
  fill: fillOf,
};
