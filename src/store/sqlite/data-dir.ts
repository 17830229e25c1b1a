/** A prepared data directory, opened: its database, its blobs, and the counter of changes. */
import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Backend } from "../operation.ts";
import { databaseFile } from "./database.ts";
import { sqliteDb } from "./driver.ts";
import { forgetUncountedSites } from "./stats.ts";
import { every } from "../../run/every.ts";
import { randomBlock } from "../../base/random.ts";
import { makePage, openPage } from "../disk/shared-page.ts";
import type { Blobs, Generation } from "../serving.ts";
import type { Rates } from "../../base/rates.ts";
import type { BlobUpkeep, Copies, SharedFiles, SharedState, StatisticsTables } from "../upkeep.ts";
import { folderBlobs } from "./folder.ts";

/** Upkeep that each kind of database does in its own way. */
interface Engine {
  /** Sentences about faults that the database finds in its own files; `quick`: the first, of those that are found fast. */
  faults(quick?: boolean): string[];
  /** Brings what was deleted out of the log. */
  emptyLog(): Promise<void>;
}

/** An opened store: a data directory, and a database server and a bucket where they are used. */
export interface Opened extends Backend {
  data_dir: string;
  blobs: Blobs;
  upkeep: BlobUpkeep;
  generation: Generation;
  engine: Engine;
  /** The counts of calls, where they are in the database of all boxes. */
  rates?: (secret: string) => Rates;
  /** Present where a service has several boxes. */
  shared_files?: SharedFiles;
  shared?: SharedState;
  copies?: Copies;
  statistics?: StatisticsTables;
  close(): void | Promise<void>;
}

export interface DataDir extends Opened {
  generation: Counter;
  /** For statements that only SQLite has. */
  sqlite: Database;
  close(): void;
}

export interface Opening {
  /** For a process that serves pages. */
  watch?: boolean;
  /** Nothing is written by this connection: an attempt throws. */
  reads_only?: boolean;
  /** How long a write waits for the lock while the thread goes on; without it SQLite waits, and the thread with it. */
  patience_ms?: number;
  /** How many connections to a database server it holds at most. */
  connections?: number;
}

export function openDataDir(data_dir: string, now: () => number, opening: Opening = {}): DataDir {
  const { watch = false, reads_only = false, patience_ms } = opening;
  const sqlite = databaseFile.reopen(data_dir);
  if (reads_only) sqlite.run("PRAGMA query_only = ON");
  const generation = openGeneration(data_dir, dataVersion(sqlite), watch);
  const db = sqliteDb(sqlite, generation.advance, { lost: databaseFile.watch(data_dir), patience_ms });
  return {
    data_dir,
    now,
    sqlite,
    generation,
    db,
    ...folderBlobs(data_dir, db),
    engine: { faults: (quick) => faultsOf(sqlite, quick ?? false), emptyLog: () => emptyLog(data_dir, sqlite) },
    forgetUncounted: () => forgetUncountedSites(data_dir, db),
    close() {
      generation.close();
      sqlite.close();
    },
  };
}

function faultsOf(sqlite: Database, quick: boolean): string[] {
  if (quick) {
    const check = sqlite.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get();
    return check?.quick_check === "ok" ? [] : [String(check?.quick_check)];
  }
  const found = sqlite.query<{ integrity_check: string }, []>("PRAGMA integrity_check").all();
  const dangling = sqlite.query<{ table: string; parent: string }, []>("PRAGMA foreign_key_check").all();
  return [
    ...found.map((row) => row.integrity_check).filter((text) => text !== "ok"),
    ...dangling.map(({ table, parent }) => `a row of ${table} names a row of ${parent} that is not there`),
  ];
}

const TRUNCATIONS = 50;
const TRUNCATE_AGAIN_MS = 20;

/** True once the log has no byte. It is the last place that has a row after its deletion: a page in it stays until another
 *  is written over it. Without waiting: a connection that reads or writes at this moment makes it answer false at once. */
function truncateLog(sqlite: Database): boolean {
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
async function emptyLog(data_dir: string, sqlite: Database): Promise<void> {
  const log = statSync(join(data_dir, "db-wal"), { throwIfNoEntry: false });
  if (log === undefined || log.size === 0) return;
  sqlite.run("PRAGMA wal_checkpoint(PASSIVE)");
  for (let left = TRUNCATIONS; left > 0 && !truncateLog(sqlite); left--) await Bun.sleep(TRUNCATE_AGAIN_MS);
}

// The generation: one number by which every process and thread sees that a site changed (ARCHITECTURE, idea 2).

interface Counter extends Generation {
  /** After COMMIT and before the answer. */
  advance(): void;
  close(): void;
}

const FILE = { name: "generation", bytes: 4096 };
const WATCH_MS = 100;

/** Returns a function that removes the page. */
export const prepareGeneration = (data_dir: string): (() => void) =>
  process.platform === "win32" ? () => {} : makePage(data_dir, FILE);

/** `PRAGMA data_version` moves with every commit of another connection: it sees a writer that died before it could
 *  advance the page, or that sees another page; and it is all there is where files cannot be mapped. */
function dataVersion(db: Database): () => number {
  const query = db.query<{ data_version: number }, []>("PRAGMA data_version");
  return () => query.get()!.data_version;
}

/** A random beginning for a page that was lost: its next values may have been seen before, and an old row would pass for new. */
function anywhere(): number {
  const [a, b, c, d] = randomBlock(4);
  return (a! << 24) | (b! << 16) | (c! << 8) | d! | 1;
}

function mappedCounter(data_dir: string) {
  const page = openPage(data_dir, FILE);
  const map = () => new Int32Array(page.bytes().buffer, 0, 1);
  let counter = map();
  let unheard = false;
  function mend(makes: boolean): void {
    if (!page.mend(makes)) return;
    counter = map();
    Atomics.add(counter, 0, anywhere());
  }
  return {
    /** On the path of every request: the page is not looked at. */
    current: () => Atomics.load(counter, 0),
    mend,
    watch: () => page.watch(() => mend(true)),
    advance(): void {
      mend(false);
      Atomics.add(counter, 0, 1);
      unheard ||= !page.shared();
    },
    /** Whether a running server may have missed an advance. */
    unheard: () => unheard,
  };
}

/** Makes a page anew that is gone, and sees what others committed. A failing disk must not end the process: the
 *  next question to the database throws. */
function keepWatch(counter: ReturnType<typeof mappedCounter>, committed: () => number): { stop(): void } {
  let seen = committed();
  const look = (): void => {
    counter.mend(true);
    const now = committed();
    if (now !== seen) counter.advance();
    seen = now;
  };
  // A database that cannot be asked may have changed.
  const timer = every(WATCH_MS, look, counter.advance);
  const watch = counter.watch();
  return {
    stop() {
      timer.stop();
      watch.stop();
    },
  };
}

/** `committed` moves with every commit of others that the page may miss. `watch`: for a process that serves; it asks ten times a
 *  second. */
function openGeneration(data_dir: string, committed: () => number, watch: boolean): Counter {
  if (process.platform === "win32") {
    let own = 0;
    const current = () => committed() + own;
    return { current, holds: (_, value) => value === current(), advance: () => void own++, close: () => {} };
  }
  const counter = mappedCounter(data_dir);
  const watching = watch ? keepWatch(counter, committed) : null;
  return {
    current: counter.current,
    holds: (_, value) => value === counter.current(),
    advance: counter.advance,
    close() {
      watching?.stop();
      // A command that sees no page of the server is done when the server has seen what it did all the same.
      if (!watch && counter.unheard()) Bun.sleepSync(2 * WATCH_MS);
    },
  };
}
