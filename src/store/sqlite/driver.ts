/** The embedded backend: bun:sqlite, its schema, and the data directory. The driver of bun:sqlite: it runs an
 *  operation's statements at once, and prepares each text at its first use. */
import type { Database, Statement } from "bun:sqlite";
import { diskRefusal, refusals } from "../refusals.ts";
import type { Ask, Db, Op } from "../operation.ts";

type Prepared = Statement<unknown, any[]>;

function runner(db: Database): <T>(op: Op<T>, writes: boolean) => T {
  const prepared = new Map<string, Prepared>();

  function prepare(sql: string): Prepared {
    const made = db.prepare<unknown, any[]>(sql);
    prepared.set(sql, made);
    return made;
  }
  function answer(ask: Ask, writes: boolean): unknown {
    const made = prepared.get(ask.sql) ?? prepare(ask.sql);
    if (ask.wants === "get") return made.get(...ask.values);
    if (ask.wants === "all") return made.all(...ask.values);
    if (!writes) throw new Error(`A read may only ask, by get and all; this belongs into write or change: ${ask.sql}`);
    if (ask.wants !== "each") return made.run(...ask.values);
    for (const row of ask.rows) made.run(...row);
    return undefined;
  }
  return (op, writes) => {
    let step = op.next();
    while (step.done !== true) step = op.next(answer(step.value, writes));
    return step.value;
  };
}

/** Runs an operation in a transaction of its own, for what opens the database first. */
export function runAtOnce<T>(db: Database, op: Op<T>): T {
  const run = runner(db);
  return db.transaction(() => run(op, true)).immediate() as T;
}

/** The pause after which a write that waits for another's transaction asks again. SQLite's own waiting would stop the thread. */
const AGAIN_MS = 2;

const isBusy = (error: unknown): boolean => String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY");

/** A connection that writes without a pause keeps every other process from the lock, for they ask for it only now and then:
 *  after so long the lock is left alone for a fifth of the time. */
const HELD_MS = 8;
const PAUSE_MS = AGAIN_MS + 1;

function leavingRoom() {
  let held = 0;
  let ended = 0;
  return {
    async pause(): Promise<void> {
      if (performance.now() - ended >= PAUSE_MS) held = 0;
      if (held < HELD_MS) return;
      await Bun.sleep(Math.max(PAUSE_MS, held / 4));
      held = 0;
    },
    hold<T>(run: () => T): T {
      const begun = performance.now();
      try {
        return run();
      } finally {
        ended = performance.now();
        held += ended - begun;
      }
    },
  };
}

/** Runs functions that may find the database busy, one after the other. Each is tried again until it is `patience_ms` old; then
 *  it is tried once more and throws. */
function takingTurns(patience_ms: number): <T>(run: () => T) => Promise<T> {
  const { pause, hold } = leavingRoom();
  let last: Promise<unknown> = Promise.resolve();

  async function inTurn<T>(run: () => T, before: Promise<unknown>): Promise<T> {
    let late = false;
    const timer = setTimeout(() => void (late = true), patience_ms);
    try {
      await before.catch(() => {});
      await pause();
      for (;;) {
        try {
          return hold(run);
        } catch (error) {
          if (late || !isBusy(error)) throw error;
        }
        await Bun.sleep(AGAIN_MS);
      }
    } finally {
      clearTimeout(timer);
    }
  }
  return (run) => {
    const turn = inTurn(run, last);
    last = turn;
    return turn;
  };
}

const atOnce = async <T>(run: () => T): Promise<T> => run();

/** Switches SQLite's own waiting off for a write. Reads need it: one may come at the moment in which another process mends what
 *  a killed process has left. */
function withoutWaiting(db: Database): <T>(run: () => T) => T {
  const { timeout } = db.query<{ timeout: number }, []>("PRAGMA busy_timeout").get()!;
  return (run) => {
    db.run("PRAGMA busy_timeout = 0");
    try {
      return run();
    } finally {
      db.run(`PRAGMA busy_timeout = ${timeout}`);
    }
  };
}

/** How a connection's writes wait for the lock. */
function waiting(db: Database, patience_ms: number | undefined): <T>(run: () => T) => Promise<T> {
  if (patience_ms === undefined) return atOnce;
  const inTurn = takingTurns(patience_ms);
  const once = withoutWaiting(db);
  return (run) => inTurn(() => once(run));
}

interface Writing {
  /** The reason why nothing may be written any more; null if there is none. */
  lost?: () => string | null;
  /** For a thread with more to do, which goes on while its writes wait for the lock; without it the connection's own
   *  busy_timeout holds the thread. */
  patience_ms?: number | undefined;
}

/** `heard` is called when sites have changed, for the processes that serve. */
export function sqliteDb(db: Database, heard: () => void, { lost = () => null, patience_ms }: Writing = {}): Db {
  const run = runner(db);
  function refuseLost(): void {
    const why = lost();
    if (why !== null) throw refusals.databaseLost(why);
  }
  const transaction = db.transaction((op: () => Op<unknown>) => {
    refuseLost(); // whoever had the lock may have moved all of it away
    return run(op(), true);
  });
  const wait = waiting(db, patience_ms);

  async function commit<T>(op: () => Op<T>): Promise<T> {
    refuseLost();
    try {
      return await wait(() => transaction.immediate(op) as T);
    } catch (error) {
      throw diskRefusal(error);
    }
  }
  return {
    read: async (op) => run(op(), false),
    note: commit,
    write: commit,
    async change(op, slugs) {
      const done = await commit(op);
      const changed = slugs(done);
      if (changed === "all" || changed.length > 0) heard();
      return done;
    },
  };
}
