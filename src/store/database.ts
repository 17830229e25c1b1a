/** One connection to `DATA/db`, as RELIABILITY.md 2 wants it, and the numbered steps that bring its schema up to date. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import schema1 from "./schema-1.sql" with { type: "text" };
import schema2 from "./schema-2.sql" with { type: "text" };

/** Step n brings `user_version` from n-1 to n. A step that was released never changes. */
const STEPS: readonly string[] = [schema1, schema2];

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

const userVersion = (db: Database): number =>
  db.query<{ user_version: number }, []>("PRAGMA user_version").get()!.user_version;

/** Brings the schema to the newest step, one transaction a step, so that a crash leaves a whole step or none. */
export function migrate(db: Database): void {
  const found = userVersion(db);
  if (found > STEPS.length) {
    throw new Error(
      `The database was written by a newer svc-server (schema ${found}, this one knows ${STEPS.length}): run that version, or restore a backup.`,
    );
  }
  STEPS.forEach((sql, index) => {
    if (index < found) return;
    db.transaction(() => {
      if (userVersion(db) !== index) return;
      db.run(sql);
      db.run(`PRAGMA user_version = ${index + 1}`);
    }).immediate();
  });
}
