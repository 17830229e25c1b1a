/** An operation is a generator that yields statements: bun:sqlite runs them at once inside one transaction, a database
 *  server between two round trips. So there is one text of every operation (ARCHITECTURE, idea 3). */

type Value = string | number | null;

/** A statement on its way from an operation to the driver. */
export type Ask =
  | { sql: string; wants: "get" | "all" | "run" | "do"; values: readonly Value[] }
  | { sql: string; wants: "each"; rows: readonly (readonly Value[])[]; types: string };

// `any`: what the driver answers depends on the statement, and only `Statement` knows its row.
export type Op<T> = Generator<Ask, T, any>;

/** Its methods are for `yield*` inside an operation, or for `Db.read` where one statement is all. */
export interface Statement<Row> {
  get(...values: Value[]): Op<Row | null>;
  all(...values: Value[]): Op<Row[]>;
  run(...values: Value[]): Op<{ changes: number }>;
  /** Nobody waits for its answer. */
  do(...values: Value[]): Op<void>;
  /** Once for each row. `types` are those of the values ("int8 text"), for a driver that sends all rows together. */
  each(rows: readonly (readonly Value[])[], types: string): Op<void>;
}

export function statement<Row = unknown>(sql: string): Statement<Row> {
  function* ask(wants: "get" | "all" | "run" | "do", values: readonly Value[]): Op<any> {
    return yield { sql, wants, values };
  }
  return {
    get: (...values) => ask("get", values),
    all: (...values) => ask("all", values),
    run: (...values) => ask("run", values),
    do: (...values) => ask("do", values),
    *each(rows, types) {
      yield { sql, wants: "each", rows, types };
    },
  };
}

/** The one way to the database. A write that the disk or another process prevents throws what the caller is to be told:
 *  a Refusal, or `CommitUnknown`. */
export interface Db {
  read<T>(op: Op<T>): Promise<T>;
  /** One transaction, with no other write beside it. For what serving need not hear of. */
  write<T>(op: () => Op<T>): Promise<T>;
  /** The same for what changes sites: serving hears of these slugs before it resolves. */
  change<T>(op: () => Op<T>, slugs: (done: T) => readonly string[] | "all"): Promise<T>;
}
