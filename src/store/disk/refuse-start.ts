/** Data directories on which no server may start, each with a sentence that says the file and what to do. A start would
 *  write into somebody's home or project, or make an empty server whose first sweep removes every file of the old one. */
import { existsSync, readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { isDamage, isDiskFull } from "../refusals.ts";

/** The name of a file that is there while a restore writes the data directory. */
export const RESTORING = "restoring";

/** Throws if a restore was cut short: what is there may be any part of a backup. */
export function refuseHalfRestored(data_dir: string): void {
  if (!existsSync(join(data_dir, RESTORING))) return;
  throw new Error(`A restore into ${data_dir} was not finished: empty that folder and run svc-server restore again.`);
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
const FILES = [...DATABASES, "lock.db", "secrets", "brands.txt", "ballast"];
const FOLDERS = ["blobs", "tmp", "quarantine"];

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
export function refuseDoubtful(data_dir: string): void {
  refuseHalfRestored(data_dir);
  refuseLost(data_dir);
  refuseForeign(data_dir);
  refuseStrangeKinds(data_dir);
}

/** For a database that was opened: one without a schema was emptied, or SQLite has just made it. */
export function refuseEmptied(data_dir: string, schema: number): void {
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
    `The disk of ${data_dir} is full, and nothing is lost: free some room and start again. An upgrade takes as much ` +
      `again as the database (${megabytes} MB) for a while.`,
  );
}

/** Runs `open`; if SQLite finds the file damaged, or no room on its disk, a sentence is thrown in place of its error. */
export function sayingWhich<T>(data_dir: string, name: "db" | "lock.db", open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (isDiskFull(error)) throw noRoom(data_dir);
    if (!isDamage(error)) throw error;
    throw new Error(`${join(data_dir, name)} is damaged (${(error as Error).message}): ${ADVICE[name]}.`);
  }
}
