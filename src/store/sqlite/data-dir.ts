/** A prepared data directory, opened: its database, its blobs, and the counter of changes. */
import type { Database } from "bun:sqlite";
import { diskRoom } from "../disk/room.ts";
import { blobFiles, putBlobs } from "../disk/blobs.ts";
import { diskRefusal } from "../refusals.ts";
import type { BlobPlace, Backend } from "../operation.ts";
import { databaseFile } from "./database.ts";
import { sqliteDb } from "./driver.ts";
import { type Counter, openGeneration } from "./generation.ts";

export interface DataDir extends Backend {
  data_dir: string;
  /** For statements that only SQLite has. */
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
    return manifest.every(({ sha256, bytes }) => blobFiles.isThere(data_dir, sha256, bytes));
  },
  makeRoom: () => diskRoom.drop(data_dir),
});

interface Opening {
  /** For a process that serves pages. */
  watch?: boolean;
  /** Nothing is written by this connection: an attempt throws. */
  reads_only?: boolean;
  /** How long a write waits for the lock while the thread goes on; without it SQLite waits, and the thread with it. */
  patience_ms?: number;
}

export function openDataDir(data_dir: string, now: () => number, opening: Opening = {}): DataDir {
  const { watch = false, reads_only = false, patience_ms } = opening;
  const sqlite = databaseFile.reopen(data_dir);
  if (reads_only) sqlite.run("PRAGMA query_only = ON");
  const generation = openGeneration(data_dir, sqlite, watch);
  return {
    data_dir,
    now,
    sqlite,
    generation,
    db: sqliteDb(sqlite, generation.advance, { lost: databaseFile.watch(data_dir), patience_ms }),
    place: blobPlace(data_dir),
    close() {
      generation.close();
      sqlite.close();
    },
  };
}
