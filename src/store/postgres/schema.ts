/** The schema of a PostgreSQL database (SCALE 7), brought up to date in numbered steps: the first one is the whole of what SQLite has at
 *  its number. */
import { mono } from "./box-page.ts";
import { aheadOf, CONNECT_S, connectTo, refuseClock } from "./connection.ts";
import { mayLetIn, NoAnswer, startTrouble, whyNotWhole } from "./failures.ts";
import schema25 from "./schema-25.sql" with { type: "text" };

/** Each step with the oldest schema that a program must know to run beside it. */
const STEPS: readonly { step: number; needs: number; sql: string }[] = [{ step: 25, needs: 25, sql: schema25 }];

/** The newest schema that this program knows. */
const KNOWN = STEPS.at(-1)!.step;

const OLDEST_SERVER = 140_000;
/** One migrator takes this lock while others wait. It is not that of the writes. */
const MIGRATION_LOCK = 0x73_76_64;

const TAKEN = `create table if not exists schema_steps (
  step bigint primary key,
  needs bigint not null,
  at timestamptz not null default now()
)`;

async function refuseServer(sql: Pick<Bun.SQL, "unsafe">): Promise<void> {
  const [found] = (await sql.unsafe("show server_version_num")) as { server_version_num: string }[];
  if (Number(found!.server_version_num) >= OLDEST_SERVER) return;
  throw new Error(
    `The database server of SVC_DATABASE_URL is older than PostgreSQL 14 (${found!.server_version_num}): upgrade it first.`,
  );
}

const OTHERS = `select tablename as name from pg_tables
  where schemaname = current_schema() and to_regclass('schema_steps') is null limit 1`;

/** A database for svc alone: there it may make and take away what it likes. */
async function refuseOthers(sql: Pick<Bun.SQL, "unsafe">): Promise<void> {
  const [other] = (await sql.unsafe(OTHERS)) as { name: string }[];
  if (other === undefined) return;
  throw new Error(
    `The database of SVC_DATABASE_URL has tables of something else (${other.name}): name one for svc alone. Nothing was changed.`,
  );
}

/** The last step that the database has taken. Throws a sentence where that is of a newer program. */
async function stepsOf(sql: Pick<Bun.SQL, "unsafe">): Promise<{ step: number }> {
  const [taken] = (await sql.unsafe("select max(step) as step, max(needs) as needs from schema_steps")) as {
    step: string | null;
    needs: string | null;
  }[];
  const [step, needs] = [Number(taken!.step), Number(taken!.needs)];
  if (needs <= KNOWN) return { step };
  throw new Error(
    `The database was written by a newer svc-server (schema ${step}, this one knows ${KNOWN}): run that version.`,
  );
}

/** Takes the steps that the database has not taken yet, each in a transaction of its own, one migrator at a time. Throws a
 *  sentence for a database of a newer program or an older server. */
export async function migrate(sql: Bun.SQL): Promise<void> {
  const on = await sql.reserve();
  try {
    await refuseServer(on);
    await on.unsafe("select pg_advisory_lock($1)", [MIGRATION_LOCK]);
    await refuseOthers(on);
    await on.unsafe(TAKEN);
    const { step } = await stepsOf(on);
    for (const next of STEPS.filter((one) => one.step > step)) {
      await on.unsafe("begin");
      await on.unsafe(next.sql);
      await on.unsafe("insert into schema_steps (step, needs) values ($1, $2)", [next.step, next.needs]);
      await on.unsafe("commit");
    }
  } finally {
    for (const last of ["rollback", "select pg_advisory_unlock_all()"]) {
      await Promise.resolve(on.unsafe(last)).catch(() => {}); // a connection that is gone holds nothing
    }
    on.release();
  }
}

/** A start tries for so long to reach what it needs. */
const PATIENCE_MS = 15_000;
const PAUSE_MS = 500;

/** Does what may fail for a while, until it does not; past that time it throws the last failure. `passes`: it may yet. */
export async function patiently<T>(work: () => Promise<T>, passes: (error: unknown) => boolean): Promise<T> {
  for (const end = mono() + PATIENCE_MS; ; await Bun.sleep(PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!passes(error) || mono() > end) throw error;
    }
  }
}

/** Connected, without the limits of a service: a second migrator waits for the first, and a step may take long. */
async function reached<T>(url: string, work: (sql: Bun.SQL) => Promise<T>): Promise<T> {
  const sql = connectTo(url, { max: 1, connectionTimeout: CONNECT_S });
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new NoAnswer("the database does not answer")), 1000 * CONNECT_S);
  try {
    await Promise.race([sql.unsafe("select 1"), late.promise]).finally(() => clearTimeout(timer));
    return await work(sql);
  } finally {
    await sql.close({ timeout: 0 });
  }
}

/** A sentence for a database that cannot be used, without the URL. */
async function saying<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const why = startTrouble(error);
    throw why === null ? error : new Error(`The database of SVC_DATABASE_URL cannot be used: ${why}`);
  }
}

async function refuseHalf(sql: Bun.SQL): Promise<void> {
  const [service] = (await sql.unsafe("select state from service")) as { state: string }[];
  const why = whyNotWhole(service!.state);
  if (why !== null) throw new Error(why);
}

/** Brings the schema up to date, of a database that may be filled or left. Throws a sentence. */
export const prepareSchema = (url: string, then: (sql: Bun.SQL) => Promise<void> = async () => {}): Promise<void> =>
  saying(
    patiently(
      () => reached(url, async (sql) => (await migrate(sql), await then(sql))),
      (error) => error instanceof NoAnswer || mayLetIn(error),
    ),
  );

/** Readies the database for a server that starts. Throws a sentence. */
export const prepareDatabase = (url: string): Promise<void> => prepareSchema(url, refuseHalf);

async function refuseUnknown(sql: Bun.SQL, machine: () => number, half: boolean): Promise<void> {
  const [table] = (await sql.unsafe("select to_regclass('schema_steps') is not null as there")) as { there: boolean }[];
  if (!table!.there) throw new Error("There is no service in the database of SVC_DATABASE_URL: start the server once.");
  const { step } = await stepsOf(sql);
  if (step < KNOWN)
    throw new Error("The database of SVC_DATABASE_URL is of an older svc-server: start this version first.");
  if (!half) await refuseHalf(sql);
  refuseClock(await aheadOf(sql, machine));
}

/** Finds a service that this program knows, for a command by the clock `machine`; `half`: also one that is not whole. Throws a sentence. */
export const findService = (url: string, machine: () => number, half = false): Promise<void> =>
  saying(reached(url, (sql) => refuseUnknown(sql, machine, half)));
