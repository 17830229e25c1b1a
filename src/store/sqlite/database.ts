/** One connection to `DATA/db`, as RELIABILITY 2 wants it, and the numbered steps that bring its schema up to date. */
import { Database } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { diskRoom } from "../disk/room.ts";
import { isDamage, refusals } from "../refusals.ts";
import schema1 from "./schema-1.sql" with { type: "text" };
import schema2 from "./schema-2.sql" with { type: "text" };
import schema3 from "./schema-3.sql" with { type: "text" };
import schema4 from "./schema-4.sql" with { type: "text" };
import schema5 from "./schema-5.sql" with { type: "text" };
import schema6 from "./schema-6.sql" with { type: "text" };
import schema7 from "./schema-7.sql" with { type: "text" };
import schema8 from "./schema-8.sql" with { type: "text" };
import schema9 from "./schema-9.sql" with { type: "text" };
import schema10 from "./schema-10.sql" with { type: "text" };
import schema11 from "./schema-11.sql" with { type: "text" };
import schema12 from "./schema-12.sql" with { type: "text" };
import schema13 from "./schema-13.sql" with { type: "text" };
import schema14 from "./schema-14.sql" with { type: "text" };
import schema15 from "./schema-15.sql" with { type: "text" };
import schema16 from "./schema-16.sql" with { type: "text" };
import schema17 from "./schema-17.sql" with { type: "text" };
import schema18 from "./schema-18.sql" with { type: "text" };
import schema19 from "./schema-19.sql" with { type: "text" };
import schema20 from "./schema-20.sql" with { type: "text" };
import schema21 from "./schema-21.sql" with { type: "text" };
import schema22 from "./schema-22.sql" with { type: "text" };
import schema23 from "./schema-23.sql" with { type: "text" };
import schema24 from "./schema-24.sql" with { type: "text" };
import schema25 from "./schema-25.sql" with { type: "text" };

/** Step n brings `user_version` from n-1 to n. A step that was released never changes. */
const STEPS: readonly string[] = [
  schema1,
  schema2,
  schema3,
  schema4,
  schema5,
  schema6,
  schema7,
  schema8,
  schema9,
  schema10,
  schema11,
  schema12,
  schema13,
  schema14,
  schema15,
  schema16,
  schema17,
  schema18,
  schema19,
  schema20,
  schema21,
  schema22,
  schema23,
  schema24,
  schema25,
];

const PRAGMAS = [
  "busy_timeout = 5000", // first: another process may hold the file for the moment in which the next one needs it
  "journal_mode = WAL",
  "synchronous = FULL", // an answer promises durability; NORMAL loses the last commits in a power cut
  "foreign_keys = ON",
  "trusted_schema = OFF",
  "secure_delete = ON", // what is deleted is overwritten: else it stays in the file until something else takes its place
  "cache_size = -8192",
  ...(process.platform === "darwin" ? ["fullfsync = ON", "checkpoint_fullfsync = ON"] : []),
];

/** A file of a data directory, opened with these settings in their order. On a full disk the ballast goes, and it is tried
 *  once more: SQLite needs room for two more files. */
function openFile(data_dir: string, name: string, pragmas: readonly string[]): Database {
  return diskRoom.withRoom(data_dir, () => {
    const db = new Database(join(data_dir, name), { strict: true, create: true });
    try {
      for (const pragma of pragmas) db.run(`PRAGMA ${pragma}`);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

/** Whether somebody removed the log. SQLite itself removes the log before `-shm`, when the last connection ends, so `-shm`
 *  alone is never left by it. A connection that opened the database then would begin another log, and each would overwrite the
 *  other's. */
const logIsGone = (path: string): boolean => !existsSync(`${path}-wal`) && existsSync(`${path}-shm`);
/** The same, for a process that has no connection yet: another's last one, as it ends, removes the log and then `-shm`. */
function logStaysGone(path: string): boolean {
  for (let looks = 0; looks < 40; looks++) {
    if (!logIsGone(path)) return false;
    Bun.sleepSync(5);
  }
  return true;
}
const restartForLog = (path: string): string =>
  `The log ${path}-wal was deleted under the server that uses it: restart it by SIGTERM (systemctl restart), which writes what the log held into the database.`;

/** The name of a file that is there from when on all of the data directory is somewhere else (SCALE 7). */
export const MOVED = "moved";
export const movedAway = (data_dir: string): string =>
  `The service of ${data_dir} was moved to a database and a bucket: start svc-server with SVC_DATABASE_URL and SVC_BLOBS, on another --data-dir.`;

/** Null while the file has the name under which it was opened; else a sentence: what is written now is lost when the last
 *  process closes it. 5 µs. */
function databaseWatch(data_dir: string): () => string | null {
  const path = join(data_dir, "db");
  const look = () => statSync(path, { throwIfNoEntry: false });
  const opened = look()?.ino;
  const whatHappened = (): string | null => {
    const now = look();
    if (now === undefined) return "was deleted";
    if (now.size === 0) return "was emptied";
    return now.ino === opened ? null : "was replaced";
  };
  return () => {
    if (existsSync(join(data_dir, MOVED))) return movedAway(data_dir);
    const what = whatHappened();
    if (what === null) return logIsGone(path) ? restartForLog(path) : null;
    return `The database ${path} ${what} while the server runs: put it back or restore a backup, then restart the server.`;
  };
}

/** For the process that prepares the data directory: it makes the file if there is none. */
const openDatabase = (data_dir: string): Database => openFile(data_dir, "db", PRAGMAS);

/** For all others: SQLite would make an empty database in the place of one that is lost. */
function reopenDatabase(data_dir: string): Database {
  const path = join(data_dir, "db");
  const lost = (is: string) => refusals.databaseLost(`The database ${path} ${is}: put it back or restore a backup.`);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size === 0) throw lost("was deleted or emptied");
  if (logStaysGone(path)) throw refusals.databaseLost(restartForLog(path));
  try {
    return openDatabase(data_dir);
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw lost(`is damaged (${(error as Error).message})`);
  }
}

/** How many steps a database has taken. */
const schemaOf = (db: Database): number =>
  db.query<{ user_version: number }, []>("PRAGMA user_version").get()!.user_version;

/** The newest schema that this program knows. */
export const SCHEMA = STEPS.length;

function refuseNewer(schema: number): void {
  if (schema <= SCHEMA) return;
  throw new Error(
    `The database was written by a newer svc-server (schema ${schema}, this one knows ${SCHEMA}): run that version, or restore a backup.`,
  );
}

const MB = 1 << 20;
const megabytes = (bytes: number): string => `${Math.ceil(bytes / MB)} MB`;

/** The most that the steps of an upgrade take beside the database: a table that is made anew is there twice, and once more in
 *  the log. The ballast is not counted: it is for what comes after. */
const roomForSteps = (bytes: number): number => 2 * bytes;

const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Before the first step, so that a disk which is too small changes nothing. */
function refuseUnlessRoom(path: string, found: number): void {
  const bytes = bytesOf(path) + bytesOf(`${path}-wal`);
  const data_dir = dirname(path);
  const free = diskRoom.freeBytes(data_dir);
  if (free >= roomForSteps(bytes)) return;
  throw new Error(
    `The database is of schema ${found} and is brought to ${SCHEMA}, which takes up to ${megabytes(roomForSteps(bytes))} for ` +
      `a while, and the disk of ${data_dir} has ${megabytes(free)} free: nothing was changed. Free some room and start again; ` +
      "until then the version before this one still starts.",
  );
}

/** Takes a sentence on how far an upgrade is. It is called while the thread is busy: what it writes must go out at once. */
export type UpgradeTeller = (sentence: string) => void;

/** One step, in whatever transaction is under way; none where another process has done it. */
function takeStep(db: Database, index: number): void {
  if (schemaOf(db) !== index) return;
  db.run(STEPS[index]!);
  db.run(`PRAGMA user_version = ${index + 1}`);
}

/** Brings the schema to the newest step, one transaction a step, so that a crash leaves a whole step or none, and a new database
 *  in a single one. Foreign keys are off meanwhile, or a table that is made anew would take along the rows that name its own. Of a
 *  database that is new nothing is told. */
function migrate(db: Database, tell: UpgradeTeller = () => {}): void {
  const found = schemaOf(db);
  refuseNewer(found);
  if (found === SCHEMA) return;
  db.run("PRAGMA foreign_keys = OFF");
  if (found === 0) db.transaction(() => STEPS.forEach((_, index) => takeStep(db, index))).immediate();
  else upgrade(db, found, tell);
  db.run("PRAGMA foreign_keys = ON");
}

function upgrade(db: Database, found: number, tell: UpgradeTeller): void {
  refuseUnlessRoom(db.filename, found);
  const room = megabytes(roomForSteps(bytesOf(db.filename)));
  tell(`bringing schema ${found} to ${SCHEMA}: keep ${room} free, and let it end; no page is served meanwhile`);
  for (let index = found; index < SCHEMA; index++) {
    const began = performance.now();
    db.transaction(() => takeStep(db, index)).immediate();
    tell(`schema ${index + 1} of ${SCHEMA} after ${Math.round(performance.now() - began)} ms`);
  }
}

/** The database as a file: opened, watched and migrated. */
export const databaseFile = {
  open: openFile,
  watch: databaseWatch,
  openStore: openDatabase,
  reopen: reopenDatabase,
  schemaOf,
  refuseNewer,
  migrate,
};
