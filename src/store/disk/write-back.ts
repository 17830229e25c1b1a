/** Has the kernel begin to write a file that is flushed a little later: of many files, the first flush then finds places on
 *  the disk for all and commits them in one go, where each would have waited for a commit of its own (bench/README.md, deploy).
 *  Only when it is written changes, never whether: the flush comes all the same. */
import { dlopen } from "bun:ffi";

/** Of <fcntl.h>: the same on every Linux. */
const SYNC_FILE_RANGE_WRITE = 2;

type SyncFileRange = (descriptor: number, offset: number, bytes: number, flags: number) => number;

function openSyncFileRange(): SyncFileRange {
  try {
    const whole = { args: ["i32", "i64", "i64", "u32"], returns: "i32" } as const;
    return dlopen("libc.so.6", { sync_file_range: whole }).symbols.sync_file_range as SyncFileRange;
  } catch {
    return () => -1; // another system, or another libc: the flush does it all
  }
}

let syncFileRange: SyncFileRange | undefined;

export function beginWriteBack(descriptor: number): void {
  syncFileRange ??= openSyncFileRange();
  syncFileRange(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
}
