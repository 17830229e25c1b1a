/** Writing to disk so that it is still there after a power cut. */
import { mkdirSync, openSync, closeSync, fsyncSync } from "node:fs";
import { type FileHandle, open, rename, unlink } from "node:fs/promises";

/** Folders cannot be opened for flushing on Windows; NTFS journals its names itself. */
const FOLDERS_FLUSH = process.platform !== "win32";

export async function flushFolder(path: string): Promise<void> {
  if (!FOLDERS_FLUSH) return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export function flushFolderSync(path: string): void {
  if (!FOLDERS_FLUSH) return;
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Makes folders that only this user may enter; flushed with their parent by the caller. */
export const makeFolder = (path: string): void => void mkdirSync(path, { recursive: true, mode: 0o700 });

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at, bytes.length - at)).bytesWritten;
  await file.sync();
}

/**
 * `bytes` at `path` whole or not at all: written and flushed under `temporary` (same file system), then renamed.
 * The folder of `path` is not flushed. On failure nothing is left behind and the error is thrown as it is.
 */
export async function writeWhole(temporary: string, path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(temporary, "wx", 0o600);
  try {
    try {
      await writeAll(file, bytes);
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
}
