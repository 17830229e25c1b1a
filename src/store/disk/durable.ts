/** Writing to disk so that it is still there after a power cut. */
import { closeSync, fsync, fsyncSync, mkdirSync, openSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { promisify } from "node:util";
import { beginWriteBack } from "./write-back.ts";

/** Folders cannot be opened for flushing on Windows; NTFS journals its names itself. */
const FOLDERS_FLUSH = process.platform !== "win32";

const flush = promisify(fsync);

export async function flushFolder(path: string): Promise<void> {
  if (!FOLDERS_FLUSH) return;
  const fd = openSync(path, "r");
  try {
    await flush(fd);
  } finally {
    closeSync(fd);
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

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at, bytes.length - at, at);
}

/** A file on its way: its bytes are with the kernel, under a temporary name. One of the two is called, once. */
export interface Begun {
  /** Flushes it and gives it its name; the folder is not flushed. On failure nothing is left behind and the error is thrown
   *  as it is. */
  keep(): Promise<void>;
  drop(): void;
}

/** `bytes` at `path` whole or not at all: written and flushed under `temporary` (same file system), then renamed. On
 *  failure as `keep`. Holds the thread but for the flush: what only goes to the kernel takes less than another thread to be
 *  asked for it (bench/README.md, deploy). */
export function beginWhole(temporary: string, path: string, bytes: Uint8Array): Begun {
  const fd = openSync(temporary, "wx", 0o600);
  let open = true;
  const close = () => {
    if (!open) return;
    open = false;
    closeSync(fd);
  };
  const drop = () => {
    try {
      close();
    } catch {}
    try {
      unlinkSync(temporary);
    } catch {}
  };
  try {
    writeAll(fd, bytes);
    if (!beginWriteBack(fd)) writeAll(fd, bytes);
  } catch (error) {
    drop();
    throw error;
  }
  return {
    drop,
    async keep() {
      try {
        await flush(fd);
        close();
        renameSync(temporary, path);
      } catch (error) {
        drop();
        throw error;
      }
    },
  };
}
