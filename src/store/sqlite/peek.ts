/** Facts of a data directory, read without changing a byte of it: also while its server runs. */
import { constants, Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ServerAddress } from "../upkeep.ts";

export interface Peeked {
  /** Null if no server ever started. */
  address: ServerAddress | null;
  /** The times of its last versions (ISO 8601), newest first. */
  deployed_at: string[];
}

const LAST = 10;

/** Opens the database read-only. With a running server its log is read, too; without one SQLite would make files of its own,
 *  so it is opened as one that nobody writes. */
function openUnchanged(path: string): Database {
  const beside_server = existsSync(`${path}-wal`) && existsSync(`${path}-shm`);
  const mode = beside_server ? "mode=ro" : "immutable=1";
  const url = `file:${encodeURI(path).replace(/[?#]/g, encodeURIComponent)}?${mode}`;
  return new Database(url, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
}

/** Null if there is no database that can be read. */
export function peekDataDir(data_dir: string): Peeked | null {
  const path = join(data_dir, "db");
  if (!existsSync(path)) return null;
  try {
    using db = openUnchanged(path);
    const address = db.query<ServerAddress, []>("select base_url, sites_domain from address").get();
    const rows = db
      .query<{ created_at: string }, [number]>("select created_at from versions order by version_no desc limit ?")
      .all(LAST);
    return { address, deployed_at: rows.map(({ created_at }) => created_at) };
  } catch {
    return null; // damaged, or of a version that keeps none of it: verify is for that
  }
}

/** Whether a server has the data directory: it holds this lock as long as it runs. */
export function isServed(data_dir: string): boolean {
  const path = join(data_dir, "lock.db");
  if (!existsSync(path)) return false;
  try {
    using db = new Database(path, { readonly: true });
    db.query("select 1 from sqlite_schema").get();
    return false;
  } catch (error) {
    return (error as { code?: unknown }).code === "SQLITE_BUSY";
  }
}
