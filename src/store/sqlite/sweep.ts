/** The sweep of a data directory: expired sites at once, blob files that no version names and temporary files once they are an
 *  hour old; then the log is emptied, so that what is deleted is gone from the disk. */
import { statSync } from "node:fs";
import { chmod, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { UNIT_MS } from "../../base/units.ts";
import { diskRoom } from "../disk/room.ts";
import { blobFiles } from "../disk/blobs.ts";
import { verifyTurn } from "./verify.ts";
import { previewRows } from "../previews.ts";
import { namedBlobs } from "../named-blobs.ts";
import { BACKUP_COPY_MS, BATCH, isBackupCopy, sweeping } from "../sweep.ts";
import { inSlices, makingRoom, steps } from "../operation.ts";
import type { Swept } from "../upkeep.ts";
import type { DataDir } from "./data-dir.ts";

const ORPHAN_AGE_MS = UNIT_MS.h;

/** G1, a folder at a time: old files that no manifest names, seen without a lock. */
async function candidatesIn(data: DataDir, folder: string, now: number): Promise<string[]> {
  const named = await sweeping.usedBlobs(data, folder);
  const path = join(data.data_dir, "blobs", folder);
  const files = await readdir(path).catch(() => []);
  const old: string[] = [];
  for (const name of files.filter((name) => !named.has(name))) {
    const found = await stat(join(path, name)).catch(() => null);
    if (found && found.mtimeMs <= now - ORPHAN_AGE_MS) old.push(name);
  }
  return old;
}

/** G3: signs that the database is not the one that belongs to these files. Throws a sentence for the log. */
async function refuseIfDoubtful(data: DataDir): Promise<void> {
  const [check] = data.sqlite.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").all();
  if (check?.quick_check !== "ok") {
    throw new Error(`The database is damaged (${check?.quick_check}): nothing is swept.`);
  }
  await sweeping.refuseOldClock(data);
}

async function removeInBatches({ db, place, data_dir }: DataDir, candidates: string[], now: number): Promise<number> {
  let removed = 0;
  const rest = [...candidates];
  await inSlices(place, async () => {
    const batch = rest.slice(0, BATCH);
    removed += await db.write(() => sweeping.removeOrphans(batch, now, (sha256) => blobFiles.remove(data_dir, sha256)));
    rest.splice(0, BATCH);
    return rest.length > 0;
  });
  return removed;
}

/** The time by the clock that wrote the files of a folder: the service's may be another, ahead of it by hours, and an upload that is
 *  under way is not old. It takes no room on a full disk. */
async function clockOf(folder: string): Promise<number> {
  await chmod(folder, 0o700);
  return (await stat(folder)).ctimeMs;
}

/** Files of deploys and folders of browsers whose process died. No upload, deploy or look at a page lasts for so long; a backup
 *  may, and removes what those before it left. */
async function removeTemporary({ data_dir }: DataDir, service_now: number): Promise<number> {
  const tmp = join(data_dir, "tmp");
  const now = Math.min(service_now, await clockOf(tmp).catch(() => service_now));
  let removed = 0;
  for (const name of await readdir(tmp).catch(() => [])) {
    const path = join(tmp, name);
    const found = await stat(path).catch(() => null);
    const age_ms = isBackupCopy(name) ? BACKUP_COPY_MS : ORPHAN_AGE_MS;
    if (found === null || found.mtimeMs > now - age_ms) continue;
    await rm(path, { recursive: true, force: true });
    removed++;
  }
  return removed;
}

const TRUNCATIONS = 50;
const TRUNCATE_AGAIN_MS = 20;

/** True once the log has no byte. It is the last place that has a row after its deletion: a page in it stays until another
 *  is written over it. Without waiting: a connection that reads or writes at this moment makes it answer false at once. */
function truncateLog({ sqlite }: DataDir): boolean {
  const { timeout } = sqlite.query<{ timeout: number }, []>("PRAGMA busy_timeout").get()!;
  sqlite.run("PRAGMA busy_timeout = 0");
  try {
    return sqlite.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)").get()!.busy === 0;
  } finally {
    sqlite.run(`PRAGMA busy_timeout = ${timeout}`);
  }
}

/** Most of the log is brought into the database without the lock. Then the lock is held for what came meanwhile, some
 *  milliseconds; where a reader is under way all that time (a backup), the next sweep does it. */
async function emptyLog(data: DataDir): Promise<void> {
  const log = statSync(join(data.data_dir, "db-wal"), { throwIfNoEntry: false });
  if (log === undefined || log.size === 0) return;
  data.sqlite.run("PRAGMA wal_checkpoint(PASSIVE)");
  for (let left = TRUNCATIONS; left > 0 && !truncateLog(data); left--) await Bun.sleep(TRUNCATE_AGAIN_MS);
}

async function sweep(data: DataDir, now: number, force: boolean): Promise<Swept> {
  if (!force) await refuseIfDoubtful(data);
  const sites = await sweeping.expireSites(data, now);
  await sweeping.clearLeftovers(data);
  await previewRows.end(data, now);
  await sweeping.forgetUnused(data, now);
  const candidates: string[] = [];
  for (let n = 0; n < 256; n++) {
    candidates.push(...(await candidatesIn(data, n.toString(16).padStart(2, "0"), now)));
  }
  if (!force) await sweeping.refuseIfMostAreUnknown(data, candidates);
  const blobs = await removeInBatches(data, candidates, now);
  const temporary = await removeTemporary(data, now);
  await makingRoom(data.place, () => emptyLog(data));
  diskRoom.keep(data.data_dir);
  return { sites, blobs, temporary };
}

/** Operations on the files of a data directory. */
export const EMBEDDED = {
  /** Removes what was over by `now`, which is no later than the clock: expired sites, what sites that are gone have left, old
   *  sessions and orphans. Throws a sentence if the data directory looks doubtful (G3), unless forced. */
  sweep: steps("change", (data: DataDir, now: number, force?: boolean) => sweep(data, now, force ?? false)),
  /** Re-hashes the next slice of all blobs: called every `interval` ms, it has been through them in 30 days. */
  verifyTurn: steps("write", (data: DataDir, interval: number) => verifyTurn(data, interval)),
  /** Blobs that live versions name and that are not on disk. */
  missingBlobs: steps("read", ({ db, data_dir }: DataDir) =>
    namedBlobs.missing(db, (blob) => blobFiles.isFound(data_dir, blob)),
  ),
};
