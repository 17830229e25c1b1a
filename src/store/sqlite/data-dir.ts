/** A data directory that is ready, opened: its database, its blobs, and the counter that tells of changes. */
import type { Database } from "bun:sqlite";
import { dropBallast } from "../disk/ballast.ts";
import { blobIsThere, putBlobs } from "../disk/blobs.ts";
import { diskRefusal } from "../refusals.ts";
import type { BlobPlace, Parts } from "../sql/parts.ts";
import { databaseWatch, reopenDatabase } from "./database.ts";
import { sqliteDb } from "./driver.ts";
import { type Counter, openGeneration } from "./generation.ts";

export interface DataDir extends Parts {
  data_dir: string;
  /** For what only SQLite has. */
  sqlite: Database;
  generation: Counter;
  close(): void;
}

const blobPlace = (data_dir: string): BlobPlace => ({
  async put({ blobs }) {
    try {
      await putBlobs(data_dir, blobs);
    } catch (error) {
      throw diskRefusal(error);
    }
  },
  *allThere(manifest) {
    return manifest.every(({ sha256, bytes }) => blobIsThere(data_dir, sha256, bytes));
  },
  makeRoom: () => dropBallast(data_dir),
});

/** `watch`: for a process that serves pages. */
export function openDataDir(data_dir: string, now: () => number, watch = false): DataDir {
  const sqlite = reopenDatabase(data_dir);
  const generation = openGeneration(data_dir, sqlite, watch);
  return {
    data_dir,
    now,
    sqlite,
    generation,
    db: sqliteDb(sqlite, generation.advance, databaseWatch(data_dir)),
    place: blobPlace(data_dir),
    close() {
      generation.close();
      sqlite.close();
    },
  };
}
