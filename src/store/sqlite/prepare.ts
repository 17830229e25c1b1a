/** The first process prepares a data directory once, before anybody opens the store: folders, lock, schema, recovery (RELIABILITY 2). */
import type { Database } from "bun:sqlite";
import { chmodSync, closeSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { keepBallast, withRoom, writeInPlace } from "../disk/room.ts";
import { prepareBrands } from "../disk/brands.ts";
import { migrate, openDatabase, openFile, schemaOf } from "./database.ts";
import { flushFolderSync, makeFolder } from "../disk/durable.ts";
import { prepareFigures } from "../disk/figures.ts";
import { prepareGeneration } from "./generation.ts";
import { prepareRates } from "./rates.ts";
import { refuseDoubtful, refuseEmptied, sayingWhich } from "../disk/refuse-start.ts";
import { prepareSecrets } from "../disk/secrets.ts";

/** Another server holds the data directory: the start fails with exit code 1. */
export class DataDirInUse extends Error {
  override readonly name = "DataDirInUse";
}

function makeFolders(data_dir: string): void {
  makeFolder(data_dir);
  const { uid } = statSync(data_dir);
  if (process.getuid && uid !== process.getuid()) {
    throw new Error(`The data directory ${data_dir} belongs to another user (uid ${uid}): use one of your own.`);
  }
  chmodSync(data_dir, 0o700);
  for (const name of ["blobs", "tmp"]) makeFolder(join(data_dir, name));
  for (const name of ["blobs", "."]) flushFolderSync(join(data_dir, name));
  writeInPlace(data_dir);
}

/** A killed process lets go of its lock a moment later. */
const RELEASE_MS = 1000;

/** Held until the process ends, however it ends: kill -9 frees it. The caller keeps the Database reachable. */
function lock(data_dir: string): Database {
  const path = join(data_dir, "lock.db");
  withRoom(data_dir, () => closeSync(openSync(path, "a", 0o600)));
  chmodSync(path, 0o600); // before SQLite makes a journal with the same mode
  const holder = openFile(data_dir, "lock.db", [`busy_timeout = ${RELEASE_MS}`]);
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

/** Removes the files that a deploy before this start did not finish: no blob has their names. */
function clearTemporary(data_dir: string): void {
  for (const name of readdirSync(join(data_dir, "tmp")))
    rmSync(join(data_dir, "tmp", name), { force: true, recursive: true });
}

/** Drops all deliveries of webhooks that wait. */
function dropPendingDeliveries(db: Database): void {
  const waits = db.query("select 1 from webhook_outbox limit 1").get() !== null;
  if (waits) db.run("delete from webhook_outbox"); // without a condition SQLite drops the pages, not row by row
}

interface Preparing {
  /** Epoch milliseconds: the time by which a key may be old and need a new one. */
  now?: number;
  /** Webhooks are off: what waits to be delivered never is. */
  drops_deliveries?: boolean;
}

/** Returns a function that removes the shared pages. */
function ready(data_dir: string, { now = 0, drops_deliveries = false }: Preparing): () => void {
  using db = openDatabase(data_dir);
  refuseEmptied(data_dir, schemaOf(db));
  migrate(db);
  if (drops_deliveries) dropPendingDeliveries(db);
  clearTemporary(data_dir);
  prepareSecrets(data_dir, now);
  prepareBrands(data_dir);
  prepareRates(data_dir);
  const pages = [prepareGeneration(data_dir), prepareFigures(data_dir)];
  keepBallast(data_dir);
  closeToOthers(data_dir);
  return () => pages.forEach((remove) => remove());
}

/** Closes to other users what an older version or an operator left open, and what SQLite has made. */
function closeToOthers(data_dir: string): void {
  for (const { name } of readdirSync(data_dir, { withFileTypes: true }).filter((entry) => entry.isFile())) {
    chmodSync(join(data_dir, name), 0o600);
  }
}

/** Locks and readies the data directory. Close what is returned when the server ends. */
export function prepareDataDir(data_dir: string, preparing: Preparing = {}): { close(): void } {
  refuseDoubtful(data_dir);
  withRoom(data_dir, () => makeFolders(data_dir));
  const holder = sayingWhich(data_dir, "lock.db", () => withRoom(data_dir, () => lock(data_dir)));
  try {
    const removePages = sayingWhich(data_dir, "db", () => withRoom(data_dir, () => ready(data_dir, preparing)));
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
