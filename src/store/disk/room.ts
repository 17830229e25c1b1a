/** Whether there is room on the disk for what is to come. */
import { type StatsFs, statfsSync } from "node:fs";
import { RESERVE_BYTES } from "./ballast.ts";

/** Inodes that are kept for the database's own files, for sweeps and for operators. */
const RESERVE_FILES = 256;

/** What is asked of a file system. One that counts no inodes (btrfs) says that it has none at all. */
type Disk = Pick<StatsFs, "bsize" | "blocks" | "bfree" | "bavail" | "files" | "ffree">;

interface Upload {
  bytes: number;
  files: number;
  /** Bytes of other uploads that are on their way. */
  beside: number;
}

/** W0: whether an upload fits: its bytes in three times (blobs, write-ahead log, database), its files in twice (what is
 *  made of them may be as many), beside the reserves and the other uploads. */
export function roomIn({ bavail, bsize, files, ffree }: Disk, upload: Upload): boolean {
  if (bavail * bsize < RESERVE_BYTES + 3 * upload.bytes + upload.beside) return false;
  return files === 0 || ffree >= RESERVE_FILES + 2 * upload.files;
}

/** How much of it is in use, in percent: of its bytes, as `df` reckons it, or of its inodes, whichever is more. */
export function useOf({ blocks, bfree, bavail, files, ffree }: Disk): number {
  const used = blocks - bfree;
  const bytes = used === 0 ? 0 : used / (used + bavail);
  const inodes = files === 0 ? 0 : (files - ffree) / files;
  return 100 * Math.max(bytes, inodes);
}

export const hasRoomFor = (data_dir: string, bytes: number, files: number, beside = 0): boolean =>
  roomIn(statfsSync(data_dir), { bytes, files, beside });

export const diskUse = (data_dir: string): number => useOf(statfsSync(data_dir));
