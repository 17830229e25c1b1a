/** The schema of a PostgreSQL database (SCALE 7), brought up to date in numbered steps: the first one is the whole of what SQLite has at
 *  its number. */
import { CONNECT_S } from "./connection.ts";
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

/** Takes the steps that the database has not taken yet, each in a transaction of its own, one migrator at a time. Throws a
 *  sentence for a database of a newer program or an older server. */
export async function migrate(sql: Bun.SQL): Promise<void> {
  const on = await sql.reserve();
  try {
    await refuseServer(on);
    await on.unsafe("select pg_advisory_lock($1)", [MIGRATION_LOCK]);
    await on.unsafe(TAKEN);
    const taken = (await on.unsafe("select max(step) as step, max(needs) as needs from schema_steps")) as {
      step: string | null;
      needs: string | null;
    }[];
    const [step, needs] = [Number(taken[0]!.step), Number(taken[0]!.needs)];
    if (needs > KNOWN) {
      throw new Error(
        `The database was written by a newer svc-server (schema ${step}, this one knows ${KNOWN}): run that version.`,
      );
    }
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

/** Readies the database for a server that starts. */
export async function prepareDatabase(url: string): Promise<void> {
  // Without the limits of a service: a second migrator waits for the first, and a step may take long.
  const migrating = new Bun.SQL(url, { max: 1, connectionTimeout: CONNECT_S });
  await migrate(migrating).finally(() => migrating.close());
}
