/** A file of 16 MiB that is given up when the disk is full: SQLite can then not even DELETE, so room must be made
 *  first. */
import { existsSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomBlock } from "../../random.ts";

const BALLAST_BYTES = 16 * 1024 * 1024;
export const RESERVE_BYTES = 64 * 1024 * 1024;

const fileOf = (data_dir: string): string => join(data_dir, "ballast");

export const freeBytes = (data_dir: string): number => {
  const { bavail, bsize } = statfsSync(data_dir);
  return bavail * bsize;
};

export const dropBallast = (data_dir: string): void => rmSync(fileOf(data_dir), { force: true });

/** Remakes it where there is room again. Zeros would be a hole on some file systems: the bytes are random. */
export function keepBallast(data_dir: string): void {
  if (existsSync(fileOf(data_dir)) || freeBytes(data_dir) < RESERVE_BYTES + BALLAST_BYTES) return;
  const chunk = randomBlock(65_536);
  const bytes = new Uint8Array(BALLAST_BYTES);
  for (let at = 0; at < BALLAST_BYTES; at += chunk.length) bytes.set(chunk, at);
  try {
    writeFileSync(fileOf(data_dir), bytes, { mode: 0o600 });
  } catch {
    dropBallast(data_dir); // half a ballast is none
  }
}
