/** Writing to disk so that it is still there after a power cut. */
import { mkdirSync, openSync, closeSync, fsyncSync } from "node:fs";
import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { beginWriteBack } from "./write-back.ts";

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
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at, bytes.length - at, at)).bytesWritten;
}

/** A file on its way: its bytes are with the kernel, under a temporary name. One of the two is called, once. */
export interface Begun {
  /** Flushes it and gives it its name; the folder is not flushed. On failure nothing is left behind and the error is thrown
   *  as it is. */
  keep(): Promise<void>;
  drop(): Promise<void>;
}

/** `bytes` at `path` whole or not at all: written and flushed under `temporary` (same file system), then renamed. On
 *  failure as `keep`. */
export async function beginWhole(temporary: string, path: string, bytes: Uint8Array): Promise<Begun> {
  const file = await open(temporary, "wx", 0o600);
  const drop = async () => {
    await file.close().catch(() => {});
    await unlink(temporary).catch(() => {});
  };
  const orNothing = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      await drop();
      throw error;
    }
  };
  await orNothing(() => writeAll(file, bytes));
  if (!beginWriteBack(file.fd)) await orNothing(() => writeAll(file, bytes));
  const keep = () =>
    orNothing(async () => {
      await file.sync();
      await file.close();
      await rename(temporary, path);
    });
  return { keep, drop };
}
