/** Writing to disk so that it is still there after a power cut. */
import { dlopen } from "bun:ffi";
import { closeSync, fsync, fsyncSync, mkdirSync, openSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/** Folders cannot be opened for flushing on Windows; NTFS journals its names itself. */
const FOLDERS_FLUSH = process.platform !== "win32";

const flush = promisify(fsync);

async function flushFolder(path: string): Promise<void> {
  if (!FOLDERS_FLUSH) return;
  const fd = openSync(path, "r");
  try {
    await flush(fd);
  } finally {
    closeSync(fd);
  }
}

function flushFolderSync(path: string): void {
  if (!FOLDERS_FLUSH) return;
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Makes folders that only this user may enter; the caller flushes them with their parent. */
const makeFolder = (path: string): void => void mkdirSync(path, { recursive: true, mode: 0o700 });

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at, bytes.length - at, at);
}

/** A text file of the data directory: whole or not at all, and for this user alone. */
function putPrivate(data_dir: string, name: string, text: string): void {
  const temporary = join(data_dir, "tmp", `${name}-${process.pid}`);
  const fd = openSync(temporary, "w", 0o600);
  try {
    writeAll(fd, Buffer.from(text));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, join(data_dir, name));
  flushFolderSync(data_dir);
}

/** A file whose bytes are with the kernel, under a temporary name. One of the two functions is called, once. */
export interface Begun {
  /** Flushes it and gives it its name; the folder is not flushed. On failure nothing is left behind and the error is thrown
   *  as it is. */
  keep(): Promise<void>;
  drop(): void;
}

/** `bytes` at `path` whole or not at all: written and flushed under `temporary` (same file system), then renamed. On
 *  failure as `keep`. Holds the thread except for the flush: to hand bytes to the kernel takes less time than to ask another
 *  thread for it (bench/README.md, deploy). */
function beginWhole(temporary: string, path: string, bytes: Uint8Array): Begun {
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

/** Writes that survive a power cut. */
export const durable = {
  putPrivate,
  flushFolder,
  flushFolderSync,
  makeFolder,
  beginWhole,
};

/** From <fcntl.h>: the same on every Linux. */
const SYNC_FILE_RANGE_WRITE = 2;

type SyncFileRange = (descriptor: number, offset: number, bytes: number, flags: number) => number;

function openSyncFileRange(): SyncFileRange {
  try {
    const whole = { args: ["i32", "i64", "i64", "u32"], returns: "i32" } as const;
    return dlopen("libc.so.6", { sync_file_range: whole }).symbols.sync_file_range as SyncFileRange;
  } catch {
    return () => 0; // another system, or another libc: the flush does it all
  }
}

let syncFileRange: SyncFileRange | undefined;

/** Has the kernel begin to write a file that is flushed a little later: the first flush of many files then finds places on the
 *  disk for all and commits them in one go, where each would have waited for a commit of its own (bench/README.md, deploy). Only
 *  the flush makes sure that it is on the disk. False if the kernel failed: then the bytes must be written once more, for it may
 *  have dropped them, and the flush would not notice. */
function beginWriteBack(descriptor: number): boolean {
  syncFileRange ??= openSyncFileRange();
  return syncFileRange(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE) === 0;
}
