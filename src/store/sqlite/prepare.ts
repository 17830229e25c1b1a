/** What the first process does once before anybody opens the store: folders, lock, schema, recovery (RELIABILITY 2). */
import { Database } from "bun:sqlite";
import { chmodSync, closeSync, existsSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { keepBallast } from "../disk/ballast.ts";
import { prepareBrands } from "../disk/brands.ts";
import { migrate, openDatabase } from "./database.ts";
import { flushFolderSync, makeFolder } from "../disk/durable.ts";
import { prepareFigures } from "../disk/figures.ts";
import { prepareGeneration } from "./generation.ts";
import { prepareRates } from "./rates.ts";
import { prepareSecrets } from "../disk/secrets.ts";

/** Another server holds the data directory: the start fails with exit code 1. */
export class DataDirInUse extends Error {
  override readonly name = "DataDirInUse";
}

/** The name of a file that is there while a restore writes the data directory. */
export const RESTORING = "restoring";

/** Throws a sentence: what is there may be any part of a backup. */
export function refuseHalfRestored(data_dir: string): void {
  if (!existsSync(join(data_dir, RESTORING))) return;
  throw new Error(`A restore into ${data_dir} was not finished: empty that folder and run svc-server restore again.`);
}

/** What a first start that was cut short leaves, and what a fresh file system has. */
const BEGUN = new Set(["blobs", "tmp", "lost+found"]);

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);
const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** A start would close somebody's home or project to others, and clear away what lies in its `tmp`. */
function refuseForeign(data_dir: string): void {
  if (isFile(join(data_dir, "lock.db")) || isFile(join(data_dir, "db"))) return;
  const temporary = namesIn(join(data_dir, "tmp")).map((name) => `tmp/${name}`);
  const [other] = [...namesIn(data_dir).filter((name) => !BEGUN.has(name) && !name.startsWith(".")), ...temporary];
  if (other === undefined) return;
  throw new Error(
    `The folder ${data_dir} holds other things (${other}): give the server a folder of its own with --data-dir.`,
  );
}

function makeFolders(data_dir: string): void {
  makeFolder(data_dir);
  const { uid } = statSync(data_dir);
  if (process.getuid && uid !== process.getuid()) {
    throw new Error(`The data directory ${data_dir} belongs to another user (uid ${uid}): use one of your own.`);
  }
  chmodSync(data_dir, 0o700);
  for (const name of ["blobs", "tmp"]) makeFolder(join(data_dir, name));
  for (let n = 0; n < 256; n++) makeFolder(join(data_dir, "blobs", n.toString(16).padStart(2, "0")));
  for (const name of ["blobs", "."]) flushFolderSync(join(data_dir, name));
}

/** Held until the process ends, however it ends: kill -9 frees it. The caller keeps the Database reachable. */
function lock(data_dir: string): Database {
  const path = join(data_dir, "lock.db");
  closeSync(openSync(path, "a", 0o600));
  chmodSync(path, 0o600); // before SQLite makes a journal beside it, as open to others as this is
  const holder = new Database(path, { strict: true, create: true });
  try {
    holder.run("PRAGMA busy_timeout = 0");
    holder.run("BEGIN EXCLUSIVE");
  } catch (error) {
    if ((error as { code?: unknown }).code !== "SQLITE_BUSY") throw error;
    throw new DataDirInUse(
      `Another svc-server is running on ${data_dir}: stop it, or give this one its own --data-dir.`,
    );
  }
  return holder;
}

/** Removes the files that a deploy before this start did not finish: no blob has their names. */
function clearTemporary(data_dir: string): void {
  for (const name of readdirSync(join(data_dir, "tmp"))) rmSync(join(data_dir, "tmp", name), { force: true });
}

function ready(data_dir: string): void {
  prepareGeneration(data_dir);
  prepareFigures(data_dir);
  using db = openDatabase(data_dir);
  migrate(db);
  clearTemporary(data_dir);
  prepareSecrets(data_dir);
  prepareBrands(data_dir);
  prepareRates(data_dir);
  keepBallast(data_dir);
  closeToOthers(data_dir);
}

/** What an older version or a hand from outside left open, and what SQLite made before its database was closed. */
function closeToOthers(data_dir: string): void {
  for (const { name } of readdirSync(data_dir, { withFileTypes: true }).filter((entry) => entry.isFile())) {
    chmodSync(join(data_dir, name), 0o600);
  }
}

/** Locks and readies the data directory. Close what is returned when the server ends. */
export function prepareDataDir(data_dir: string): { close(): void } {
  refuseHalfRestored(data_dir);
  refuseForeign(data_dir);
  makeFolders(data_dir);
  const holder = lock(data_dir);
  try {
    ready(data_dir);
  } catch (error) {
    holder.close();
    throw error;
  }
  return { close: () => holder.close() };
}
