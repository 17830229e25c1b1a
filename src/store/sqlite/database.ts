/** One connection to `DATA/db`, as RELIABILITY 2 wants it, and the numbered steps that bring its schema up to date. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import schema1 from "./schema-1.sql" with { type: "text" };
import schema2 from "./schema-2.sql" with { type: "text" };
import schema3 from "./schema-3.sql" with { type: "text" };
import schema4 from "./schema-4.sql" with { type: "text" };
import schema5 from "./schema-5.sql" with { type: "text" };
import schema6 from "./schema-6.sql" with { type: "text" };

/** Step n brings `user_version` from n-1 to n. A step that was released never changes. */
const STEPS: readonly string[] = [schema1, schema2, schema3, schema4, schema5, schema6];

const PRAGMAS = [
  "journal_mode = WAL",
  "synchronous = FULL", // an answer promises durability; NORMAL loses the last commits in a power cut
  "busy_timeout = 5000",
  "foreign_keys = ON",
  "trusted_schema = OFF",
  "cache_size = -8192",
  ...(process.platform === "darwin" ? ["fullfsync = ON", "checkpoint_fullfsync = ON"] : []),
];

export function openDatabase(data_dir: string): Database {
  const db = new Database(join(data_dir, "db"), { strict: true, create: true });
  for (const pragma of PRAGMAS) db.run(`PRAGMA ${pragma}`);
  return db;
}

/** How many steps a database has taken. */
export const schemaOf = (db: Database): number =>
  db.query<{ user_version: number }, []>("PRAGMA user_version").get()!.user_version;

/** The newest schema that this program knows. */
export const SCHEMA = STEPS.length;

export function refuseNewer(schema: number): void {
  if (schema <= SCHEMA) return;
  throw new Error(
    `The database was written by a newer svc-server (schema ${schema}, this one knows ${SCHEMA}): run that version, or restore a backup.`,
  );
}

/** Brings the schema to the newest step, one transaction a step, so that a crash leaves a whole step or none. */
export function migrate(db: Database): void {
  const found = schemaOf(db);
  refuseNewer(found);
  STEPS.forEach((sql, index) => {
    if (index < found) return;
    db.transaction(() => {
      if (schemaOf(db) !== index) return;
      db.run(sql);
      db.run(`PRAGMA user_version = ${index + 1}`);
    }).immediate();
  });
}
