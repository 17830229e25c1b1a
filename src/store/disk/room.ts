/** Room on the disk: whether an upload fits, and a ballast that is given up when the disk is full. */
import {
  closeSync,
  fsyncSync,
  openSync,
  rmSync,
  statfsSync,
  type StatsFs,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { randomBlock } from "../../base/random.ts";
import { isDiskFull } from "../refusals.ts";

const RESERVE_BYTES = 64 * 1024 * 1024;
/** Inodes that are kept for the database's own files, for sweeps and for operators. */
const RESERVE_FILES = 256;

/** The figures of a file system. One that counts no inodes (btrfs) says that it has none at all. */
type DiskFigures = Pick<StatsFs, "bsize" | "blocks" | "bfree" | "bavail" | "files" | "ffree">;

interface UploadSize {
  bytes: number;
  files: number;
  /** Bytes of other uploads that are on their way. */
  beside: number;
}

/** W0: whether an upload fits: its bytes in three times (blobs, write-ahead log, database), its files in twice (what is
 *  made of them may be as many), besides the reserves and the other uploads. */
export function roomIn({ bavail, bsize, files, ffree }: DiskFigures, upload: UploadSize): boolean {
  if (bavail * bsize < RESERVE_BYTES + 3 * upload.bytes + upload.beside) return false;
  return files === 0 || ffree >= RESERVE_FILES + 2 * upload.files;
}

/** The part of a disk in use, in percent: of its bytes, as `df` reckons it, or of its inodes, whichever is more. */
export function useOf({ blocks, bfree, bavail, files, ffree }: DiskFigures): number {
  const used = blocks - bfree;
  const bytes = used === 0 ? 0 : used / (used + bavail);
  const inodes = files === 0 ? 0 : (files - ffree) / files;
  return 100 * Math.max(bytes, inodes);
}

const hasRoomFor = (data_dir: string, bytes: number, files: number, beside = 0): boolean =>
  roomIn(statfsSync(data_dir), { bytes, files, beside });

const diskUse = (data_dir: string): number => useOf(statfsSync(data_dir));

/** A file of 16 MiB that is given up when the disk is full, a quarter at a time: SQLite can then not even DELETE, and on some
 *  file systems not even open its files, so room must be made first. What is freed may be filled at once by others, so
 *  one full disk must not cost all of it. */
const BALLAST_BYTES = 16 * 1024 * 1024;
const QUARTER = BALLAST_BYTES / 4;

const fileOf = (data_dir: string): string => join(data_dir, "ballast");

const freeBytes = (data_dir: string): number => {
  const { bavail, bsize } = statfsSync(data_dir);
  return bavail * bsize;
};

const sizeOf = (data_dir: string): number => statSync(fileOf(data_dir), { throwIfNoEntry: false })?.size ?? 0;

/** Gives up a quarter; false if there is nothing left to give. */
function dropBallast(data_dir: string): boolean {
  const size = sizeOf(data_dir);
  try {
    if (size > QUARTER) truncateSync(fileOf(data_dir), Math.min(size, BALLAST_BYTES) - QUARTER);
    else rmSync(fileOf(data_dir), { force: true });
  } catch {
    rmSync(fileOf(data_dir), { force: true }); // it takes room to give back a part
  }
  return size > 0;
}

/** Bytes that a file system may call free although they are kept for itself. */
const NEXT_TO_NOTHING = 4 * 1024 * 1024;

/** SQLite says of a file for which there is no room that it cannot be opened, or just that the disk failed. */
function isFull(data_dir: string, error: unknown): boolean {
  if (isDiskFull(error)) return true;
  const code = String((error as { code?: unknown } | null)?.code ?? "");
  return /^SQLITE_(CANTOPEN|IOERR)/.test(code) && freeBytes(data_dir) < NEXT_TO_NOTHING;
}

/** Runs `open`, which needs room; on a full disk again, with less ballast, as long as there is any. */
function withRoom<T>(data_dir: string, open: () => T): T {
  for (;;) {
    try {
      return open();
    } catch (error) {
      if (!isFull(data_dir, error) || !dropBallast(data_dir)) throw error;
    }
  }
}

/** Fills up what is missing. Zeros would be a hole on some file systems: the bytes are random. */
function append(path: string, from: number, flushes: boolean): void {
  const chunk = randomBlock(65_536);
  const file = openSync(path, from === 0 ? "w" : "a", 0o600);
  try {
    for (let at = from; at < BALLAST_BYTES; at += writeSync(file, chunk)) {
      if (flushes && at > from && at % QUARTER === 0) fsyncSync(file); // else it is one extent, freed as a whole or not
    }
  } finally {
    closeSync(file);
  }
}

/** Makes the ballast whole where there is room again. */
function keepBallast(data_dir: string): void {
  const size = sizeOf(data_dir);
  if (size === BALLAST_BYTES || freeBytes(data_dir) < RESERVE_BYTES + BALLAST_BYTES) return;
  try {
    append(fileOf(data_dir), size > BALLAST_BYTES ? 0 : size, statfsSync(data_dir).type === BTRFS);
  } catch {} // the next sweep tries again
}

/** btrfs writes every change to a new place. If there is none left, a write to a mapped page ends the process by SIGBUS,
 *  and SQLite maps `-shm` files, which it makes anew at each start. In a folder with the attribute C new files are
 *  written in place. */
const BTRFS = 0x9123683e;

/** Writes files in place that are made in the folder itself from now on; what is deeper keeps its copies and its checksums. */
function writeInPlace(folder: string): void {
  try {
    if (statfsSync(folder).type !== BTRFS) return;
    Bun.spawnSync(["chattr", "+C", folder], { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  } catch {} // without the program, or on a disk that is full already, all is as it was
}

/** The room of the data directory's disk. */
export const diskRoom = {
  drop: dropBallast,
  keep: keepBallast,
  withRoom,
  writeInPlace,
  hasRoomFor,
  use: diskUse,
  freeBytes,
};
