/** The driver of PostgreSQL. It sends an operation's statements one behind the other and waits for those alone whose answer the
 *  operation asks for; the texts are SQLite's own (SCALE 2). */
import { Refusal } from "../../base/errors.ts";
import { type Ask, type Db, isOneStatement, type Op, type SqlValue } from "../operation.ts";
import { refusals } from "../refusals.ts";
import { latestChange, othersHave, TELL, toldOf } from "./box.ts";
import type { BoxPage } from "./box-page.ts";
import { BEGIN, onOne, type Pool, type Wire } from "./connection.ts";
import { databaseRefusal, isClosed, isCollision, isReadOnly, isRefused, NoAnswer, whyNotWhole } from "./failures.ts";

/** Rows with what the server says of their columns. */
interface Rowset extends Array<Record<string, unknown>> {
  count: number;
  columns: readonly { name: string; type: number }[];
}

/** Types by their oids in pg_type: int8 and numeric come as text, for a Number may be too small for them; here it is not. */
const WIDE = new Set([20, 1700]);
const BOOLEAN = 16;

const converterOf = (type: number): ((value: unknown) => number) | null => {
  if (WIDE.has(type)) return Number;
  return type === BOOLEAN ? (value) => (value === true ? 1 : 0) : null;
};

/** The rows as SQLite gives them. */
export function rowsOf(answer: Rowset): Record<string, unknown>[] {
  for (const { name, type } of answer.columns) {
    const convert = converterOf(type);
    if (convert === null) continue;
    for (const row of answer) if (row[name] !== null) row[name] = convert(row[name]);
  }
  return [...answer];
}

/** Numbers go as text without a type: PostgreSQL gives it by the place. It has no U+0000. */
const sent = (value: SqlValue): string | null => (value === null ? null : String(value).replaceAll("\0", "\uFFFD"));

/** Placeholders as PostgreSQL has them. No text of the store has a question mark in quotes. */
export function numbered(sql: string): string {
  let n = 0;
  return sql.replace(/\?(\d*)/g, (_, number: string) => `$${number === "" ? ++n : number}`);
}

const [VALUES, CONFLICT] = ["values (", "on conflict"];

/** The three parts of an insert of one row; null for another statement. */
function insertOf(sql: string): { head: string; values: string; conflict: string } | null {
  const at = sql.indexOf(VALUES);
  if (at < 0 || !sql.trimStart().startsWith("insert ")) return null;
  const rest = sql.slice(at + VALUES.length);
  const end = rest.includes(CONFLICT) ? rest.indexOf(CONFLICT) : rest.length;
  const values = rest.slice(0, end).trimEnd();
  return values.endsWith(")")
    ? { head: sql.slice(0, at), values: values.slice(0, -1), conflict: rest.slice(end) }
    : null;
}

/** An insert of all rows together, which have a parameter for each column; null for another statement. */
function together(sql: string, types: readonly string[]): string | null {
  const parts = insertOf(sql);
  if (parts === null) return null;
  let n = 0;
  const selected = parts.values.replace(/\?/g, () => `r.c${++n}`);
  const lists = types.map((type, i) => `$${i + 1}::text[]::${type}[]`).join(", ");
  const names = types.map((_, i) => `c${i + 1}`).join(", ");
  return `${parts.head} select ${selected} from unnest(${lists}) as r(${names}) ${parts.conflict}`;
}

/** A list as PostgreSQL writes arrays: each item in quotes, so that none is read as more than its text. */
const arrayOf = (list: readonly SqlValue[]): string =>
  `{${list.map((value) => (value === null ? "NULL" : `"${sent(value)!.replace(/["\\]/g, "\\$&")}"`)).join(",")}}`;

const texts = new Map<string, string>();
/** Each text of the store is translated once. */
function translated(key: string, translate: () => string): string {
  const known = texts.get(key);
  if (known !== undefined) return known;
  const made = translate();
  texts.set(key, made);
  return made;
}

type Each = Extract<Ask, { wants: "each" }>;

/** Sends the rows of an `each` together where it can. */
export function sendEach(on: Wire, { sql, rows, types }: Each): PromiseLike<unknown>[] {
  if (rows.length === 0) return [];
  const kinds = types.split(" ");
  const whole = translated(`${types}: ${sql}`, () => together(sql, kinds) ?? "");
  if (whole !== "")
    return [
      on.unsafe(
        whole,
        kinds.map((_, i) => arrayOf(rows.map((row) => row[i]!))),
      ),
    ];
  return rows.map((row) =>
    on.unsafe(
      translated(sql, () => numbered(sql)),
      row.map(sent),
    ),
  );
}

const sendOne = (on: Wire, { sql, values }: Exclude<Ask, Each>): PromiseLike<Rowset> =>
  on.unsafe(
    translated(sql, () => numbered(sql)),
    values.map(sent),
  ) as unknown as PromiseLike<Rowset>;

function answerTo(wants: "get" | "all" | "run", answer: Rowset): unknown {
  if (wants === "run") return { changes: answer.count };
  const rows = rowsOf(answer);
  return wants === "all" ? rows : (rows[0] ?? null);
}

/** Statements under way that nobody waits for. The first failure is the reason of all that follow it. */
function underWay() {
  const all: Promise<unknown>[] = [];
  return {
    add(query: PromiseLike<unknown>): void {
      const one = Promise.resolve(query);
      one.catch(() => {}); // told by `settled`
      all.push(one);
    },
    /** Throws the first failure. */
    settled: () => Promise.all(all),
    /** The first failure of those that were sent before `error` came; else that. */
    async reason(error: unknown): Promise<unknown> {
      const failed = (await Promise.allSettled(all)).find((one) => one.status === "rejected");
      return failed === undefined ? error : failed.reason;
    },
  };
}

/** Waits for an answer of the connection's own, as long as one may take. */
type Patience = <T>(asked: PromiseLike<T>) => Promise<T>;

/** Runs an operation on one connection. `begun`: what was sent before it and is not answered yet. */
async function drive<T>(on: Wire, op: Op<T>, writes: boolean, patience: Patience, begun = underWay()): Promise<T> {
  try {
    let step = op.next();
    while (step.done !== true) {
      const asked = step.value;
      if (asked.wants !== "get" && asked.wants !== "all" && !writes) {
        throw new Error(`A read may only ask, by get and all; this belongs into write or change: ${asked.sql}`);
      }
      if (asked.wants === "each") for (const query of sendEach(on, asked)) begun.add(query);
      else if (asked.wants === "do") begun.add(sendOne(on, asked));
      else {
        step = op.next(answerTo(asked.wants, await patience(sendOne(on, asked))));
        continue;
      }
      step = op.next(undefined);
    }
    await patience(begun.settled());
    return step.value;
  } catch (error) {
    throw error instanceof NoAnswer ? error : await begun.reason(error);
  }
}

/** The one lock that every write takes has this number, which no other program of this database takes. */
export const WRITE_LOCK = 0x73_76_63;
const SNAPSHOT = "begin isolation level repeatable read read only";

/** One answer to a read; to a write, which is longer than the server lets a statement take; and to the question for the lock. */
const READ_MS = 3000;
const WRITE_MS = 11_000;
const LOCK_MS = 6000;
/** How long the outcome of a COMMIT is asked for whose answer did not come. */
const OUTCOME_MS = 5000;
const OUTCOME_PAUSE_MS = 100;

/** Ends a transaction that wrote nothing, or shall not have. Of a connection that is closed nothing is left to end. */
async function rollBack(on: Wire, patience: Patience): Promise<void> {
  try {
    await patience(on.unsafe("rollback") as PromiseLike<unknown>);
  } catch {} // see above
}

/** The answer is there before the transaction has ended: only the connection waits for its end. */
async function snapshot<T>(pool: Pool, op: Op<T>): Promise<T> {
  const sql = pool.current();
  const patience: Patience = (asked) => pool.answer(sql, READ_MS, asked);
  const on = await sql.reserve();
  try {
    const begun = underWay();
    begun.add(on.unsafe(SNAPSHOT));
    return await drive(on, op, false, patience, begun);
  } finally {
    void rollBack(on, patience).finally(() => on.release());
  }
}

/** Whether a COMMIT without an answer was done; null if nobody can tell. */
async function outcomeOf(pool: Pool, xid: string): Promise<boolean | null> {
  const end = performance.now() + OUTCOME_MS;
  for (let left = OUTCOME_MS; left > 0; left = end - performance.now()) {
    const sql = pool.current();
    const asked = sql.unsafe("select pg_xact_status($1::xid8) as status", [xid]);
    const found = await pool.answer(sql, Math.min(left, READ_MS), asked).catch(() => []);
    const status = (found as { status: string }[])[0]?.status;
    if (status === "committed" || status === "aborted") return status === "committed";
    await Bun.sleep(OUTCOME_PAUSE_MS);
  }
  return null;
}

/** A transaction that is done, and its number among the changes (SCALE 4); null for one that nobody need hear of. */
interface Committed<T> {
  done: T;
  changed: { slugs: readonly string[] | "all"; n: number } | null;
}

/** A transaction's COMMIT whose answer did not come. */
class Unanswered<T> {
  constructor(
    readonly xid: string,
    readonly done: T,
    readonly cause: unknown,
  ) {}
}

type SlugsOf<T> = (done: T) => readonly string[] | "all";

/** Tells the other boxes of a change, and ends the transaction: both fly together. */
async function commit<T>(on: Wire, patience: Patience, done: T, slugs: SlugsOf<T>): Promise<Committed<T>> {
  const changed = slugs(done);
  const tells = changed === "all" || changed.length > 0;
  const told = tells ? Promise.resolve(on.unsafe(TELL, [toldOf(changed)]) as PromiseLike<{ n: number }[]>) : null;
  const committed = Promise.resolve(on.unsafe("commit") as PromiseLike<unknown>);
  committed.catch(() => {}); // where telling failed, that is the reason
  const rows = told && (await patience(told));
  await patience(committed);
  return { done, changed: rows && { slugs: changed, n: rows[0]!.n } };
}

/** The transaction's number, once the lock is there. Behind it comes whether the service is still here: a box that was frozen, and whoever
 *  waited for a move to end, must write nothing more. */
async function lock(on: Wire, patience: Patience, begun: ReturnType<typeof underWay>): Promise<string> {
  const asked = on.unsafe("select pg_advisory_xact_lock($1), pg_current_xact_id()::text as xid", [WRITE_LOCK]);
  try {
    const both = [asked, on.unsafe("select state from service")].map((one) => Promise.resolve(one));
    const [[locked], [service]] = (await patience(Promise.all(both))) as unknown as [
      { xid: string }[],
      { state: string }[],
    ];
    const why = whyNotWhole(service!.state);
    if (why !== null) throw refusals.databaseLost(why);
    return locked!.xid;
  } catch (error) {
    throw error instanceof NoAnswer || error instanceof Refusal ? error : await begun.reason(error);
  }
}

async function transaction<T>(pool: Pool, op: Op<T>, slugs: SlugsOf<T>): Promise<Committed<T>> {
  const sql = pool.current();
  const patience: Patience = (asked) => pool.answer(sql, WRITE_MS, asked);
  return onOne(sql, async (on) => {
    const begun = underWay();
    begun.add(on.unsafe(BEGIN));
    let committing: { xid: string; done: T } | null = null;
    try {
      const xid = await lock(on, (asked) => pool.answer(sql, LOCK_MS, asked), begun);
      const done = await drive(on, op, true, patience, begun);
      committing = { xid, done };
      return await commit(on, patience, done, slugs);
    } catch (error) {
      if (committing !== null && !isRefused(error)) throw new Unanswered(committing.xid, committing.done, error);
      await rollBack(on, patience);
      throw error;
    }
  });
}

/** A server that closes connections closes all of them at once: each try may meet the next one. */
const TRIES = 6;
const TRYING_MS = 1000;

/** Once more, where nothing was written and another try may do. */
async function trying<T>(pool: Pool, work: () => Promise<T>): Promise<T> {
  let end: number | null = null;
  for (let left = TRIES - 1; ; left--) {
    try {
      return await work();
    } catch (error) {
      const may = isReadOnly(error) || isClosed(error) || isCollision(error);
      end ??= performance.now() + TRYING_MS;
      if (!may || left === 0 || performance.now() > end) throw error;
      if (isReadOnly(error)) pool.renew();
    }
  }
}

/** The boxes of the service, for what is written. */
interface Hearing extends Pick<BoxPage, "box" | "isAway"> {
  /** When sites have changed, with their slugs, for the processes of this box. */
  advance: BoxPage["advance"];
}

/** For a program that shares no page with a server. */
export const withoutPage = (): Hearing => ({ box: () => 0, isAway: () => false, advance: () => {} });

const NOBODY = () => [];

export function postgresDb(pool: Pool, { box, isAway, advance }: Hearing): Db {
  const answered = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isAway()) throw refusals.databaseAway(); // a beat says when it is back
    try {
      return await trying(pool, work);
    } catch (error) {
      throw databaseRefusal(error);
    }
  };
  function alone<T>(op: Op<T>, writes: boolean): Promise<T> {
    const sql = pool.current();
    return drive(sql, op, writes, (asked) => pool.answer(sql, writes ? WRITE_MS : READ_MS, asked));
  }
  async function read<T>(op: () => Op<T>): Promise<T> {
    const first = op();
    return isOneStatement(first) ? alone(first, false) : snapshot(pool, first);
  }
  async function written<T>(op: () => Op<T>, slugs: SlugsOf<T>): Promise<Committed<T>> {
    const work = () => transaction(pool, op(), slugs);
    return answered(() => pool.inTurn(work)).catch(async (error: unknown) => {
      if (!(error instanceof Unanswered)) throw error;
      const committed = await outcomeOf(pool, error.xid);
      if (committed === false) throw databaseRefusal(error.cause);
      if (committed === null) {
        advance("all"); // it may have changed any
        throw refusals.outcomeUnknown(error.cause);
      }
      const done = error.done as T;
      // Its number went the same way as its answer: the newest is no smaller.
      const n = await latestChange(pool, READ_MS).catch(() => Infinity);
      return { done, changed: { slugs: slugs(done), n } };
    });
  }
  return {
    read: (op) => answered(() => read(op)),
    note: (op) => answered(() => alone(op(), true)),
    write: async (op) => (await written(op, NOBODY)).done,
    async change(op, slugs) {
      const { done, changed } = await written(op, slugs);
      if (changed !== null && changed.slugs.length > 0) {
        advance(changed.slugs);
        await othersHave(pool, changed.n, box());
      }
      return done;
    },
  };
}
