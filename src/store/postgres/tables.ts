/** All rows of a service, out of a database server and into one: for backups, restores and moves (SCALE 7). */
import { type Wire, connectTo, CONNECT_S } from "./connection.ts";
import { rowsOf, sendEach, WRITE_LOCK } from "./driver.ts";
import { databaseRefusal, isBusy, NoAnswer } from "./failures.ts";
import { every } from "../../run/every.ts";
import type { SqlValue } from "../operation.ts";
import { isDatabaseAway } from "../refusals.ts";
import { NAMED, type Table, type TableRows } from "../upkeep.ts";

/** `filling`: not all is there yet. `moved`: all of it is somewhere else now. */
type ServiceState = "whole" | "filling" | "moved";

interface Service {
  id: string;
  state: ServiceState;
  /** The restore or the move that filled it. */
  filled_by: string | null;
}

/** A service as its database has it, for work on all of its rows. */
export interface Transfer {
  service(): Promise<Service>;
  /** Throws a sentence while a server runs on it. */
  refuseServed(): Promise<void>;
  /** From here on nobody else writes, as long as this connection lasts. */
  lock(): Promise<void>;
  /** Throws a sentence where the lock is not this connection's any more, or a server was started meanwhile. */
  setState(state: ServiceState, filled_by?: string): Promise<void>;
  /** Keeps the connection, and throws once it is lost. */
  ping(): Promise<void>;
  /** Whether nothing but a start has left something in it. */
  isUnused(tables: readonly Table[]): Promise<boolean>;
  /** The files of all boxes. */
  files(): Promise<Map<string, Uint8Array>>;
  /** One state of it. */
  rows(tables: readonly Table[]): AsyncGenerator<TableRows>;
  /** In one transaction: these rows and files in the place of all others. `missing`: numbers of blobs that the bucket has not. */
  fill(pages: Iterable<TableRows>, filled: Filled): Promise<void>;
}

interface Filled {
  tables: readonly Table[];
  files: ReadonlyMap<string, string>;
  missing: readonly number[];
  state: ServiceState;
}

const ROWS = 500;
/** One answer: a COMMIT looks at every row of a large service once more. */
const ANSWER_MS = 10 * 60_000;

/** A service's limits are for its pages. Waiting for the lock has one all the same. */
const PATIENT = [
  "set statement_timeout = 0",
  "set idle_in_transaction_session_timeout = 0",
  ...["idle = 30", "interval = 10", "count = 3"].map((set) => `set tcp_keepalives_${set}`), // whoever vanished holds no lock
  "set lock_timeout = '15s'",
];
const SNAPSHOT = "begin isolation level repeatable read read only";
const SERVED = `select string_agg(host, ', ' order by host) as hosts from boxes where beat_at > now() - interval '10 seconds'`;
const STATE = `update service set state = $1, filled_by = coalesce($3, filled_by) where pg_backend_pid() = $2
  and not exists (select 1 from boxes where beat_at > now() - interval '10 seconds') returning id`;
const TYPES = `select table_name, column_name, data_type, is_identity from information_schema.columns
  where table_schema = current_schema()`;

/** Rows that a start leaves behind, or a command. */
const OF_STARTS = new Set(["address", "verify_turn", "audit"]);

const quoted = (columns: readonly string[]): string => columns.map((name) => `"${name}"`).join(", ");

const OTHERS =
  "Another move or restore works on the database of SVC_DATABASE_URL: wait for its end, or a minute where its machine is gone, then run this again.";
const LOST = "The connection to the database of SVC_DATABASE_URL was lost on the way: run the same once more.";

type OnWire = <Row>(text: string, values?: readonly (string | null)[]) => Promise<Row[]>;

async function inTime<T>(asked: PromiseLike<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new NoAnswer("the database does not answer")), ANSWER_MS);
  return Promise.race([asked, late.promise]).finally(() => clearTimeout(timer));
}

async function* rowsIn(ask: OnWire, tables: readonly Table[]): AsyncGenerator<TableRows> {
  await ask(SNAPSHOT);
  try {
    for (const table of tables) {
      await ask(`declare all_rows no scroll cursor for select ${quoted(table.columns)} from "${table.name}"`);
      for (;;) {
        const found = rowsOf((await ask(`fetch ${ROWS} from all_rows`)) as never);
        if (found.length === 0) break;
        yield { table, rows: found.map((row) => table.columns.map((name) => row[name] as SqlValue)) };
      }
      await ask("close all_rows");
    }
  } finally {
    await ask("rollback");
  }
}

interface ColumnType {
  table_name: string;
  column_name: string;
  data_type: string;
  is_identity: "YES" | "NO";
}

/** Past the numbers that the rows have. */
const next = ({ table_name: table, column_name: column }: ColumnType): string =>
  `select setval(pg_get_serial_sequence('"${table}"', '${column}'), greatest(max("${column}"), 1), max("${column}") is not null) from "${table}"`;

async function fill(on: Wire, ask: OnWire, pages: Iterable<TableRows>, filled: Filled & { locked_by: string | null }) {
  const { tables, files, missing, state, locked_by } = filled;
  const columns = await ask<ColumnType>(TYPES);
  const typeOf = new Map(columns.map((one) => [`${one.table_name}.${one.column_name}`, one.data_type]));
  await ask("begin");
  try {
    for (const { name } of tables.toReversed()) await ask(`delete from "${name}"`);
    for (const { table, rows } of pages) {
      const types = table.columns.map((name) => typeOf.get(`${table.name}.${name}`)!).join(" ");
      const places = table.columns.map(() => "?").join(", ");
      // Two names that differ by U+0000 alone are one there.
      const twice = table.name.startsWith("stats_") ? " on conflict do nothing" : "";
      const sql = `insert into "${table.name}" (${quoted(table.columns)}) values (${places})${twice}`;
      await inTime(Promise.all(sendEach(on, { wants: "each", sql, rows, types })));
    }
    await ask(`update blobs set stored = ${NAMED} and not (blob_no = any($1::bigint[]))`, [`{${missing.join(",")}}`]);
    await ask("delete from shared_files");
    for (const [name, body] of files) await ask("insert into shared_files (name, body) values ($1, $2)", [name, body]);
    for (const column of columns.filter(
      ({ is_identity, table_name }) => is_identity === "YES" && table_name !== "hits",
    )) {
      await ask(next(column));
    }
    const mine = await ask("update service set state = $1 where pg_backend_pid() = $2 returning id", [
      state,
      locked_by,
    ]);
    if (mine.length === 0) throw new Error(LOST);
    await ask("commit");
  } catch (error) {
    await ask("rollback").catch(() => {}); // a connection that is gone holds nothing
    throw error;
  }
}

function transferOn(on: Wire): Transfer {
  const ask: OnWire = (text, values = []) => inTime(on.unsafe(text, [...values]) as PromiseLike<never[]>);
  let locked_by: string | null = null;
  async function refuseServed(): Promise<void> {
    const { hosts } = (await ask<{ hosts: string | null }>(SERVED))[0]!;
    if (hosts === null) return;
    throw new Error(
      `Servers run on the database of SVC_DATABASE_URL (${hosts}): stop all of them, and wait ten seconds where one was killed.`,
    );
  }
  return {
    service: async () => (await ask<Service>("select id, state, filled_by from service"))[0]!,
    refuseServed,
    async lock() {
      const asked = ask<{ pid: string }>("select pg_advisory_lock($1), pg_backend_pid()::text as pid", [
        String(WRITE_LOCK),
      ]);
      const [found] = await asked.catch((error: unknown) => {
        throw isBusy(error) ? new Error(OTHERS) : error;
      });
      locked_by = found!.pid;
    },
    async setState(state, filled_by) {
      if ((await ask(STATE, [state, locked_by, filled_by ?? null])).length === 1) return;
      await refuseServed();
      throw new Error(LOST);
    },
    ping: async () => void (await ask("select 1")),
    async isUnused(tables) {
      const used = tables
        .filter(({ name }) => !OF_STARTS.has(name))
        .map(({ name }) => `exists (select 1 from "${name}")`);
      const [found] = await ask<{ used: boolean }>(
        `select ${used.join(" or ")} or (select is_called from blobs_blob_no_seq) as used`,
      );
      return !found!.used;
    },
    async files() {
      const found = await ask<{ name: string; body: string }>("select name, body from shared_files");
      return new Map(found.map(({ name, body }) => [name, Buffer.from(body)]));
    },
    rows: (tables) => rowsIn(ask, tables),
    fill: (pages, filled) => fill(on, ask, pages, { ...filled, locked_by }),
  };
}

/** Works on the rows of a service, whose schema this program knows, by a connection of its own. Throws a sentence, or what `work` throws. */
export async function transferring<T>(url: string, work: (transfer: Transfer) => Promise<T>): Promise<T> {
  const sql = connectTo(url, { max: 1, connectionTimeout: CONNECT_S });
  try {
    const on = await sql.reserve();
    for (const setting of PATIENT) await inTime(on.unsafe(setting) as PromiseLike<unknown>);
    return await work(transferOn(on));
  } catch (error) {
    const told = databaseRefusal(error);
    throw isDatabaseAway(told) ? new Error(LOST, { cause: error }) : told;
  } finally {
    await sql.close({ timeout: 0 });
  }
}

/** The one backup at a time of a service, which a place could else lose files by. */
const BACKUP_LOCK = 0x73_76_62;
const PING_MS = 20_000;

/** Held until it is let go, or this process ends. Throws a sentence where another has it. */
export async function aloneAtBackup(url: string): Promise<{ release(): Promise<void> }> {
  const sql = connectTo(url, { max: 1, connectionTimeout: CONNECT_S });
  const release = () => sql.close({ timeout: 0 });
  try {
    const on = await sql.reserve();
    for (const setting of PATIENT) await inTime(on.unsafe(setting) as PromiseLike<unknown>);
    const asked = on.unsafe("select pg_try_advisory_lock($1) as alone", [BACKUP_LOCK]);
    const [found] = (await inTime(asked as PromiseLike<unknown>)) as { alone: boolean }[];
    const keeping = every(
      PING_MS,
      () => on.unsafe("select 1") as PromiseLike<unknown>,
      () => {},
    ); // an idle connection may be cut
    if (found!.alone) return { release: () => (keeping.stop(), release()) };
    keeping.stop();
    throw new Error("Another backup of this service is under way: wait for its end.");
  } catch (error) {
    await release();
    throw databaseRefusal(error);
  }
}
