/** The generation: one number by which every process and thread sees that a site changed (ARCHITECTURE, idea 2). */
import type { Database } from "bun:sqlite";
import { every } from "../../run/every.ts";
import { randomBlock } from "../../base/random.ts";
import { makePage, openPage } from "../disk/shared-page.ts";
import type { Generation } from "../serving.ts";

export interface Counter extends Generation {
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
export function openGeneration(data_dir: string, db: Database, watch: boolean): Counter {
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
