/** Has the kernel begin to write a file that is flushed a little later: of many files, the first flush then finds places on
 *  the disk for all and commits them in one go, where each would have waited for a commit of its own (bench/README.md, deploy).
 *  Whether it is on the disk the flush alone says. */
import { dlopen } from "bun:ffi";

/** Of <fcntl.h>: the same on every Linux. */
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

/** False where the kernel could not: then the bytes must be written once more, for it may have dropped them, and the flush
 *  would know nothing of it. */
export function beginWriteBack(descriptor: number): boolean {
  syncFileRange ??= openSyncFileRange();
  return syncFileRange(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE) === 0;
}
