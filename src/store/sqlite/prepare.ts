/** The first process prepares a data directory once, before anybody opens the store: folders, lock, schema, recovery (RELIABILITY 2). */

import type { Database } from "bun:sqlite";
import { chmodSync, closeSync, existsSync, openSync, readdirSync, rmSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { prepareBrands } from "../disk/alike.ts";
import { durable } from "../disk/durable.ts";
import { prepareFigures } from "../disk/figures.ts";
import { diskRoom } from "../disk/room.ts";
import { secretFiles } from "../disk/secrets.ts";
import { statsSalt } from "../disk/stats-salt.ts";
import { isDamage, isDiskFull } from "../refusals.ts";
import type { Webhook } from "../notes.ts";
import { type LettersAtStart, lettersAtStart } from "../notes/outbox.ts";
import { runAtOnce } from "./driver.ts";
import { isBackupCopy } from "../sweep.ts";
import { databaseFile, MOVED, movedAway, type UpgradeTeller } from "./database.ts";
import { prepareGeneration } from "./data-dir.ts";
import { prepareRates } from "./rates.ts";

/** Another server holds the data directory: the start fails with exit code 1. */
export class DataDirInUse extends Error {
  override readonly name = "DataDirInUse";
}

/** Throws a sentence for a folder of another user's. */
export function refuseOthers(data_dir: string): void {
  const { uid } = statSync(data_dir);
  if (process.getuid && uid !== process.getuid()) {
    throw new Error(`The data directory ${data_dir} belongs to another user (uid ${uid}): use one of your own.`);
  }
}

function makeFolders(data_dir: string): void {
  durable.makeFolder(data_dir);
  refuseOthers(data_dir);
  chmodSync(data_dir, 0o700);
  for (const name of ["blobs", "tmp"]) durable.makeFolder(join(data_dir, name));
  for (const name of ["blobs", "."]) durable.flushFolderSync(join(data_dir, name));
  diskRoom.writeInPlace(data_dir);
}

/** A killed process lets go of its lock a moment later. */
const RELEASE_MS = 1000;

/** Held until the process ends, however it ends: kill -9 frees it. The caller keeps the Database reachable. */
function lock(data_dir: string): Database {
  const path = join(data_dir, "lock.db");
  diskRoom.withRoom(data_dir, () => closeSync(openSync(path, "a", 0o600)));
  chmodSync(path, 0o600); // before SQLite makes a journal with the same mode
  const holder = databaseFile.open(data_dir, "lock.db", [`busy_timeout = ${RELEASE_MS}`]);
  try {
    holder.run("BEGIN EXCLUSIVE");
  } catch (error) {
    holder.close();
    if ((error as { code?: unknown }).code !== "SQLITE_BUSY") throw error;
    throw new DataDirInUse(
      `Another svc-server is running on ${data_dir}: stop it, or give this one its own --data-dir.`,
    );
  }
  return holder;
}

/** Keeps every server and every other move out of a folder that is being filled. Throws a sentence where another has it. */
export function lockWhileFilled(data_dir: string): Disposable {
  const holder = lock(data_dir);
  return { [Symbol.dispose]: () => holder.close() };
}

/** Removes the files that a deploy before this start did not finish: no blob has their names. A backup by hand may be under way. */
function clearTemporary(data_dir: string): void {
  for (const name of readdirSync(join(data_dir, "tmp")))
    if (!isBackupCopy(name)) rmSync(join(data_dir, "tmp", name), { force: true, recursive: true });
}

export interface Preparing extends LettersAtStart {
  /** Epoch milliseconds: the time by which a key may be old and need a new one. */
  now?: number;
  /** Whether visits are counted; left out, nothing changes. */
  counts_visits?: boolean;
  /** Hears how far an upgrade of the database is. */
  tell?: UpgradeTeller | undefined;
}

const plainSecrets = (db: Database) =>
  db.query<{ site_id: string; webhook: string }, []>(
    "select site_id, webhook from comment_settings where webhook is not null and webhook_encrypted = 0",
  );

/** Encrypts the secrets that an older program left as they are. */
function encryptSecrets(db: Database, data_dir: string): void {
  if (plainSecrets(db).get() === null) return;
  const { webhook: key } = secretFiles.read(data_dir);
  const put = db.query("update comment_settings set webhook = ?, webhook_encrypted = 1 where site_id = ?");
  db.transaction(() => {
    for (const { site_id, webhook } of plainSecrets(db).all()) {
      const plain = JSON.parse(webhook) as Webhook;
      put.run(JSON.stringify({ ...plain, secret: secretFiles.encrypt(key, plain.secret, site_id) }), site_id);
    }
  }).immediate();
}

/** Files that every server has for itself, wherever its database is. Returns a function that removes the shared page. */
function readyFiles(data_dir: string, { now = 0, counts_visits }: Preparing): () => void {
  clearTemporary(data_dir);
  if (counts_visits === true) statsSalt.prepare(data_dir, now);
  if (counts_visits === false) statsSalt.remove(data_dir);
  const removeFigures = prepareFigures(data_dir);
  diskRoom.keep(data_dir);
  closeToOthers(data_dir);
  return removeFigures;
}

/** Makes what is missing of secrets and brands, which all boxes of a service share where it has several. */
export function readyAlike(data_dir: string, { now = 0 }: Preparing): void {
  secretFiles.prepare(data_dir, now);
  prepareBrands(data_dir);
}

function ready(data_dir: string, preparing: Preparing): () => void {
  using db = databaseFile.openStore(data_dir);
  refuseEmptied(data_dir, databaseFile.schemaOf(db));
  databaseFile.migrate(db, preparing.tell);
  runAtOnce(db, lettersAtStart(preparing));
  readyAlike(data_dir, preparing);
  encryptSecrets(db, data_dir);
  prepareRates(data_dir);
  const pages = [prepareGeneration(data_dir), readyFiles(data_dir, preparing)];
  return () => pages.forEach((remove) => remove());
}

/** Closes to other users what an older version or an operator left open, and what SQLite has made. */
function closeToOthers(data_dir: string): void {
  for (const { name } of readdirSync(data_dir, { withFileTypes: true }).filter((entry) => entry.isFile())) {
    chmodSync(join(data_dir, name), 0o600);
  }
}

/** Locks the data directory, runs `work` and returns what ends its use. */
function locked(data_dir: string, work: () => () => void): { close(): void } {
  diskRoom.withRoom(data_dir, () => makeFolders(data_dir));
  const holder = sayingWhich(data_dir, "lock.db", () => diskRoom.withRoom(data_dir, () => lock(data_dir)));
  try {
    const removePages = sayingWhich(data_dir, "db", () => diskRoom.withRoom(data_dir, work));
    return {
      close() {
        removePages();
        holder.close();
      },
    };
  } catch (error) {
    holder.close();
    throw error;
  }
}

/** Locks and readies the data directory. Close what is returned when the server ends. */
export function prepareDataDir(data_dir: string, preparing: Preparing = {}): { close(): void } {
  refuseDoubtful(data_dir);
  return locked(data_dir, () => ready(data_dir, preparing));
}

/** The same where the database is elsewhere, but for secrets and brands. */
export function prepareFolder(data_dir: string, preparing: Preparing): { close(): void } {
  refuseHalfRestored(data_dir);
  refuseStrangeKinds(data_dir);
  if (existsSync(join(data_dir, "db"))) {
    throw new Error(
      `There is a service with a database of its own in ${data_dir}: name another folder with --data-dir.`,
    );
  }
  return locked(data_dir, () => readyFiles(data_dir, { ...preparing, counts_visits: false })); // the salt is elsewhere, too
}

// Data directories on which no server may start, each with a sentence that says the file and what to do. A start would
// write into somebody's home or project, or make an empty server whose first sweep removes every file of the old one.

/** The name of a file that is there while a restore writes the data directory, and while a move does. */
export const RESTORING = "restoring";
export const MOVING = "moving";

const HALF = {
  [RESTORING]: (data_dir: string) =>
    `A restore into ${data_dir} was not finished: empty that folder and run svc-server restore again.`,
  [MOVING]: (data_dir: string) => `A move into ${data_dir} was not finished: run svc-server move --to embedded again.`,
  [MOVED]: movedAway,
};

/** Throws if a restore or a move was cut short, where what is there may be any part of it; or if a move took all of it away. */
export function refuseHalfRestored(data_dir: string): void {
  for (const [name, sentence] of Object.entries(HALF)) {
    if (existsSync(join(data_dir, name))) throw new Error(sentence(data_dir));
  }
}

/** Names that a first start which was cut short leaves, and that a fresh file system has. */
const BEGUN = new Set(["blobs", "tmp", "lost+found"]);

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);
const seen = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false });
const isFile = (path: string): boolean => seen(path)?.isFile() ?? false;

function refuseForeign(data_dir: string): void {
  if (isFile(join(data_dir, "lock.db")) || isFile(join(data_dir, "db"))) return;
  const temporary = namesIn(join(data_dir, "tmp")).map((name) => `tmp/${name}`);
  const [other] = [...namesIn(data_dir).filter((name) => !BEGUN.has(name) && !name.startsWith(".")), ...temporary];
  if (other === undefined) return;
  throw new Error(
    `The folder ${data_dir} holds other things (${other}): give the server a folder of its own with --data-dir.`,
  );
}

const IS_BLOB = /^[0-9a-f]{64}$/;
const IS_BLOB_FOLDER = /^[0-9a-f]{2}$/;

/** The folder of a browser that looked at a page when the server was killed. */
const IS_RENDER_FOLDER = /^render-[A-Za-z0-9]{6}$/;

const DATABASES = ["db", "rates.db"].flatMap((name) => [name, `${name}-wal`, `${name}-shm`]);
const FILES = [...DATABASES, "lock.db", "secrets", "stats-salt", "brands.txt", "ballast"];
const FOLDERS = ["blobs", "tmp", "quarantine", "certs"];

function refuseStrangeKinds(data_dir: string): void {
  const refuse = (name: string, is: string, kept: string) => {
    throw new Error(`${join(data_dir, name)} is ${is} where svc-server keeps ${kept}: move it away and start again.`);
  };
  for (const name of FILES) if (seen(join(data_dir, name))?.isFile() === false) refuse(name, "no file", "one");
  for (const name of FOLDERS) if (seen(join(data_dir, name))?.isDirectory() === false) refuse(name, "no folder", "one");
  for (const name of namesIn(join(data_dir, "tmp")).filter((one) => !IS_RENDER_FOLDER.test(one))) {
    if (seen(join(data_dir, "tmp", name))?.isDirectory()) refuse(`tmp/${name}`, "a folder", "files");
  }
  for (const name of namesIn(join(data_dir, "blobs")).filter((one) => IS_BLOB_FOLDER.test(one))) {
    if (seen(join(data_dir, "blobs", name))?.isFile()) refuse(`blobs/${name}`, "no folder", "one");
  }
}

function hasBlobs(data_dir: string): boolean {
  const blobs = join(data_dir, "blobs");
  return namesIn(blobs).some(
    (name) => IS_BLOB_FOLDER.test(name) && namesIn(join(blobs, name)).some((file) => IS_BLOB.test(file)),
  );
}

/** Whether a server had its data here: `secrets` is written once the database is there. */
const wasUsed = (data_dir: string): boolean =>
  hasBlobs(data_dir) || (existsSync(join(data_dir, "lock.db")) && existsSync(join(data_dir, "secrets")));

const lost = (data_dir: string, is: string): Error =>
  new Error(
    `The database ${join(data_dir, "db")} ${is}, and other data of a server is still there: started so, it would be an ` +
      "empty one that sweeps all files of the sites away. Put db and db-wal back, or restore a backup into a new folder " +
      `(svc-server restore <dir> --data-dir <new>); to begin anew, move ${data_dir} away.`,
  );

export function refuseLost(data_dir: string): void {
  if (!existsSync(join(data_dir, "db")) && wasUsed(data_dir)) throw lost(data_dir, "is gone");
}

/** Throws for a folder that may be another's, or no longer whole. Called before anything is written. */
function refuseDoubtful(data_dir: string): void {
  refuseHalfRestored(data_dir);
  refuseLost(data_dir);
  refuseForeign(data_dir);
  refuseStrangeKinds(data_dir);
}

/** For a database that was opened: one without a schema was emptied, or SQLite has just made it. */
function refuseEmptied(data_dir: string, schema: number): void {
  if (schema === 0 && wasUsed(data_dir)) throw lost(data_dir, "is empty");
}

const ADVICE: Readonly<Record<string, string>> = {
  db: "move the data folder away and restore a backup into a new one (svc-server restore <dir>)",
  "lock.db": "remove that file, which holds nothing, and start again",
};

const MB = 1 << 20;

/** The error of a start that has given up all of the ballast. */
function noRoom(data_dir: string): Error {
  const megabytes = Math.ceil((seen(join(data_dir, "db"))?.size ?? 0) / MB);
  return new Error(
    `The disk of ${data_dir} is full, and nothing is lost: free some room and start again. An upgrade takes twice as much ` +
      `as the database (${megabytes} MB) for a while.`,
  );
}

/** Runs `open`; if SQLite finds the file damaged, or no room on its disk, a sentence is thrown in place of its error. */
function sayingWhich<T>(data_dir: string, name: "db" | "lock.db", open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (isDiskFull(error)) throw noRoom(data_dir);
    if (!isDamage(error)) throw error;
    throw new Error(`${join(data_dir, name)} is damaged (${(error as Error).message}): ${ADVICE[name]}.`);
  }
}
