/** A file of 16 MiB that is given up when the disk is full, a quarter at a time: SQLite can then not even DELETE, and on some
 *  file systems not even open its files, so room must be made first. What is freed may be filled at once by others, so
 *  one full disk must not cost all of it. */
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { randomBlock } from "../../base/random.ts";
import { isDiskFull } from "../refusals.ts";
import { BTRFS } from "./in-place.ts";

const BALLAST_BYTES = 16 * 1024 * 1024;
const QUARTER = BALLAST_BYTES / 4;
export const RESERVE_BYTES = 64 * 1024 * 1024;

const fileOf = (data_dir: string): string => join(data_dir, "ballast");

export const freeBytes = (data_dir: string): number => {
  const { bavail, bsize } = statfsSync(data_dir);
  return bavail * bsize;
};

const sizeOf = (data_dir: string): number => statSync(fileOf(data_dir), { throwIfNoEntry: false })?.size ?? 0;

/** Gives up a quarter; false where there is nothing left to give. */
export function dropBallast(data_dir: string): boolean {
  const size = sizeOf(data_dir);
  try {
    if (size > QUARTER) truncateSync(fileOf(data_dir), Math.min(size, BALLAST_BYTES) - QUARTER);
    else rmSync(fileOf(data_dir), { force: true });
  } catch {
    rmSync(fileOf(data_dir), { force: true }); // it takes room to give back a part
  }
  return size > 0;
}

/** What a system that keeps some room for itself still calls free. */
const NEXT_TO_NOTHING = 4 * 1024 * 1024;

/** SQLite says of a file for which there is no room that it cannot be opened, or just that the disk failed. */
function isFull(data_dir: string, error: unknown): boolean {
  if (isDiskFull(error)) return true;
  const code = String((error as { code?: unknown } | null)?.code ?? "");
  return /^SQLITE_(CANTOPEN|IOERR)/.test(code) && freeBytes(data_dir) < NEXT_TO_NOTHING;
}

/** Opens what needs room to be opened: on a full disk again, with less ballast, as long as there is any. */
export function withRoom<T>(data_dir: string, open: () => T): T {
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

/** Remakes it where there is room again. */
export function keepBallast(data_dir: string): void {
  const size = sizeOf(data_dir);
  if (size === BALLAST_BYTES || freeBytes(data_dir) < RESERVE_BYTES + BALLAST_BYTES) return;
  try {
    append(fileOf(data_dir), size > BALLAST_BYTES ? 0 : size, statfsSync(data_dir).type === BTRFS);
  } catch {} // the next sweep tries again
}
