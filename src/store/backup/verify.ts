/** Re-hashing what is stored: bit rot is found before a visitor finds it (RELIABILITY.md 2, Verify). */
import type { Database } from "bun:sqlite";
import { renameSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { blobFolder, blobPath, fingerprint, hashOfFile } from "../disk/blobs.ts";
import { flushFolderSync, makeFolder } from "../disk/durable.ts";
import { type BlobRow, blobPages } from "../sql/named-blobs.ts";

/** A file of a stored version that cannot be served. */
export interface Loss {
  site_id: string;
  slug: string;
  version_id: string;
  path: string;
  /** Whether visitors see this version now. */
  live: boolean;
}

/** A blob that is not what it was. Damaged and unreadable ones have been moved to DATA/quarantine. */
export interface Damage {
  sha256: string;
  why: "missing" | "damaged" | "unreadable";
  losses: Loss[];
}

export interface Checked {
  blobs: number;
  bytes: number;
  damages: Damage[];
  /** What SQLite itself finds wrong with the database; empty where it is sound. */
  database: string[];
}

interface Parts {
  db: Database;
  data_dir: string;
}

type Condition =
  { why: "whole" } | { why: "missing" } | { why: "damaged"; seen: string } | { why: "unreadable"; seen: string };

/** Says `unreadable` only where the file itself is to blame: too many open files is nobody's bit rot. */
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

function lossesOf(db: Database) {
  const losses = db.prepare<Omit<Loss, "live"> & { live: number }, [number]>(
    `select sites.site_id as site_id, slug, version_id, path, live_version_id = version_id as live
     from files join versions using (version_no) join sites on sites.site_id = versions.site_id
     where blob_no = ? order by live desc, slug, version_no desc, path`,
  );
  return (blob_no: number): Loss[] => losses.all(blob_no).map((loss) => ({ ...loss, live: loss.live === 1 }));
}

/** Decides under the write lock, where no deploy can be about to name the file: one that puts the blob anew at this
 *  very moment looks for it inside its own transaction, afterwards. Null: it was healed or swept meanwhile. */
function settler({ db, data_dir }: Parts) {
  const losses = lossesOf(db);
  return db.transaction(({ blob_no, sha256 }: BlobRow, condition: Condition): Damage | null => {
    const path = blobPath(data_dir, sha256);
    const found = statSync(path, { throwIfNoEntry: false });
    const lost = losses(blob_no);
    if (condition.why === "whole" || lost.length === 0) return null;
    if (condition.why === "missing") return found ? null : { sha256, why: "missing", losses: lost };
    if (!found || fingerprint(found) !== condition.seen) return null;
    makeFolder(join(data_dir, "quarantine"));
    renameSync(path, join(data_dir, "quarantine", sha256));
    flushFolderSync(join(data_dir, "quarantine"));
    flushFolderSync(blobFolder(data_dir, sha256));
    return { sha256, why: condition.why, losses: lost };
  });
}

/** Checks one blob; what is bad is moved to quarantine, where no request and no deploy finds it. */
function blobChecker(parts: Parts) {
  const settle = settler(parts);
  return async (blob: BlobRow): Promise<Damage | null> => {
    const condition = await conditionOf(blobPath(parts.data_dir, blob.sha256), blob.sha256);
    return condition.why === "whole" ? null : settle.immediate(blob, condition);
  };
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
export async function verifyAll(parts: Parts): Promise<Checked> {
  const check = blobChecker(parts);
  const checked: Checked = { blobs: 0, bytes: 0, damages: [], database: databaseFaults(parts.db) };
  for (const page of blobPages(parts.db)) {
    for (const blob of page) {
      const damage = await check(blob);
      if (damage) checked.damages.push(damage);
      checked.blobs++;
      checked.bytes += blob.bytes;
    }
  }
  return checked;
}

const TURN_MS = 30 * 86_400_000;
const BYTES_PER_MS = 10_000;

/** A slice of the slow turn: called every `interval` milliseconds, it has seen every blob after 30 days. It reads no
 *  faster than 10 MB/s, and remembers in the database how far it came. */
export function verifyTurn(parts: Parts): (interval: number) => Promise<Damage[]> {
  const { db } = parts;
  const check = blobChecker(parts);
  const position = db.prepare<{ blob_no: number }, []>("select blob_no from verify_turn");
  const move = db.prepare<unknown, [number]>("update verify_turn set blob_no = ?");
  const count = db.prepare<{ n: number }, []>("select count(*) as n from blobs");
  return async (interval) => {
    const share = Math.ceil((count.get()!.n * interval) / TURN_MS);
    const [page = []] = blobPages(db, position.get()!.blob_no, share);
    const damages: Damage[] = [];
    for (const blob of page) {
      const damage = await check(blob);
      if (damage) damages.push(damage);
      await Bun.sleep(blob.bytes / BYTES_PER_MS);
    }
    move.run(page.at(-1)?.blob_no ?? 0);
    return damages;
  };
}
