/** Re-hashing what is stored: bit rot is found before a visitor finds it (RELIABILITY 2, Verify). */
import type { Database } from "bun:sqlite";
import { renameSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { UNIT_MS } from "../../units.ts";
import { blobFolder, blobPath, fingerprint, hashOfFile } from "../disk/blobs.ts";
import { flushFolderSync, makeFolder } from "../disk/durable.ts";
import { type Op, statement } from "../sql/db.ts";
import { type BlobRow, blobPages, blobsAfter } from "../sql/named-blobs.ts";
import { wrongFigures } from "../sql/quotas.ts";
import type { DataDir } from "../sqlite/data-dir.ts";
import type { Checked, Damage, Loss } from "../upkeep.ts";

/** The folder of blobs that no request and no deploy shall find. */
const SET_ASIDE = "quarantine";

type Bad = { why: "missing" } | { why: "damaged" | "unreadable"; seen: string };
type Condition = { why: "whole" } | Bad;

/** Says `unreadable` only where the file itself is to blame: too many open files say nothing about it. */
async function conditionOf(path: string, sha256: string): Promise<Condition> {
  const found = await stat(path).catch(() => null);
  if (!found) return { why: "missing" };
  try {
    return (await hashOfFile(path)) === sha256 ? { why: "whole" } : { why: "damaged", seen: fingerprint(found) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { why: "missing" };
    if (code === "EIO" || code === "EACCES" || code === "EPERM") {
      return { why: "unreadable", seen: fingerprint(found) };
    }
    throw error;
  }
}

const lossesBy = statement<Omit<Loss, "live"> & { live: number }>(
  `select sites.site_id as site_id, slug, version_id, path,
     case when live_version_id = version_id then 1 else 0 end as live
   from files join versions using (version_no) join sites on sites.site_id = versions.site_id
   where blob_no = ? order by live desc, slug, version_no desc, path`,
);

function setAside(data_dir: string, sha256: string): void {
  makeFolder(join(data_dir, SET_ASIDE));
  renameSync(blobPath(data_dir, sha256), join(data_dir, SET_ASIDE, sha256));
  flushFolderSync(join(data_dir, SET_ASIDE));
  flushFolderSync(blobFolder(data_dir, sha256));
}

/** Decides under the write lock, where no deploy can be about to name the file: one that puts the blob anew at this
 *  very moment looks for it inside its own transaction, afterwards. Null: it was healed or swept meanwhile. */
function* settle(data_dir: string, { blob_no, sha256 }: BlobRow, condition: Bad): Op<Damage | null> {
  const losses = (yield* lossesBy.all(blob_no)).map((loss) => ({ ...loss, live: loss.live === 1 }));
  const found = statSync(blobPath(data_dir, sha256), { throwIfNoEntry: false });
  const { why } = condition;
  if (losses.length === 0) return null;
  if (why === "missing") return found ? null : { sha256, why, losses };
  if (!found || fingerprint(found) !== condition.seen) return null;
  setAside(data_dir, sha256);
  return { sha256, why, losses };
}

/** Checks one blob; what is bad is set aside. */
async function check({ db, data_dir }: DataDir, blob: BlobRow): Promise<Damage | null> {
  const condition = await conditionOf(blobPath(data_dir, blob.sha256), blob.sha256);
  return condition.why === "whole" ? null : db.write(() => settle(data_dir, blob, condition));
}

function databaseFaults(db: Database): string[] {
  const found = db.query<{ integrity_check: string }, []>("PRAGMA integrity_check").all();
  const dangling = db.query<{ table: string; parent: string }, []>("PRAGMA foreign_key_check").all();
  return [
    ...found.map((row) => row.integrity_check).filter((text) => text !== "ok"),
    ...dangling.map(({ table, parent }) => `a row of ${table} names a row of ${parent} that is not there`),
  ];
}

/** All of it, as fast as the disk can. */
export async function verifyAll(parts: DataDir): Promise<Checked> {
  const database = [...databaseFaults(parts.sqlite), ...(await wrongFigures(parts.db))];
  const checked: Checked = { blobs: 0, bytes: 0, damages: [], database };
  for await (const page of blobPages(parts.db)) {
    for (const blob of page) {
      const damage = await check(parts, blob);
      if (damage) checked.damages.push(damage);
      checked.blobs++;
      checked.bytes += blob.bytes;
    }
  }
  return checked;
}

const TURN_MS = 30 * UNIT_MS.d;
const BYTES_PER_MS = 10_000;

const turn = statement<{ blob_no: number; blobs: number }>(
  "select blob_no, (select count(*) from blobs) as blobs from verify_turn",
);
const moveTurn = statement("update verify_turn set blob_no = ?");

/** A slice of the slow turn: called every `interval` milliseconds, it has seen every blob after 30 days. It reads no
 *  faster than 10 MB/s, and remembers in the database how far it came. */
export const verifyTurn =
  (parts: DataDir) =>
  async (interval: number): Promise<Damage[]> => {
    const { db } = parts;
    const { blob_no, blobs } = (await db.read(turn.get()))!;
    const share = Math.ceil((blobs * interval) / TURN_MS);
    const slice = await blobsAfter(db, blob_no, share);
    const damages: Damage[] = [];
    for (const blob of slice) {
      const damage = await check(parts, blob);
      if (damage) damages.push(damage);
      await Bun.sleep(blob.bytes / BYTES_PER_MS);
    }
    await db.write(() => moveTurn.do(slice.at(-1)?.blob_no ?? 0));
    return damages;
  };
