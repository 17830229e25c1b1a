/** One number tells every process and thread that a site changed (ARCHITECTURE, idea 2). */
import type { Database } from "bun:sqlite";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { every } from "../../every.ts";
import type { Generation } from "../serving.ts";

export interface Counter extends Generation {
  /** After COMMIT and before the answer. */
  advance(): void;
  close(): void;
}

const fileOf = (data_dir: string): string => join(data_dir, "generation");
const PAGE = 4096; // the file gets its full size before it is mapped and never shrinks: else SIGBUS
const WATCH_MS = 100;

export function prepareGeneration(data_dir: string): void {
  if (!existsSync(fileOf(data_dir))) writeFileSync(fileOf(data_dir), new Uint8Array(PAGE), { mode: 0o600 });
}

/** `PRAGMA data_version` moves with every commit of another connection: it sees a writer that died before it could
 *  advance the page, and it is all there is where files cannot be mapped. */
function dataVersion(db: Database): () => number {
  const query = db.query<{ data_version: number }, []>("PRAGMA data_version");
  return () => query.get()!.data_version;
}

/** `watch`: for a process that serves; it asks the database ten times a second. */
export function openGeneration(data_dir: string, db: Database, watch: boolean): Counter {
  const committed = dataVersion(db);
  if (process.platform === "win32") {
    let own = 0;
    return { current: () => committed() + own, advance: () => void own++, close: () => {} };
  }
  const page = Bun.mmap(fileOf(data_dir), { shared: true });
  const counter = new Int32Array(page.buffer, page.byteOffset, 1);
  const advance = () => void Atomics.add(counter, 0, 1);
  let seen = committed();
  const look = () => {
    const now = committed();
    if (now !== seen) advance();
    seen = now;
  };
  // A database that cannot be asked may have changed.
  const timer = watch ? every(WATCH_MS, look, advance) : undefined;
  return { current: () => Atomics.load(counter, 0), advance, close: () => timer?.stop() };
}
