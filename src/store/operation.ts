/** A store operation says once what it is: a row of `read`, `write`, `change` or `steps` beside its SQL. The types that others
 *  see, the binding to a connection, and what the writer thread must run all follow from the row.
 *
 *  An operation is a generator that yields statements: bun:sqlite runs them at once inside one transaction, a database
 *  server between two round trips. So there is one text of every operation (ARCHITECTURE, idea 3). */
import { Refusal } from "../base/errors.ts";
import type { BuiltVersion } from "../base/types.ts";
import { isDiskFull } from "./refusals.ts";

export type SqlValue = string | number | null;

/** A statement on its way from an operation to the driver. */
export type Ask =
  | { sql: string; wants: "get" | "all" | "run" | "do"; values: readonly SqlValue[] }
  | { sql: string; wants: "each"; rows: readonly (readonly SqlValue[])[]; types: string };

// `any`: what the driver answers depends on the statement, and only `Statement` knows its row.
export type Op<T> = Generator<Ask, T, any>;

/** Its methods are for `yield*` inside an operation, or for a row that is one statement. */
export interface Statement<Row> {
  get(...values: SqlValue[]): Op<Row | null>;
  all(...values: SqlValue[]): Op<Row[]>;
  run(...values: SqlValue[]): Op<{ changes: number }>;
  /** As `run`, for an answer that nothing needs. */
  do(...values: SqlValue[]): Op<void>;
  /** Once for each row. `types` are those of the values ("int8 text"), for a driver that sends all rows together. */
  each(rows: readonly (readonly SqlValue[])[], types: string): Op<void>;
}

function* ask(sql: string, wants: "get" | "all" | "run" | "do", values: readonly SqlValue[]): Op<any> {
  return yield { sql, wants, values };
}

/** Whether an operation is one statement and nothing else: what it reads needs no transaction. */
export const isOneStatement = (op: Op<unknown>): boolean => Object.getPrototypeOf(op) === ask.prototype;

export function statement<Row = unknown>(sql: string): Statement<Row> {
  return {
    get: (...values) => ask(sql, "get", values),
    all: (...values) => ask(sql, "all", values),
    run: (...values) => ask(sql, "run", values),
    do: (...values) => ask(sql, "do", values),
    *each(rows, types) {
      yield { sql, wants: "each", rows, types };
    },
  };
}

/** So many values have one `in (…)`: its text is the same for every list. */
const LISTED = 50;
export const listFrom = (first: number): string => Array.from({ length: LISTED }, (_, n) => `?${first + n}`).join(", ");

/** The rows of a statement with such a list, for as many values as there are. What is left of the last list is null, which
 *  nothing equals. */
export function* ofList<Row>(values: readonly string[], find: (list: readonly SqlValue[]) => Op<Row[]>): Op<Row[]> {
  const rows: Row[] = [];
  for (let at = 0; at < values.length; at += LISTED) {
    const list = values.slice(at, at + LISTED);
    rows.push(...(yield* find([...list, ...Array<null>(LISTED - list.length).fill(null)])));
  }
  return rows;
}

/** The one way to the database. A write that the disk or another process prevents throws what the caller must answer: a
 *  Refusal, or `CommitUnknown`. */
export interface Db {
  /** One snapshot of a database server, asked again where the connection was closed. */
  read<T>(op: () => Op<T>): Promise<T>;
  /** One statement of a database server without the write lock, so that nobody waits for it. */
  note<T>(op: () => Op<T>): Promise<T>;
  /** One transaction, alone. For what serving need not hear of. */
  write<T>(op: () => Op<T>): Promise<T>;
  /** The same for what changes sites: serving hears of these slugs before it resolves. */
  change<T>(op: () => Op<T>, slugs: (done: T) => readonly string[] | "all"): Promise<T>;
}

/** Blobs that were put, on their way to the transaction that names them. */
export interface Held {
  /** Inside that transaction: false if a sweep took one since it was put. */
  allThere(): Op<boolean>;
}

/** The folder or bucket of the blobs. */
export interface BlobPlace {
  /** When it resolves, every blob survives a power cut under its name. Throws as a write of `Db` does. */
  put(version: Pick<BuiltVersion, "blobs" | "manifest">): Promise<Held>;
  /** For a full disk, on which not even a deletion can be written. False if there is nothing left to give up. */
  makeRoom(): boolean;
}

/** The connection of a driver that operations are bound to, and the service's clock. */
export interface Backend {
  db: Db;
  place: BlobPlace;
  now: () => number;
  /** Removes the statistics of sites that are gone, or count no more. */
  forgetUncounted?: () => Promise<void>;
  /** Events in comments go into the outbox. */
  announces?: boolean;
  /** Notes the last use of a credential by its id, for a thread that does not wait for it. Without it `find` waits. */
  noteUse?: Readonly<Record<"session" | "deploy_token", (id: string) => void>>;
}

type OperationKind = "read" | "write" | "change";

/** A row. `Needs` is more than a `Backend` for what only one kind of backend does. */
export interface Operation<Arguments extends readonly unknown[], Result, Needs = Backend> {
  kind: OperationKind;
  on(backend: Needs): (...args: Arguments) => Promise<Result>;
}

type RunOperation<Arguments extends readonly unknown[], Result> = (backend: Backend, ...args: Arguments) => Op<Result>;

interface Care {
  /** It frees room: on a full disk room is made, and it is tried again. */
  frees?: true;
  /** Sites may be gone, or count no more: their statistics go with it. */
  uncounts?: true;
}

async function careful<T>(backend: Backend, { frees, uncounts }: Care, work: () => Promise<T>): Promise<T> {
  const done = await (frees ? makingRoom(backend.place, work) : work());
  if (uncounts) await backend.forgetUncounted?.();
  return done;
}

export const read = <Arguments extends readonly unknown[], Result>(
  run: RunOperation<Arguments, Result>,
): Operation<Arguments, Result> => ({
  kind: "read",
  on:
    (backend) =>
    (...args) =>
      backend.db.read(() => run(backend, ...args)),
});

/** One transaction that serving need not hear of. */
export const write = <Arguments extends readonly unknown[], Result>(
  run: RunOperation<Arguments, Result>,
  care: Care = {},
): Operation<Arguments, Result> => ({
  kind: "write",
  on:
    (backend) =>
    (...args) =>
      careful(backend, care, () => backend.db.write(() => run(backend, ...args))),
});

/** A write that is only noted down: a full or busy disk refuses nobody because of it. */
export const note = <Arguments extends readonly unknown[]>(
  run: RunOperation<Arguments, void>,
): Operation<Arguments, void> => ({
  kind: "write",
  on:
    (backend) =>
    (...args) =>
      ifDiskAllows(backend.db.note(() => run(backend, ...args))),
});

/** One transaction that changes sites. `slugs`: the sites that serving must resolve anew. */
export const change = <Arguments extends readonly unknown[], Result>(
  run: RunOperation<Arguments, Result>,
  slugs: (done: Result) => readonly string[] | "all",
  care: Care = {},
): Operation<Arguments, Result> => ({
  kind: "change",
  on:
    (backend) =>
    (...args) =>
      careful(backend, care, () => backend.db.change(() => run(backend, ...args), slugs)),
});

/** The same operation, of whose result callers get this alone. */
export const answering = <Arguments extends readonly unknown[], Done, Result>(
  { kind, on }: Operation<Arguments, Done>,
  answer: (done: Done) => Result,
): Operation<Arguments, Result> => ({
  kind,
  on(backend) {
    const run = on(backend);
    return async (...args) => answer(await run(...args));
  },
});

/** An operation of more than one transaction, or one that asks before it writes. */
export const steps = <Arguments extends readonly unknown[], Result, Needs = Backend>(
  kind: OperationKind,
  run: (backend: Needs, ...args: Arguments) => Promise<Result>,
): Operation<Arguments, Result, Needs> => ({
  kind,
  on:
    (backend) =>
    (...args) =>
      run(backend, ...args),
});

/** Rows by the names under which they are called. */
export type Rows<Needs = Backend> = Readonly<Record<string, Operation<never, unknown, Needs>>>;

/** The functions that callers see, one for each row. */
export type Bound<R> = {
  readonly [Name in keyof R]: R[Name] extends Operation<infer Arguments, infer Result, never>
    ? (...args: Arguments) => Promise<Result>
    : never;
};

/** Each row bound to the connection, once; `elsewhere` runs a row that writes, by its name, in another thread. */
export function bind<Needs, R extends Rows<Needs>>(
  rows: R,
  backend: Needs,
  elsewhere?: (name: string, args: readonly unknown[]) => Promise<unknown>,
): Bound<R> {
  const bound = Object.entries(rows).map(([name, row]) => [
    name,
    elsewhere === undefined || row.kind === "read"
      ? row.on(backend)
      : (...args: readonly unknown[]) => elsewhere(name, args),
  ]);
  return Object.fromEntries(bound) as Bound<R>;
}

/** Runs a write that frees room (a deletion, a takedown, the sweep); on a full disk room is made, and it runs again. */
export async function makingRoom<T>(place: Pick<BlobPlace, "makeRoom">, write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isDiskFull(error) || !place.makeRoom()) throw error;
    }
  }
}

/** Drops the refusal of a write that is only noted down: a full or busy disk refuses nobody because of it. */
export async function ifDiskAllows(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
}

/** Between two transactions of a long work: another writer that waits for the lock gets it. */
const PAUSE_MS = 10;

/** One transaction after the other until there is nothing left to do. */
export async function inSlices(place: Pick<BlobPlace, "makeRoom">, slice: () => Promise<boolean>): Promise<void> {
  while (await makingRoom(place, slice)) await Bun.sleep(PAUSE_MS);
}
