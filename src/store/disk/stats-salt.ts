/** `DATA/stats-salt`: the salt under which the visitors of a day are hashed (BEYOND 11). All processes share it, so that one
 *  visitor is one whichever of them answers. It is overwritten each day, and no backup has it: from then on nobody can tell
 *  whether an address was there. */
import { chmodSync, closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type DaySalt, dayOf } from "../../base/statistics.ts";
import { randomKey } from "../../base/random.ts";

const NAME = "stats-salt";
const BYTES = 32;
const LONG_ENOUGH = 43;

/** Null if there is none that can be read. */
function readSalt(data_dir: string): DaySalt | null {
  try {
    const { day, salt } = JSON.parse(readFileSync(join(data_dir, NAME), "utf8")) as DaySalt;
    return Number.isSafeInteger(day) && typeof salt === "string" && salt.length >= LONG_ENOUGH ? { day, salt } : null;
  } catch {
    return null;
  }
}

function opened(path: string): number {
  try {
    return openSync(path, "r+");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return openSync(path, "wx", 0o600);
  }
}

/** In its place, and not as a new file: the blocks of a file that was removed keep what it held. */
function overwrite(path: string, text: string): void {
  const file = opened(path);
  try {
    writeSync(file, text, 0);
    ftruncateSync(file, text.length);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  chmodSync(path, 0o600);
}

/** The salt of a day; one that is older is overwritten. Callers take turns. That of the next day counts too: around midnight
 *  the clocks of two processes differ. */
function turnSalt(data_dir: string, day: number): DaySalt {
  const found = readSalt(data_dir);
  if (found !== null && (found.day === day || found.day === day + 1)) return found;
  const made = { day, salt: randomKey(BYTES) };
  overwrite(join(data_dir, NAME), `${JSON.stringify(made)}\n`);
  return made;
}

export const statsSalt = {
  read: readSalt,
  turn: turnSalt,
  /** For the one process that prepares the data directory. */
  prepare: (data_dir: string, now: number): void => void turnSalt(data_dir, dayOf(now)),
  /** For a server that counts nothing. */
  remove: (data_dir: string): void => rmSync(join(data_dir, NAME), { force: true }),
};
