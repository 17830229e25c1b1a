/** Copying files between a data directory and a backup, so that they survive a power cut. */
import { constants } from "node:fs";
import { chmod, copyFile, link, open, unlink } from "node:fs/promises";

export async function flushFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
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
export async function copyFlushed(from: string, to: string): Promise<void> {
  if (!(await cloned(from, to))) await copyFile(from, to, constants.COPYFILE_EXCL);
  await chmod(to, 0o600);
  await flushFile(to);
}

/** Copies a file that never changes: shared blocks, else a second name if that is wanted, else its bytes. */
export async function copyImmutable(from: string, to: string, links: boolean): Promise<void> {
  if (await cloned(from, to)) return flushFile(to);
  if (links && (await linked(from, to))) return;
  await copyFile(from, to, constants.COPYFILE_EXCL);
  await flushFile(to);
}
