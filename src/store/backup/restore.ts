/** A backup becomes a data directory again. Until the last file is flushed a marker keeps every server out, so that
 *  half a restore is never taken for a whole one (RELIABILITY, K29). */
import { existsSync } from "node:fs";
import { lstat, open, readdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CHECKSUMS, type Checksums, type CopiedFile, readChecksums } from "./checksums.ts";
import { hashOfFile, inParallel } from "../disk/blobs.ts";
import { copyFlushed } from "./copies.ts";
import { refuseNewer } from "../sqlite/database.ts";
import { flushFolder, makeFolder } from "../disk/durable.ts";
import { prepareDataDir } from "../sqlite/prepare.ts";
import { RESTORING } from "../disk/refuse-start.ts";

const COPIERS = 8;
/** A new file system has this folder and is empty all the same. */
const LOST_AND_FOUND = "lost+found";

const isBlob = ({ path }: CopiedFile): boolean => path.startsWith("blobs/");

async function refuseUnlessEmpty(data_dir: string): Promise<void> {
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
  refuseNewer(schema);
  await inParallel(entries, COPIERS, async (entry) => {
    const path = join(folder, entry.path);
    const found = await lstat(path).catch(() => null);
    if (!found) throw new Error(`The backup in ${folder} is incomplete: ${entry.path} is missing. Use another.`);
    // A link would bring in a file from elsewhere, and a pipe never ends.
    if (!found.isFile())
      throw new Error(`The backup in ${folder} is damaged: ${entry.path} is not a file. Use another.`);
    if (isBlob(entry) || (await hashOfFile(path)) === entry.sha256) return;
    throw new Error(`The backup in ${folder} is damaged: ${entry.path} does not match ${CHECKSUMS}. Use another.`);
  });
}

async function setMarker(data_dir: string): Promise<void> {
  const marker = await open(join(data_dir, RESTORING), "wx", 0o600);
  await marker.sync();
  await marker.close();
  await flushFolder(data_dir);
}

async function copyAll(folder: string, data_dir: string, entries: readonly CopiedFile[]): Promise<void> {
  const folders = new Set([join(data_dir, "blobs"), ...entries.map(({ path }) => join(data_dir, dirname(path)))]);
  folders.forEach(makeFolder);
  await inParallel(entries, COPIERS, ({ path }) => copyFlushed(join(folder, path), join(data_dir, path)));
  for (const path of [...folders, data_dir]) await flushFolder(path);
}

/** Throws a sentence, or the error of the disk. When it resolves, a server can start on `data_dir`. */
export async function restoreFrom(folder: string, data_dir: string): Promise<Checksums> {
  if (!existsSync(folder)) throw new Error(`There is no folder ${folder}.`);
  await refuseUnlessEmpty(data_dir);
  const checksums = await readChecksums(folder);
  await refuseUnlessWhole(folder, checksums);
  makeFolder(data_dir);
  await setMarker(data_dir);
  await copyAll(folder, data_dir, checksums.entries);
  await unlink(join(data_dir, RESTORING));
  await flushFolder(data_dir);
  prepareDataDir(data_dir).close();
  return checksums;
}
