/** The sweep of a data directory: expired sites at once, blob files that no version names once they are an hour old. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { UNIT_MS } from "../../base/units.ts";
import { keepBallast } from "../disk/ballast.ts";
import { removeBlob } from "../disk/blobs.ts";
import { endPreviews } from "../sql/previews/end.ts";
import {
  BATCH,
  clearLeftovers,
  expireSites,
  forgetUnused,
  inSlices,
  refuseIfMostAreUnknown,
  refuseOldClock,
  removeOrphans,
  usedBlobs,
} from "../sql/sweep.ts";
import type { Swept } from "../upkeep.ts";
import type { DataDir } from "./data-dir.ts";

const ORPHAN_AGE_MS = UNIT_MS.h;

/** G1, a folder at a time: old files that no manifest names, seen without a lock. */
async function candidatesIn(parts: DataDir, folder: string, now: number): Promise<string[]> {
  const named = await usedBlobs(parts, folder);
  const path = join(parts.data_dir, "blobs", folder);
  const files = await readdir(path).catch(() => []);
  const old: string[] = [];
  for (const name of files.filter((name) => !named.has(name))) {
    const found = await stat(join(path, name)).catch(() => null);
    if (found && found.mtimeMs <= now - ORPHAN_AGE_MS) old.push(name);
  }
  return old;
}

/** G3: signs that the database is not the one that belongs to these files. Throws a sentence for the log. */
async function refuseIfDoubtful(parts: DataDir): Promise<void> {
  const [check] = parts.sqlite.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").all();
  if (check?.quick_check !== "ok") {
    throw new Error(`The database is damaged (${check?.quick_check}): nothing is swept.`);
  }
  await refuseOldClock(parts);
}

async function removeInBatches({ db, place, data_dir }: DataDir, candidates: string[], now: number): Promise<number> {
  let removed = 0;
  const rest = [...candidates];
  await inSlices(place, async () => {
    const batch = rest.slice(0, BATCH);
    removed += await db.write(() => removeOrphans(batch, now, (sha256) => removeBlob(data_dir, sha256)));
    rest.splice(0, BATCH);
    return rest.length > 0;
  });
  return removed;
}

/** Takes what was over by `now`: no later than the clock shows. `force` sweeps in spite of the checks of G3. */
export const sweeper =
  (parts: DataDir) =>
  async (now: number, force = false): Promise<Swept> => {
    if (!force) await refuseIfDoubtful(parts);
    const sites = await expireSites(parts, now);
    await clearLeftovers(parts);
    await endPreviews(parts, now);
    await forgetUnused(parts, now);
    const candidates: string[] = [];
    for (let n = 0; n < 256; n++) {
      candidates.push(...(await candidatesIn(parts, n.toString(16).padStart(2, "0"), now)));
    }
    if (!force) await refuseIfMostAreUnknown(parts, candidates);
    const blobs = await removeInBatches(parts, candidates, now);
    keepBallast(parts.data_dir);
    return { sites, blobs };
  };
