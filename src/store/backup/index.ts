/** A copy of a data directory that is in use: the database first, then the blobs which that copy names, the list of
 *  checksums last (RELIABILITY 2). Deploys go on meanwhile; only the sweep waits. */
import { Database } from "bun:sqlite";
import { chmodSync, existsSync } from "node:fs";
import { readdir, realpath, rmdir, unlink } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";
import { type CopiedFile, writeChecksums } from "./checksums.ts";
import { blobFolder, blobPath, hashOfFile, inParallel } from "../disk/blobs.ts";
import { copyFlushed, copyImmutable, flushFile } from "./copies.ts";
import { flushFolder, makeFolder } from "../disk/durable.ts";
import { takeHold } from "../sweep.ts";
import { type BlobRow, blobPages } from "../named-blobs.ts";
import type { DataDir } from "../sqlite/data-dir.ts";
import { schemaOf } from "../sqlite/database.ts";
import { sqliteDb } from "../sqlite/driver.ts";
import type { BackedUp } from "../upkeep.ts";

const COPIERS = 8;
/** Besides the database and the blobs: every HMAC key, and the operator's own list. */
const SINGLE_FILES = ["secrets", "brands.txt"];

async function readyFolder(data_dir: string, folder: string): Promise<void> {
  const isNew = !existsSync(folder);
  makeFolder(folder);
  const inside = relative(await realpath(data_dir), await realpath(folder));
  if (!inside.startsWith("..") && !isAbsolute(inside)) {
    if (isNew) await rmdir(folder);
    throw new Error("A backup cannot lie in the data directory itself: name another folder.");
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

/** One state of the database as a file of its own. */
async function copyDatabase(db: Database, path: string): Promise<void> {
  db.run("VACUUM INTO ?", [path]);
  chmodSync(path, 0o600);
  const copy = new Database(path, { strict: true, readwrite: true });
  for (const statement of LEAVE_OUT) copy.run(statement);
  copy.close();
  await flushFile(path);
}

/** False if the blob is missing or not what its name says: such a copy is worth nothing. */
async function copyBlob({ data_dir, folder, links }: BackupJob, { sha256, bytes }: BlobRow): Promise<boolean> {
  const path = blobPath(folder, sha256);
  try {
    await copyImmutable(blobPath(data_dir, sha256), path, links);
  } catch (error) {
    if (["ENOENT", "EIO", "EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
  if (Bun.file(path).size === bytes && (await hashOfFile(path).catch(() => null)) === sha256) return true;
  await unlink(path);
  return false;
}

interface BackupJob {
  data_dir: string;
  folder: string;
  /** Second names instead of copies, if blocks cannot be shared. */
  links: boolean;
}

type List = Awaited<ReturnType<typeof writeChecksums>>;

async function copyBlobs(job: BackupJob, list: List, done: BackedUp): Promise<void> {
  const { folder } = job;
  const folders = new Set<string>();
  makeFolder(join(folder, "blobs"));
  using copy = new Database(join(folder, "db"), { strict: true, readonly: true });
  for await (const page of blobPages(sqliteDb(copy, () => {}))) {
    const copied: CopiedFile[] = [];
    for (const { sha256 } of page) folders.add(blobFolder(folder, sha256));
    folders.forEach(makeFolder);
    await inParallel(page, COPIERS, async (blob) => {
      if (!(await copyBlob(job, blob))) return void done.damaged.push(blob.sha256);
      done.blobs++;
      done.bytes += blob.bytes;
      copied.push({ path: `blobs/${blob.sha256.slice(0, 2)}/${blob.sha256}`, sha256: blob.sha256 });
    });
    await list.add(copied);
  }
  for (const path of folders) await flushFolder(path);
  await flushFolder(join(folder, "blobs"));
}

async function copySingles(data_dir: string, folder: string): Promise<CopiedFile[]> {
  const copied = [{ path: "db", sha256: await hashOfFile(join(folder, "db")) }];
  for (const path of SINGLE_FILES) {
    if (!(await Bun.file(join(data_dir, path)).exists())) continue;
    await copyFlushed(join(data_dir, path), join(folder, path));
    copied.push({ path, sha256: await hashOfFile(join(folder, path)) });
  }
  return copied;
}

async function copyAll({ sqlite, now }: DataDir, job: BackupJob): Promise<BackedUp> {
  const { data_dir, folder } = job;
  const created_at = new Date(now()).toISOString();
  const done: BackedUp = { created_at, blobs: 0, bytes: 0, damaged: [] };
  await copyDatabase(sqlite, join(folder, "db"));
  const list = await writeChecksums(folder, { schema: schemaOf(sqlite), created_at });
  try {
    await list.add(await copySingles(data_dir, folder));
    await copyBlobs(job, list, done);
    await list.finish();
  } finally {
    await list.close();
  }
  return done;
}

/** Throws a sentence, or the error of the disk; files that were copied until then stay, and no restore takes them. */
export async function backUp(parts: DataDir, folder: string, links: boolean): Promise<BackedUp> {
  await readyFolder(parts.data_dir, folder);
  const hold = await takeHold(parts);
  try {
    return await copyAll(parts, { data_dir: parts.data_dir, folder, links });
  } finally {
    await hold.release();
  }
}
