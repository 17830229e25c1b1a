/** Connections to one PostgreSQL database, with the deadlines that Bun.SQL has not: a question into a network that drops
 *  everything never ends, and neither does what is asked behind it. */
import type { ServerLook } from "../upkeep.ts";
import { mono } from "./box-page.ts";
import { NoAnswer } from "./failures.ts";

export const CONNECT_S = 3;

/** Each statement sees what was committed before it: the lock comes first, whatever the database is set to. */
export const BEGIN = "begin isolation level read committed";

/** Milliseconds, each kept by the server itself. The last one throws out a writer that was stopped with the lock in its hands. */
const LIMITS = { statement_timeout: "10000", lock_timeout: "5000", idle_in_transaction_session_timeout: "5000" };

export type Wire = Pick<Bun.SQL, "unsafe">;

/** Connects to what the URL says and to nothing else: what it leaves out, and the database even where it names one, Bun 1.4.5 takes from
 *  variables such as PGDATABASE. */
export function connectTo(
  url: string,
  options: Pick<Bun.SQL.PostgresOrMySQLOptions, "max" | "connectionTimeout" | "connection">,
) {
  const { username, password, hostname, port, pathname } = new URL(url);
  return new Bun.SQL(url, {
    ...options,
    hostname: decodeURIComponent(hostname),
    port: Number(port || 5432),
    username: decodeURIComponent(username),
    password: () => decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
  });
}

export interface Pool {
  current(): Bun.SQL;
  /** The answer to what was asked of `sql`. Throws `NoAnswer` where none came for so long; what follows is asked on new
   *  connections. */
  answer<T>(sql: Bun.SQL, ms: number, asked: PromiseLike<T>): Promise<T>;
  /** Runs a write as soon as others leave it a connection, and one to reads. */
  inTurn<T>(write: () => Promise<T>): Promise<T>;
  /** For a server that is not the one it was. */
  renew(): void;
  close(): Promise<void>;
}

/** At most so many at once; the others wait, in their order. */
function turns(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = most;
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((begin) => waiting.push(begin));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

/** `most`: connections at once. None is opened before it is needed. */
export function openPool(url: string, most: number): Pool {
  const connect = () => connectTo(url, { max: most, connectionTimeout: CONNECT_S, connection: LIMITS });
  let sql = connect();
  let closed = false;

  function renew(stuck: Bun.SQL): void {
    if (stuck !== sql || closed) return;
    sql = connect();
    void stuck.close({ timeout: 0 }).catch(() => {});
  }
  return {
    current: () => sql,
    async answer(of, ms, asked) {
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        renew(of);
        late.reject(new NoAnswer(`the database did not answer within ${ms} ms`));
      }, ms);
      try {
        return await Promise.race([asked, late.promise]);
      } finally {
        clearTimeout(timer);
      }
    },
    inTurn: turns(Math.max(1, most - 1)),
    renew: () => renew(sql),
    async close() {
      closed = true;
      await sql.close({ timeout: 1 });
    },
  };
}

/** The rows of a statement that goes alone. */
export async function ask<Row>(
  pool: Pool,
  ms: number,
  statement: string,
  values: readonly (string | null)[] = [],
): Promise<Row[]> {
  const sql = pool.current();
  return pool.answer(sql, ms, sql.unsafe(statement, [...values]) as PromiseLike<Row[]>);
}

/** A connection that is given back whatever happens; one that is closed comes back as a new one. */
export async function onOne<T>(sql: Bun.SQL, work: (on: Wire) => Promise<T>): Promise<T> {
  const on = await sql.reserve();
  try {
    return await work(on);
  } finally {
    on.release();
  }
}

const LOOK_MS = 3000;
const LOOK = `select current_setting('server_version') as version, current_setting('fsync') as fsync,
    current_setting('synchronous_commit') as synchronous_commit,
    (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
    current_setting('max_connections')::int as max_connections`;

/** The database server itself. */
export async function lookAtServer(pool: Pool): Promise<ServerLook> {
  await ask(pool, LOOK_MS, "select 1"); // the connection is no part of it
  const began = mono();
  const [look] = await ask<Omit<ServerLook, "answers_in_ms">>(pool, LOOK_MS, LOOK);
  return { ...look!, answers_in_ms: mono() - began };
}

/** How far the database's clock is ahead of the clock `machine`, in milliseconds, but for the way of the answer. */
export async function aheadOf(sql: Wire, machine: () => number): Promise<number> {
  const [found] = (await sql.unsafe("select extract(epoch from clock_timestamp())::float8 * 1000 as now")) as {
    now: number;
  }[];
  return found!.now - machine();
}

/** A start, or a command, is refused where the clocks are further apart. */
const MOST_AHEAD_MS = 30_000;

export function refuseClock(ahead_ms: number): void {
  if (Math.abs(ahead_ms) <= MOST_AHEAD_MS) return;
  const [seconds, way] = [Math.round(Math.abs(ahead_ms) / 1000), ahead_ms > 0 ? "behind" : "ahead of"];
  throw new Error(
    `The clock of this machine is ${seconds} s ${way} that of the database (SVC_DATABASE_URL): set the clocks, then start again.`,
  );
}
