/** bun:sqlite runs an operation's statements at once; each text is prepared when it is first asked. */
import type { Database, Statement } from "bun:sqlite";
import { databaseLost, diskRefusal } from "../refusals.ts";
import type { Ask, Db, Op } from "../sql/db.ts";

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

/** `heard` tells whoever serves that sites have changed. `lost` says why nothing may be written any more, if so. */
export function sqliteDb(db: Database, heard: () => void, lost: () => string | null = () => null): Db {
  const run = runner(db);
  const transaction = db.transaction((op: () => Op<unknown>) => run(op(), true));

  function commit<T>(op: () => Op<T>): T {
    const why = lost();
    if (why !== null) throw databaseLost(why);
    try {
      return transaction.immediate(op) as T;
    } catch (error) {
      throw diskRefusal(error);
    }
  }
  return {
    read: async (op) => run(op, false),
    write: async (op) => commit(op),
    async change(op, slugs) {
      const done = commit(op);
      const changed = slugs(done);
      if (changed === "all" || changed.length > 0) heard();
      return done;
    },
  };
}
