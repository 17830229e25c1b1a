/** A prepared data directory, opened: its database, its blobs, and the counter of changes. */
import type { Database } from "bun:sqlite";
import { diskRoom } from "../disk/room.ts";
import { blobFiles, putBlobs } from "../disk/blobs.ts";
import { diskRefusal } from "../refusals.ts";
import type { Backend, BlobPlace } from "../operation.ts";
import { databaseFile } from "./database.ts";
import { sqliteDb } from "./driver.ts";
import { every } from "../../run/every.ts";
import { randomBlock } from "../../base/random.ts";
import { makePage, openPage } from "../disk/shared-page.ts";
import type { Generation } from "../serving.ts";

export interface DataDir extends Backend {
  data_dir: string;
  /** For statements that only SQLite has. */
  sqlite: Database;
  generation: Counter;
  close(): void;
}

const blobPlace = (data_dir: string): BlobPlace => ({
  async put({ blobs }) {
    try {
      await putBlobs(data_dir, blobs);
    } catch (error) {
      throw diskRefusal(error);
    }
  },
  *allThere(manifest) {
    return manifest.every(({ sha256, bytes }) => blobFiles.isThere(data_dir, sha256, bytes));
  },
  makeRoom: () => diskRoom.drop(data_dir),
});

interface Opening {
  /** For a process that serves pages. */
  watch?: boolean;
  /** Nothing is written by this connection: an attempt throws. */
  reads_only?: boolean;
  /** How long a write waits for the lock while the thread goes on; without it SQLite waits, and the thread with it. */
  patience_ms?: number;
}

export function openDataDir(data_dir: string, now: () => number, opening: Opening = {}): DataDir {
  const { watch = false, reads_only = false, patience_ms } = opening;
  const sqlite = databaseFile.reopen(data_dir);
  if (reads_only) sqlite.run("PRAGMA query_only = ON");
  const generation = openGeneration(data_dir, sqlite, watch);
  return {
    data_dir,
    now,
    sqlite,
    generation,
    db: sqliteDb(sqlite, generation.advance, { lost: databaseFile.watch(data_dir), patience_ms }),
    place: blobPlace(data_dir),
    close() {
      generation.close();
      sqlite.close();
    },
  };
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

/** `watch`: for a process that serves; it asks the database ten times a second. */
function openGeneration(data_dir: string, db: Database, watch: boolean): Counter {
  const committed = dataVersion(db);
  if (process.platform === "win32") {
    let own = 0;
    return { current: () => committed() + own, advance: () => void own++, close: () => {} };
  }
  const counter = mappedCounter(data_dir);
  const watching = watch ? keepWatch(counter, committed) : null;
  return {
    current: counter.current,
    advance: counter.advance,
    close() {
      watching?.stop();
      // A command that sees no page of the server is done when the server has seen what it did all the same.
      if (!watch && counter.unheard()) Bun.sleepSync(2 * WATCH_MS);
    },
  };
}
