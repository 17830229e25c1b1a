/** What nobody needs any more: expired sites at once, blob files that no version names once they are an hour old. */
import type { Database } from "bun:sqlite";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { auditWriter } from "./audit.ts";
import { keepBallast } from "../disk/ballast.ts";
import { removeBlob } from "../disk/blobs.ts";
import { makingRoom } from "../disk/failures.ts";
import { holdReader } from "./holds.ts";
import { forgetOldLogins } from "./device-logins.ts";
import type { Generation } from "../index.ts";
import { forgetOldSessions } from "./sessions.ts";

const BATCH = 100;
const ORPHAN_AGE_MS = 60 * 60_000;

export interface Swept {
  sites: number;
  blobs: number;
}

interface Parts {
  db: Database;
  data_dir: string;
  generation: Pick<Generation, "advance">;
}

/** Inside a transaction: the site goes, its slug and the hashes of its tokens stay (RELIABILITY.md 2, D1). */
export function siteRemover(db: Database) {
  const bury = db.prepare<unknown, [string, string, string]>(
    "insert into tombstones (slug, site_id, reason, gone_at) select slug, site_id, ?, ? from sites where site_id = ?",
  );
  const buryTokens = db.prepare<unknown, [string]>(
    "insert into tombstone_tokens (hash, site_id, kind) select hash, site_id, kind from tokens where site_id = ?",
  );
  const remove = db.prepare<unknown, [string]>("delete from sites where site_id = ?");
  return (site_id: string, reason: "expired" | "deleted", at: string): void => {
    bury.run(reason, at, site_id);
    buryTokens.run(site_id);
    remove.run(site_id);
  };
}

/** A claim at the last millisecond wins or loses whole: the condition is asked inside the transaction. */
function expire({ db, data_dir, generation }: Parts, now: number): number {
  const due = db.query<{ site_id: string }, [number, number]>(
    "select site_id from sites where owner_account_id is null and expires_at <= ? order by expires_at limit ?",
  );
  const remove = siteRemover(db);
  const audit = auditWriter(db);
  const at = new Date(now).toISOString();
  const batch = db.transaction((): number => {
    const sites = due.all(now, BATCH);
    for (const { site_id } of sites) {
      remove(site_id, "expired", at);
      audit({ at, actor: "expiry", action: "expire", site_id });
    }
    return sites.length;
  });
  let total = 0;
  const next = () => makingRoom(data_dir, () => batch.immediate());
  for (let swept = next(); swept > 0; swept = next()) {
    generation.advance();
    total += swept;
  }
  return total;
}

/** G2: unlinks while SQLite's write lock is held, so that no deploy can commit a reference in between. */
function orphanRemover({ db, data_dir }: Parts) {
  const used = db.prepare<unknown, [string]>("select 1 from blobs join files using (blob_no) where sha256 = ? limit 1");
  const forget = db.prepare<unknown, [string]>("delete from blobs where sha256 = ?");
  const held = holdReader(db);
  return db.transaction((candidates: string[], now: number): number => {
    if (held(now)) return 0;
    const orphans = candidates.filter((sha256) => used.get(sha256) === null);
    for (const sha256 of orphans) {
      removeBlob(data_dir, sha256);
      forget.run(sha256);
    }
    return orphans.length;
  });
}

/** G1, a folder at a time: old files that no manifest names, seen without a lock. */
async function candidatesIn({ db, data_dir }: Parts, folder: string, now: number): Promise<string[]> {
  const used = db.query<{ sha256: string }, [string, string]>(
    `select sha256 from blobs where sha256 >= ? and sha256 < ?
     and exists (select 1 from files where files.blob_no = blobs.blob_no)`,
  );
  const named = new Set(used.all(folder, `${folder}g`).map((row) => row.sha256));
  const files = await readdir(join(data_dir, "blobs", folder)).catch(() => []);
  const old: string[] = [];
  for (const name of files.filter((name) => !named.has(name))) {
    const found = await stat(join(data_dir, "blobs", folder, name)).catch(() => null);
    if (found && found.mtimeMs <= now - ORPHAN_AGE_MS) old.push(name);
  }
  return old;
}

/** G3: signs that the database is not the one that belongs to these files. Throws a sentence for the log. */
function refuseIfDoubtful({ db }: Parts, now: number): void {
  const [check] = db.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").all();
  if (check?.quick_check !== "ok")
    throw new Error(`The database is damaged (${check?.quick_check}): nothing is swept.`);
  const newest = db.query<{ at: string | null }, []>("select max(created_at) as at from versions").get()?.at;
  if (newest && Date.parse(newest) > now) {
    throw new Error("The clock is behind the newest deploy: nothing is swept until it is right.");
  }
}

/** More than half of all blobs, and over a thousand, unknown to the database: somebody mixed up two data directories. */
function refuseIfMostAreUnknown({ db }: Parts, candidates: readonly string[]): void {
  const known = db.query<unknown, [string]>("select 1 from blobs where sha256 = ?");
  const unknown = candidates.filter((sha256) => known.get(sha256) === null).length;
  const total = db.query<{ n: number }, []>("select count(*) as n from blobs").get()!.n + unknown;
  if (unknown > 1000 && unknown * 2 > total) {
    throw new Error(
      `${unknown} of ${total} blob files are unknown to the database: nothing is swept. Is this the right database?`,
    );
  }
}

/** `force` sweeps in spite of the checks of G3. */
export function sweeper(parts: Parts) {
  const removeOrphans = orphanRemover(parts);
  return async (now: number, force = false): Promise<Swept> => {
    if (!force) refuseIfDoubtful(parts, now);
    const sites = expire(parts, now);
    forgetOldSessions(parts.db, now);
    forgetOldLogins(parts.db, now);
    const candidates: string[] = [];
    for (let n = 0; n < 256; n++) {
      candidates.push(...(await candidatesIn(parts, n.toString(16).padStart(2, "0"), now)));
    }
    if (!force) refuseIfMostAreUnknown(parts, candidates);
    let blobs = 0;
    for (let at = 0; at < candidates.length; at += BATCH) {
      blobs += makingRoom(parts.data_dir, () => removeOrphans.immediate(candidates.slice(at, at + BATCH), now));
    }
    keepBallast(parts.data_dir);
    return { sites, blobs };
  };
}
