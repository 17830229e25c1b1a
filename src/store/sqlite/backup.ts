/** A backup and its restore. A backup copies a service in use: the database first, then the blobs which that copy names, the list of
 *  checksums last (RELIABILITY 2). Deploys go on meanwhile; only the sweep waits. */
import { Database } from "bun:sqlite";
import { chmodSync, constants, existsSync } from "node:fs";
import { chmod, copyFile, link, lstat, open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { backupPlaces } from "../disk/backup-place.ts";
import { blobFiles, inParallel } from "../disk/blobs.ts";
import { certificateFiles } from "../disk/certificate-files.ts";
import { durable } from "../disk/durable.ts";
import { type BackedUp, type BlobRow, type Copies, namedBlobs, type TakenOut } from "../upkeep.ts";
import type { Opened } from "./data-dir.ts";
import { databaseFile, SCHEMA, type UpgradeTeller } from "./database.ts";
import { sqliteDb } from "./driver.ts";
import { prepareDataDir, RESTORING } from "./prepare.ts";
import { statsFile } from "./stats-file.ts";
import { takeHold } from "../sweep.ts";

const COPIERS = 8;
/** Besides the database and the blobs: every HMAC key, the operator's own list, and certificates with their keys. */
const SINGLE =
  /^(?:secrets|brands\.txt|certs\/(?:account\.pem|(?:_\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*\/(?:key\.pem|chain\.pem|manual)))$/;

/** Whether a backup may hold a file of this path beside the database and the blobs. */
export const isSingle = (path: string): boolean => SINGLE.test(path);

/** Those that are there. */
async function singleFiles(data_dir: string): Promise<string[]> {
  const paths: string[] = [];
  for (const path of ["secrets", "brands.txt", ...(await certificateFiles.listed(data_dir))]) {
    if (isSingle(path) && (await Bun.file(join(data_dir, path)).exists())) paths.push(path);
  }
  return paths;
}

async function readyFolder(data_dir: string, folder: string): Promise<void> {
  if (await backupPlaces.liesIn(data_dir, folder)) {
    throw new Error("A backup cannot lie in the data directory itself: name another folder.");
  }
  durable.makeFolder(folder);
  if (existsSync(join(folder, "snapshots"))) {
    throw new Error(
      `In ${folder} the server keeps snapshots, which it alone makes: a copy needs a new or empty folder.`,
    );
  }
  if ((await readdir(folder)).length > 0) {
    throw new Error(`The folder ${folder} is not empty: a backup needs a new or empty one.`);
  }
}

/** Rows that are not to come back: this backup's hold, and what deleted sites have left. */
const LEAVE_OUT = [
  "delete from holds",
  "delete from files where version_no in (select version_no from versions join leftovers using (site_id))",
  "delete from receipts where version_no in (select version_no from versions join leftovers using (site_id))",
  "delete from pictures where version_no in (select version_no from versions join leftovers using (site_id))",
  "delete from renders where version_no in (select version_no from versions join leftovers using (site_id))",
  "delete from previews where site_id in (select site_id from leftovers)",
  "delete from versions where site_id in (select site_id from leftovers)",
  "delete from leftovers",
];

/** One state of the database as a file of its own, without what is not to come back. */
export async function copyDatabase({ copies }: Copied, path: string): Promise<void> {
  await copies.database(path);
  chmodSync(path, 0o600);
  const copy = new Database(path, { strict: true, readwrite: true });
  copy.run("PRAGMA secure_delete = ON");
  for (const statement of LEAVE_OUT) copy.run(statement);
  copy.close();
  await flushFile(path);
}

/** Copies blobs that are files of a data directory. */
export const folderBlob =
  (data_dir: string): Copies["blob"] =>
  async ({ sha256, bytes }, path, links) => {
    try {
      await copyImmutable(blobFiles.path(data_dir, sha256), path, links);
    } catch (error) {
      if (["ENOENT", "EIO", "EACCES", "EPERM"].includes(codeOf(error))) return false;
      throw error;
    }
    if (Bun.file(path).size === bytes && (await blobFiles.hash(path).catch(() => null)) === sha256) return true;
    await unlink(path);
    return false;
  };

export async function folderSingles(data_dir: string): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  for (const name of await singleFiles(data_dir)) files.set(name, await readFile(join(data_dir, name)));
  return files;
}

/** A service as a backup copies it. */
export type Copied = Pick<Opened, "data_dir" | "db" | "now"> & { copies: Copies };

interface BackupJob {
  copied: Copied;
  folder: string;
  /** Second names instead of copies, if blocks cannot be shared. */
  links: boolean;
}

type List = Awaited<ReturnType<typeof writeChecksums>>;

async function copyBlobs({ copied, folder, links }: BackupJob, list: List, done: BackedUp): Promise<void> {
  const folders = new Set<string>();
  durable.makeFolder(join(folder, "blobs"));
  using copy = new Database(join(folder, "db"), { strict: true, readonly: true });
  for await (const page of namedBlobs.pages(sqliteDb(copy, () => {}))) {
    const added: CopiedFile[] = [];
    for (const { sha256 } of page) folders.add(blobFiles.folder(folder, sha256));
    folders.forEach(durable.makeFolder);
    await inParallel(page, COPIERS, async (blob) => {
      const { sha256, bytes } = blob;
      if (!(await copied.copies.blob(blob, blobFiles.path(folder, sha256), links)))
        return void done.damaged.push(sha256);
      done.blobs++;
      done.bytes += bytes;
      added.push({ path: `blobs/${sha256.slice(0, 2)}/${sha256}`, sha256 });
    });
    await list.add(added);
  }
  for (const path of folders) await durable.flushFolder(path);
  await durable.flushFolder(join(folder, "blobs"));
}

/** Writes the files besides database and blobs below a folder. */
export async function putSingles(files: ReadonlyMap<string, Uint8Array>, folder: string): Promise<void> {
  for (const [path, bytes] of files) {
    for (let above = dirname(path); above !== "."; above = dirname(above)) durable.makeFolder(join(folder, above));
    await writeFlushed(join(folder, path), bytes);
  }
}

async function copySingles({ copies }: Copied, folder: string): Promise<CopiedFile[]> {
  const files = await copies.singles();
  await putSingles(files, folder);
  const paths = ["db", ...files.keys()];
  const { name } = statsFile;
  if (await copies.statistics(join(folder, name))) {
    await flushFile(join(folder, name));
    paths.push(name);
  }
  return Promise.all(paths.map(async (path) => ({ path, sha256: await blobFiles.hash(join(folder, path)) })));
}

async function copyAll(job: BackupJob): Promise<BackedUp> {
  const { copied, folder } = job;
  const created_at = new Date(copied.now()).toISOString();
  const done: BackedUp = { created_at, blobs: 0, bytes: 0, damaged: [] };
  await copyDatabase(copied, join(folder, "db"));
  const list = await writeChecksums(folder, { schema: SCHEMA, created_at });
  try {
    await list.add(await copySingles(copied, folder));
    await copyBlobs(job, list, done);
    await list.finish();
  } finally {
    await list.close();
  }
  return done;
}

/** Throws a sentence, or the error of the disk; files that were copied until then stay, and no restore takes them. */
export async function backUp(copied: Copied, folder: string, links: boolean): Promise<BackedUp> {
  await readyFolder(copied.data_dir, folder);
  const hold = await takeHold(copied);
  try {
    return await copyAll({ copied, folder, links });
  } finally {
    await hold.release();
  }
}

// Files are copied so that they survive a power cut.

export async function flushFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes a new file. */
export async function writeFlushed(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "wx", 0o600);
  await file.writeFile(bytes);
  await file.sync().finally(() => file.close());
}

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? "");
/** True if the file system shares the blocks and copies them on write: it takes neither time nor room. */
async function cloned(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if (["ENOENT", "EIO", "ENOSPC", "EDQUOT", "EEXIST"].includes(codeOf(error))) throw error;
    await unlink(to).catch(() => {}); // some systems leave an empty file behind
    return false;
  }
}

/** A second name for the same bytes. Blobs are never written into, but a change of the owner or mode of one name changes the
 *  other's too. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw error;
    return false;
  }
}

/** Copies a file into one of its own: a change of one never changes the other. Throws as the file system does. */
async function copyFlushed(from: string, to: string): Promise<void> {
  if (!(await cloned(from, to))) await copyFile(from, to, constants.COPYFILE_EXCL);
  await chmod(to, 0o600);
  await flushFile(to);
}

/** Copies a file that never changes: shared blocks, else a second name if that is wanted, else its bytes. */
async function copyImmutable(from: string, to: string, links: boolean): Promise<void> {
  if (await cloned(from, to)) return flushFile(to);
  if (links && (await linked(from, to))) return;
  await copyFile(from, to, constants.COPYFILE_EXCL);
  await flushFile(to);
}

/** The name of the list that makes a backup whole: written last, and readable by `sha256sum -c`. */
const CHECKSUMS = "SHA256SUMS";
const UNFINISHED = `${CHECKSUMS}.unfinished`;

interface CopiedFile {
  /** Below the backup's folder, with `/`. */
  path: string;
  sha256: string;
}

interface Checksums {
  /** The schema of the database that was copied. */
  schema: number;
  created_at: string;
  entries: CopiedFile[];
}

const HEAD = /^# svc backup 1, schema (\d+), taken (\S+)$/;
const LINE = /^([0-9a-f]{64}) {2}(\S{1,400})$/;
const BLOB = /^blobs\/[0-9a-f]{2}\/[0-9a-f]{64}$/;

function entryOf(line: string): CopiedFile | null {
  const [, sha256 = "", path = ""] = LINE.exec(line) ?? [];
  return path === "db" || path === statsFile.name || isSingle(path) || BLOB.test(path) ? { sha256, path } : null;
}

/** Adds entries as they are copied; only `finish` gives the list the name by which a restore knows it. */
async function writeChecksums(folder: string, about: Omit<Checksums, "entries">) {
  const file = await open(join(folder, UNFINISHED), "wx", 0o600);
  let files = 0;
  await file.appendFile(`# svc backup 1, schema ${about.schema}, taken ${about.created_at}\n`);
  return {
    async add(entries: readonly CopiedFile[]): Promise<void> {
      files += entries.length;
      await file.appendFile(entries.map(({ path, sha256 }) => `${sha256}  ${path}\n`).join(""));
    },
    async finish(): Promise<void> {
      await file.appendFile(`# complete, ${files} files\n`);
      await file.sync();
      await file.close();
      await durable.flushFolder(folder);
      await rename(join(folder, UNFINISHED), join(folder, CHECKSUMS));
      await durable.flushFolder(folder);
    },
    close: (): Promise<void> => file.close().catch(() => {}),
  };
}

const incomplete = (folder: string): Error =>
  new Error(`The backup in ${folder} is incomplete: it was interrupted, or its ${CHECKSUMS} was changed. Use another.`);

/** Throws a sentence if the folder holds no backup, or half of one. */
async function readChecksums(folder: string): Promise<Checksums> {
  const text = await readFile(join(folder, CHECKSUMS), "utf8").catch(() => null);
  if (text === null) {
    const begun = await stat(join(folder, UNFINISHED)).catch(() => null);
    throw begun ? incomplete(folder) : new Error(`There is no backup in ${folder}: no file ${CHECKSUMS} is there.`);
  }
  const [first = "", ...lines] = text.split("\n");
  const head = HEAD.exec(first);
  const entries = lines.slice(0, -2).map(entryOf);
  if (!head || lines.at(-1) !== "" || lines.at(-2) !== `# complete, ${entries.length} files`) throw incomplete(folder);
  if (entries.some((entry) => entry === null)) throw incomplete(folder);
  return {
    schema: Number(head[1]),
    created_at: head[2]!,
    entries: entries.filter((entry) => entry !== null),
  };
}

// A restore: until the last file is flushed a marker keeps every server out, so that half a restore is never taken for a
// whole one (RELIABILITY, K29).

/** A new file system has this folder and is empty all the same. */
const LOST_AND_FOUND = "lost+found";

const isBlob = ({ path }: CopiedFile): boolean => path.startsWith("blobs/");

export async function refuseUnlessEmpty(data_dir: string): Promise<void> {
  const found = (await readdir(data_dir).catch(() => [])).filter((name) => name !== LOST_AND_FOUND);
  if (found.length === 0) return;
  throw new Error(
    found.includes(RESTORING)
      ? `A restore into ${data_dir} was interrupted: empty that folder, then restore again.`
      : `The data directory ${data_dir} is not empty: a restore never writes over one. Name a new --data-dir.`,
  );
}

/** Throws unless every file of the list is there; files other than blobs must have the right hash. */
async function refuseUnlessWhole(folder: string, { schema, entries }: Checksums): Promise<void> {
  databaseFile.refuseNewer(schema);
  await inParallel(entries, COPIERS, async (entry) => {
    const path = join(folder, entry.path);
    const found = await lstat(path).catch(() => null);
    if (!found) throw new Error(`The backup in ${folder} is incomplete: ${entry.path} is missing. Use another.`);
    // A link would bring in a file from elsewhere, and a pipe never ends.
    if (!found.isFile())
      throw new Error(`The backup in ${folder} is damaged: ${entry.path} is not a file. Use another.`);
    if (isBlob(entry) || (await blobFiles.hash(path)) === entry.sha256) return;
    throw new Error(`The backup in ${folder} is damaged: ${entry.path} does not match ${CHECKSUMS}. Use another.`);
  });
}

async function setMarker(data_dir: string): Promise<void> {
  const marker = await open(join(data_dir, RESTORING), "wx", 0o600);
  await marker.sync();
  await marker.close();
  await durable.flushFolder(data_dir);
}

async function copyBack(folder: string, data_dir: string, entries: readonly CopiedFile[]): Promise<void> {
  const folders = new Set([join(data_dir, "blobs"), ...entries.map(({ path }) => join(data_dir, dirname(path)))]);
  folders.forEach(durable.makeFolder);
  await inParallel(entries, COPIERS, ({ path }) => copyFlushed(join(folder, path), join(data_dir, path)));
  for (const path of [...folders, data_dir]) await durable.flushFolder(path);
}

/** Makes an empty folder of it that no server starts on. Throws a sentence if it is not empty. */
export async function beginRestore(data_dir: string): Promise<void> {
  await refuseUnlessEmpty(data_dir);
  durable.makeFolder(data_dir);
  await setMarker(data_dir);
}

/** When all files are flushed: from here on a server can start on it. */
export async function endRestore(data_dir: string, tell?: UpgradeTeller): Promise<void> {
  await durable.flushFolder(data_dir);
  await unlink(join(data_dir, RESTORING));
  await durable.flushFolder(data_dir);
  prepareDataDir(data_dir, { tell }).close();
}

async function checked(folder: string): Promise<Checksums> {
  if (!existsSync(folder)) throw new Error(`There is no folder ${folder}.`);
  const checksums = await readChecksums(folder);
  await refuseUnlessWhole(folder, checksums);
  return checksums;
}

/** Throws a sentence, or the error of the disk. When it resolves, a server can start on `data_dir`. */
export async function restoreFrom(folder: string, data_dir: string, tell?: UpgradeTeller): Promise<Checksums> {
  await refuseUnlessEmpty(data_dir);
  const checksums = await checked(folder);
  await beginRestore(data_dir);
  await copyBack(folder, data_dir, checksums.entries);
  await endRestore(data_dir, tell);
  return checksums;
}

/** The same into an empty folder of the caller's own, without the blobs: `bytesOf` reads those where the backup is. */
export async function takeOut(folder: string, data_dir: string): Promise<TakenOut> {
  const { created_at, entries } = await checked(folder);
  await copyBack(
    folder,
    data_dir,
    entries.filter((entry) => !isBlob(entry)),
  );
  const bytesOf = ({ sha256 }: BlobRow) => readFile(blobFiles.path(folder, sha256)).catch(() => null);
  return { from: resolve(folder), taken_at: created_at, bytesOf };
}
