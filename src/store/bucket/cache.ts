/** Copies of a bucket's blobs in `DATA/cache`. Each is hashed at every reading, so none is flushed; those that were not used for the
 *  longest time go, and what the disk does not take is not kept. */
import { existsSync, renameSync } from "node:fs";
import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Bytes } from "../../base/types.ts";
import { randomName } from "../../base/random.ts";
import { UNIT_MS } from "../../base/units.ts";
import { diskRoom } from "../disk/room.ts";

export interface BlobCache {
  path(sha256: string): string;
  /** False if it is not kept. */
  put(sha256: string, bytes: Bytes): Promise<boolean>;
  /** Notes that a copy is in use, without waiting for it. */
  used(sha256: string): void;
  /** Counts what is there, and removes what is too much. */
  look(): Promise<void>;
  /** Forgets all copies. False if there were none. */
  drop(): boolean;
}

/** A copy that was used so lately is perhaps being sent. */
const IN_USE_MS = 10 * UNIT_MS.m;
/** Percent of the disk that are never filled with copies. */
const MOST_OF_DISK = 85;
/** So far it may go past its bytes while all copies are in use. */
const MOST_OVER = 1.25;
const REST_MS = 60_000;
/** It is trimmed to so much of what it may have, and looked through when it has grown by the rest. */
const TRIMMED = 0.9;

interface Copy {
  path: string;
  bytes: number;
  /** Epoch milliseconds, by the clock of the disk. */
  used: number;
}

/** The time of its last use is that of the last change of its mode, which changes nothing else: the time by which a checked file is
 *  known stays. */
const noteUse = (path: string): Promise<void> => chmod(path, 0o600);
const clockOf = async (folder: string): Promise<number> => (await chmod(folder, 0o700), (await stat(folder)).ctimeMs);

async function copiesIn(root: string): Promise<Copy[]> {
  const copies: Copy[] = [];
  for (const folder of await readdir(root).catch(() => [])) {
    for (const name of await readdir(join(root, folder)).catch(() => [])) {
      const path = join(root, folder, name);
      const found = await stat(path).catch(() => null);
      if (found !== null) copies.push({ path, bytes: found.size, used: found.ctimeMs });
    }
  }
  return copies;
}

interface Trimming {
  most_bytes: number;
  in_use_ms: number;
  isFull: () => boolean;
}

/** Removes what was not used for the longest time, until the rest is small enough; resolves to its bytes. */
async function trim(root: string, { most_bytes, in_use_ms, isFull }: Trimming): Promise<number> {
  const copies = (await copiesIn(root)).toSorted((a, b) => a.used - b.used);
  let total = copies.reduce((sum, { bytes }) => sum + bytes, 0);
  if (copies.length === 0 || (total <= most_bytes && !isFull())) return total;
  const enough = most_bytes * TRIMMED;
  const now = await clockOf(root);
  for (const { path, bytes, used } of copies) {
    if ((total <= enough && !isFull()) || used > now - in_use_ms) break;
    await rm(path, { force: true });
    total -= bytes;
  }
  return total;
}

/** False where the disk does not take it. */
async function putWhole(temporary: string, path: string, bytes: Bytes): Promise<boolean> {
  try {
    await writeFile(temporary, bytes, { mode: 0o600 });
    await rename(temporary, path).catch(async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rename(temporary, path);
    });
    return true;
  } catch {
    await rm(temporary, { force: true }).catch(() => {});
    return false;
  }
}

interface CacheOptions {
  in_use_ms?: number;
  isFull?: () => boolean;
  /** Hears how many bytes are kept, or how many more. */
  note?: (bytes: number, is_more: boolean) => void;
}

/** `data_dir` is the box's own. */
export function openCache(data_dir: string, most_bytes: number, options: CacheOptions = {}): BlobCache {
  const { in_use_ms = IN_USE_MS, isFull = () => diskRoom.use(data_dir) >= MOST_OF_DISK, note = () => {} } = options;
  const root = join(data_dir, "cache");
  const path = (sha256: string): string => join(root, sha256.slice(0, 2), sha256);
  let grown = Infinity; // since it was looked through; at first nobody knows
  let total = 0; // when it was looked through, and since
  let trimming: Promise<void> | null = null;
  let resting = false;

  function trimNow(): Promise<void> {
    grown = 0;
    return (trimming ??= trim(root, { most_bytes, in_use_ms, isFull })
      .then((left) => note((total = left), false))
      .finally(() => (trimming = null)));
  }
  /** Looking through all copies takes a second, and there may be none to remove. */
  function trimSometimes(): void {
    if (resting || trimming !== null) return;
    resting = true;
    setTimeout(() => (resting = false), REST_MS).unref();
    void trimNow().catch(() => {});
  }
  return {
    path,
    async put(sha256, bytes) {
      if (isFull() || bytes.length > most_bytes || total > MOST_OVER * most_bytes) {
        void trimSometimes();
        return false;
      }
      if (!(await putWhole(join(data_dir, "tmp", `cache-${randomName(12)}`), path(sha256), bytes))) return false;
      grown += bytes.length;
      total += bytes.length;
      note(bytes.length, true);
      if (grown > most_bytes * (1 - TRIMMED)) void trimNow().catch(() => {});
      return true;
    },
    used: (sha256) => void noteUse(path(sha256)).catch(() => {}),
    look: trimNow,
    drop() {
      if (!isFull() || !existsSync(root)) return false; // a full database is no reason
      const aside = join(data_dir, "tmp", `cache-${randomName(12)}`);
      try {
        renameSync(root, aside);
      } catch {
        return false;
      }
      note((total = 0), false);
      void rm(aside, { recursive: true, force: true }).catch(() => {}); // else the sweep
      return true;
    },
  };
}
