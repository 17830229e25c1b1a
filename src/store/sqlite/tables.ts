/** The rows of all tables, out of one database and into a new file: for backups of a database server and for moves (SCALE 7). */
import { Database } from "bun:sqlite";
import { chmodSync } from "node:fs";
import type { SqlValue } from "../operation.ts";
import { type BlobRow, type Copies, namedBlobs, type Table, type TableRows } from "../upkeep.ts";
import { folderBlob, folderSingles } from "./backup.ts";
import { type DataDir, openDataDir } from "./data-dir.ts";
import { databaseFile, type UpgradeTeller } from "./database.ts";
import { sqliteDb } from "./driver.ts";
import { prepareDataDir } from "./prepare.ts";
import { statsFile } from "./stats-file.ts";

/** Rows that are in memory at once. */
const ROWS = 500;

/** Holds are of the backups and sweeps of one service; they lapse. */
const NOT_TAKEN = new Set(["holds"]);

const namesIn = (db: Database): string[] =>
  db
    .query<{ name: string }, []>("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
    .all()
    .map(({ name }) => name);

const quoted = (columns: readonly string[]): string => columns.map((name) => `"${name}"`).join(", ");

/** Those of this program's schema, each behind the tables that its rows name. */
export function knownTables(): Table[] {
  using db = new Database(":memory:", { strict: true });
  databaseFile.migrate(db);
  const left = new Set(namesIn(db));
  const named = (name: string) =>
    db
      .query<{ table: string }, []>(`pragma foreign_key_list("${name}")`)
      .all()
      .map(({ table }) => table);
  const columns = (name: string) =>
    db
      .query<{ name: string }, []>(`pragma table_info("${name}")`)
      .all()
      .map((column) => column.name);
  const sorted: Table[] = [];
  const add = (name: string): void => {
    if (!left.delete(name)) return;
    named(name).forEach(add);
    if (!NOT_TAKEN.has(name)) sorted.push({ name, columns: columns(name) });
  };
  [...left].forEach(add);
  return sorted;
}

/** Rows of a database that has this program's schema. */
function* rowsOf(db: Database, tables: readonly Table[]): Generator<TableRows> {
  for (const table of tables) {
    let rows: SqlValue[][] = [];
    for (const row of db
      .query<Record<string, SqlValue>, []>(`select ${quoted(table.columns)} from "${table.name}"`)
      .iterate()) {
      rows.push(table.columns.map((name) => row[name]!));
      if (rows.length < ROWS) continue;
      yield { table, rows };
      rows = [];
    }
    if (rows.length > 0) yield { table, rows };
  }
}

/** Makes a database of this program's schema at `path`, where no file is, with these rows and no other. It is not flushed. */
export async function fillFile(path: string, pages: AsyncIterable<TableRows>): Promise<void> {
  using db = new Database(path, { strict: true, create: true });
  chmodSync(path, 0o600);
  databaseFile.migrate(db);
  db.run("pragma foreign_keys = off"); // a row may come before the one that it names
  db.run("begin");
  for (const name of namesIn(db)) db.run(`delete from "${name}"`); // a new database has some
  for await (const { table, rows } of pages) {
    const places = table.columns.map(() => "?").join(", ");
    const insert = db.query(`insert into "${table.name}" (${quoted(table.columns)}) values (${places})`);
    for (const row of rows) insert.run(...row);
  }
  db.run("commit");
}

/** All rows of a service, and its files besides the blobs. */
export interface Whole {
  /** Statistics too, where they can be read. */
  rows(): Iterable<TableRows>;
  /** Why statistics cannot be read: sentences. */
  faults(): string[];
  /** Those that versions name. */
  blobs(): AsyncIterable<BlobRow[]>;
  singles(): Promise<ReadonlyMap<string, Uint8Array>>;
}

/** Works on a data directory that nobody writes meanwhile. Throws a sentence where a server has it. */
export async function holding<T>(
  data_dir: string,
  tell: UpgradeTeller | undefined,
  work: (whole: Whole) => Promise<T>,
): Promise<T> {
  const prepared = prepareDataDir(data_dir, { tell });
  try {
    const { sqlite, close } = openDataDir(data_dir, () => 0);
    try {
      sqlite.run("begin immediate"); // operators' commands write without the server's lock
      return await work({
        *rows() {
          yield* rowsOf(sqlite, knownTables());
          yield* statsFile.rows(data_dir);
        },
        faults: () => statsFile.faults(data_dir),
        blobs: () => namedBlobs.pages(sqliteDb(sqlite, () => {})),
        singles: () => folderSingles(data_dir),
      });
    } finally {
      if (sqlite.inTransaction) sqlite.run("rollback");
      close();
    }
  } finally {
    prepared.close();
  }
}

/** The blobs that a database file names. */
export async function* blobsIn(path: string): AsyncGenerator<BlobRow[]> {
  using db = new Database(path, { strict: true, readonly: true });
  yield* namedBlobs.pages(sqliteDb(db, () => {}));
}

// The parts of a backup of a data directory.

/** Held by the one backup to a place that may run at a time; kill -9 frees it. */
async function aloneIn(data_dir: string): Promise<{ release(): void }> {
  const holder = databaseFile.open(data_dir, "backup-lock.db", ["busy_timeout = 0"]);
  try {
    holder.run("BEGIN EXCLUSIVE");
    return { release: () => holder.close() };
  } catch (error) {
    holder.close();
    if ((error as { code?: unknown }).code !== "SQLITE_BUSY") throw error;
    throw new Error("Another backup of this data directory is under way: wait for its end.");
  }
}

export const folderCopies = ({ data_dir, sqlite }: Pick<DataDir, "data_dir" | "sqlite">): Copies => ({
  alone: () => aloneIn(data_dir),
  database: async (path) => void sqlite.run("VACUUM INTO ?", [path]),
  statistics: async (path) => statsFile.copy(data_dir, path),
  blob: folderBlob(data_dir),
  singles: () => folderSingles(data_dir),
});
