/** `DATA/rates.db`: who did what how often, for all workers alike. Its own file without fsync: what a power cut takes
 *  harms nobody. A call that is refused writes nothing. */
import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Rates, RateWindow, Standing, Taken } from "../../rates.ts";
import { diskRefusal } from "../disk/failures.ts";

const SCHEMA = `
create table if not exists hits (hit_no integer primary key, key text not null, at integer not null, ends_at integer not null) strict;
create index if not exists hits_by_key on hits (key, at);
create index if not exists hits_by_end on hits (ends_at);`;

/** Clocks of one machine agree; what lies further ahead was counted before the clock was set back. */
const AHEAD_MS = 1000;
const PRUNE_EVERY_MS = 60_000;

const fileOf = (data_dir: string): string => join(data_dir, "rates.db");

function open(data_dir: string): Database {
  const db = new Database(fileOf(data_dir), { strict: true, create: true });
  for (const pragma of ["journal_mode = WAL", "synchronous = OFF", "busy_timeout = 1000"]) db.run(`PRAGMA ${pragma}`);
  return db;
}

/** For the one process that prepares the data directory: a file that a power cut tore is made anew. */
export function prepareRates(data_dir: string): void {
  try {
    using db = open(data_dir);
    const check = db.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get();
    if (check?.quick_check !== "ok") throw new Error("torn");
    db.run(SCHEMA);
  } catch {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(fileOf(data_dir) + suffix, { force: true });
    using db = open(data_dir);
    db.run(SCHEMA);
  }
  chmodSync(fileOf(data_dir), 0o600);
}

/** Names and addresses of people are nobody's business here: only their hashes are kept. */
const keyOf = (rule: string, subject: string): string =>
  `${rule} ${createHash("sha256").update(subject).digest("base64url").slice(0, 22)}`;

function windowReader(db: Database) {
  const hits = db.prepare<{ n: number; oldest: number | null }, [string, number, number]>(
    "select count(*) as n, min(at) as oldest from hits where key = ? and at > ? and at <= ?",
  );
  const nth = db.prepare<{ at: number }, [string, number, number]>(
    "select at from hits where key = ? and at <= ? order by at desc limit 1 offset ?",
  );
  /** `taken`: calls that are about to be counted. */
  return (key: string, { count, window_ms }: RateWindow, now: number, taken: 0 | 1): Standing & { full: boolean } => {
    const { n, oldest } = hits.get(key, now - window_ms, now + AHEAD_MS)!;
    const full = n >= count;
    const leaves = full ? nth.get(key, now + AHEAD_MS, count - 1)!.at : (oldest ?? now);
    const remaining = Math.max(0, count - n - taken);
    return { count, window_ms, remaining, reset_ms: leaves + window_ms - now, full };
  };
}

export function openRates(data_dir: string, now: () => number): Rates {
  const db = open(data_dir);
  const stands = windowReader(db);
  const insert = db.prepare<{ hit_no: number }, [string, number, number]>(
    "insert into hits (key, at, ends_at) values (?, ?, ?) returning hit_no",
  );
  const remove = db.prepare<unknown, [number]>("delete from hits where hit_no = ?");
  const prune = db.prepare<unknown, [number]>("delete from hits where ends_at <= ?");
  let pruned = 0;

  const read = (key: string, windows: readonly RateWindow[], at: number, taken: 0 | 1) =>
    windows.map((window) => stands(key, window, at, taken));
  const count = db.transaction((key: string, windows: readonly RateWindow[], at: number) => {
    const standing = read(key, windows, at, 1);
    if (standing.some((window) => window.full)) return { standing, hit_no: null };
    const longest = Math.max(...windows.map((window) => window.window_ms));
    const { hit_no } = insert.get(key, at, at + longest)!;
    if (at - pruned > PRUNE_EVERY_MS || at < pruned) {
      prune.run(at);
      pruned = at;
    }
    return { standing, hit_no };
  });

  function take(rule: string, subject: string, windows: readonly RateWindow[]): Taken {
    const key = keyOf(rule, subject);
    const at = now();
    const before = read(key, windows, at, 0);
    if (before.some((window) => window.full)) return { allowed: false, windows: before, undo: () => {} };
    const { standing, hit_no } = count.immediate(key, windows, at);
    const undo = () => void (hit_no !== null && remove.run(hit_no));
    return { allowed: hit_no !== null, windows: standing, undo };
  }

  return {
    async take(rule, subject, windows) {
      try {
        return take(rule, subject, windows);
      } catch (error) {
        throw diskRefusal(error);
      }
    },
    close: () => db.close(),
  };
}
