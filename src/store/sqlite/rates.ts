/** `DATA/rates.db`: how often each caller did what, for all workers alike. It is a file of its own without fsync: losing its
 *  last rows in a power cut does no harm. A call that is refused writes nothing. */
import { Database } from "bun:sqlite";
import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { rateKey, type Rates, type RateWindow, type Standing, type Taken } from "../../base/rates.ts";
import { UNIT_MS } from "../../base/units.ts";
import { secretFiles } from "../disk/secrets.ts";
import { diskRefusal } from "../refusals.ts";
import { type Op, statement, ifDiskAllows } from "../operation.ts";
import { databaseFile } from "./database.ts";
import { sqliteDb } from "./driver.ts";

const SCHEMA = `
create table if not exists hits (hit_no integer primary key, key text not null, at integer not null, ends_at integer not null) strict;
create index if not exists hits_by_key on hits (key, at);
create index if not exists hits_by_end on hits (ends_at);`;

/** Clocks of one machine agree: a hit that is further ahead was counted before the clock was set back. */
const AHEAD_MS = 1000;
const PRUNE_EVERY_MS = UNIT_MS.m;

const fileOf = (data_dir: string): string => join(data_dir, "rates.db");

/** A count waits for a second at most; an opening as long as any other, for it comes after another's last close. */
const PRAGMAS = [
  "busy_timeout = 5000",
  "journal_mode = WAL",
  "synchronous = OFF",
  "secure_delete = ON",
  "busy_timeout = 1000",
];

const open = (data_dir: string): Database => databaseFile.open(data_dir, "rates.db", PRAGMAS);

/** For the one process that prepares the data directory: it makes a file anew that a power cut has damaged. */
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

const inWindow = statement<{ n: number; oldest: number | null }>(
  "select count(*) as n, min(at) as oldest from hits where key = ? and at > ? and at <= ?",
);
const nth = statement<{ at: number }>(
  "select at from hits where key = ? and at <= ? order by at desc limit 1 offset ?",
);
const insert = statement<{ hit_no: number }>("insert into hits (key, at, ends_at) values (?, ?, ?) returning hit_no");
const remove = statement("delete from hits where hit_no = ?");
const prune = statement("delete from hits where ends_at <= ?");

type Stands = Standing & { full: boolean };

/** `taken`: calls that are about to be counted. */
function* standingOf(key: string, { count, window_ms }: RateWindow, now: number, taken: 0 | 1): Op<Stands> {
  const { n, oldest } = (yield* inWindow.get(key, now - window_ms, now + AHEAD_MS))!;
  const full = n >= count;
  const leaves = full ? (yield* nth.get(key, now + AHEAD_MS, count - 1))!.at : (oldest ?? now);
  const remaining = Math.max(0, count - n - taken);
  return { count, window_ms, remaining, reset_ms: leaves + window_ms - now, full };
}

function* standings(key: string, windows: readonly RateWindow[], now: number, taken: 0 | 1): Op<Stands[]> {
  const all: Stands[] = [];
  for (const window of windows) all.push(yield* standingOf(key, window, now, taken));
  return all;
}

interface Counted {
  standing: Stands[];
  /** Null if there was no room. */
  hit_no: number | null;
}

function* countHit(key: string, windows: readonly RateWindow[], at: number, prunes: boolean): Op<Counted> {
  const standing = yield* standings(key, windows, at, 1);
  if (standing.some((window) => window.full)) return { standing, hit_no: null };
  const longest = Math.max(...windows.map((window) => window.window_ms));
  const { hit_no } = (yield* insert.get(key, at, at + longest))!;
  if (prunes) yield* prune.do(at);
  return { standing, hit_no };
}

/** The part that writes: in the thread of writes, or in a process that may wait. */
export interface RateCounts {
  count(key: string, windows: readonly RateWindow[], at: number): Promise<Counted>;
  /** Takes a call back, as if it had never been. If the disk takes no write it stays counted: that harms less than an error
   *  after the answer is known. */
  forget(hit_no: number): Promise<void>;
}

export function openRateCounts(data_dir: string, patience_ms?: number): RateCounts & { close(): void } {
  const file = open(data_dir);
  const db = sqliteDb(file, () => {}, { patience_ms });
  let pruned = 0;
  return {
    async count(key, windows, at) {
      const prunes = at - pruned > PRUNE_EVERY_MS || at < pruned;
      const counted = await db.write(() => countHit(key, windows, at, prunes));
      if (prunes && counted.hit_no !== null) pruned = at;
      return counted;
    },
    forget: (hit_no) => ifDiskAllows(db.write(() => remove.do(hit_no))),
    close: () => file.close(),
  };
}

/** A call that is one too many is refused by reading alone; the others are counted by `writes`, or here. */
export function openRates(data_dir: string, now: () => number, writes?: RateCounts): Rates {
  const { rates: secret = "" } = secretFiles.read(data_dir); // none: of a folder that no server has prepared
  const own = writes ? null : openRateCounts(data_dir);
  const counts = writes ?? own!;
  const file = open(data_dir);
  const db = sqliteDb(file, () => {});
  const undo = (hit_no: number | null) => async (): Promise<void> => {
    if (hit_no !== null) await counts.forget(hit_no);
  };

  return {
    async take(rule, subject, windows): Promise<Taken> {
      const key = rateKey(secret, rule, subject);
      const at = now();
      const before = await db
        .read(() => standings(key, windows, at, 0))
        .catch((error) => Promise.reject(diskRefusal(error)));
      if (before.some((window) => window.full)) return { allowed: false, windows: before, undo: async () => {} };
      const { standing, hit_no } = await counts.count(key, windows, at);
      return { allowed: hit_no !== null, windows: standing, undo: undo(hit_no) };
    },
    close() {
      own?.close();
      file.close();
    },
  };
}
