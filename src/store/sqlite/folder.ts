/** Blobs as files of the data directory: their place, and their upkeep (RELIABILITY 2, W3 to W6 and G1 to G3). */
import { renameSync, statSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { UNIT_MS } from "../../base/units.ts";
import { blobFiles, putBlobs, readBlobs } from "../disk/blobs.ts";
import { durable } from "../disk/durable.ts";
import { diskRoom } from "../disk/room.ts";
import { type BadBlob, type BlobRow, type BlobUpkeep, type Condition, namedBlobs } from "../upkeep.ts";
import { type Backend, type BlobPlace, inSlices, type Op } from "../operation.ts";
import { diskRefusal } from "../refusals.ts";
import type { Blobs } from "../serving.ts";
import { BATCH, sweeping } from "../sweep.ts";

const folderPlace = (data_dir: string): BlobPlace => ({
  async put({ blobs, manifest }) {
    try {
      await putBlobs(data_dir, blobs);
    } catch (error) {
      throw diskRefusal(error);
    }
    return {
      *allThere() {
        return manifest.every(({ sha256, bytes }) => blobFiles.isThere(data_dir, sha256, bytes));
      },
    };
  },
  makeRoom: () => diskRoom.drop(data_dir),
});

const ORPHAN_AGE_MS = UNIT_MS.h;

type Folder = Pick<Backend, "db" | "place"> & { data_dir: string };

/** G1, a folder at a time: old files that no manifest names, seen without a lock. */
async function candidatesIn(data: Folder, folder: string, now: number): Promise<string[]> {
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

async function removeInBatches({ db, place, data_dir }: Folder, candidates: string[], now: number): Promise<number> {
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

async function sweepFolder(data: Folder, now: number, force: boolean): Promise<number> {
  const candidates: string[] = [];
  for (let n = 0; n < 256; n++) {
    candidates.push(...(await candidatesIn(data, n.toString(16).padStart(2, "0"), now)));
  }
  if (!force) await sweeping.refuseIfMostAreUnknown(data, candidates);
  return removeInBatches(data, candidates, now);
}

/** `unreadable` only if disk, owner or mode are to blame: too many open files prove nothing about a file. */
async function conditionOf(path: string, sha256: string): Promise<Condition> {
  try {
    const found = await stat(path);
    return (await blobFiles.hash(path)) === sha256
      ? { why: "whole" }
      : { why: "damaged", seen: blobFiles.fingerprint(found) };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (code === "ENOENT" || code === "ENOTDIR") return { why: "missing" };
    if (["EIO", "EACCES", "EPERM"].includes(code)) return { why: "unreadable" };
    throw error;
  }
}

/** The folder of blobs that no request and no deploy shall find. */
const SET_ASIDE = "quarantine";

function setAside(data_dir: string, sha256: string): void {
  durable.makeFolder(join(data_dir, SET_ASIDE));
  renameSync(blobFiles.path(data_dir, sha256), join(data_dir, SET_ASIDE, sha256));
  durable.flushFolderSync(join(data_dir, SET_ASIDE));
  durable.flushFolderSync(blobFiles.folder(data_dir, sha256));
}

/** Under the write lock no deploy can be about to name the file: one that puts the blob anew at this very moment looks for it
 *  inside its own transaction, afterwards. What cannot be read may be whole all the same, and is left where it is. */
function* settle(data_dir: string, { sha256 }: BlobRow, condition: BadBlob): Op<boolean> {
  if (condition.why === "unreadable") return true;
  const found = statSync(blobFiles.path(data_dir, sha256), { throwIfNoEntry: false });
  if (condition.why === "missing") return !found;
  if (!found || blobFiles.fingerprint(found) !== condition.seen) return false;
  setAside(data_dir, sha256);
  return true;
}

const folderUpkeep = (data: Folder): BlobUpkeep => ({
  sweep: (now, force) => sweepFolder(data, now, force),
  conditionOf: ({ sha256 }) => conditionOf(blobFiles.path(data.data_dir, sha256), sha256),
  settle: (blob, condition) => settle(data.data_dir, blob, condition),
  missing: () => namedBlobs.missing(data.db, (blob) => blobFiles.isFound(data.data_dir, blob)),
});

/** Opens the stored blobs alone, for reading: without a database. */
export const folderReads = (data_dir: string): Blobs => readBlobs((sha256) => blobFiles.path(data_dir, sha256));

/** The blobs of an opened store, as files of its data directory. */
export const folderBlobs = (data_dir: string, db: Backend["db"]) => {
  const place = folderPlace(data_dir);
  return { place, blobs: folderReads(data_dir), upkeep: folderUpkeep({ data_dir, db, place }) };
};
