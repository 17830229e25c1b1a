/** A small JSON file that several CLIs may change at once, holds secrets, and must not be lost to a broken write. */
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
  fsyncSync,
} from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../failure.ts";
import { sleepSync } from "../sleep-sync.ts";

/** A lock older than this belongs to a process that was killed: a change takes milliseconds. */
const STALE_MS = 2_000;
const PATIENCE_MS = 10_000;

/** The parsed content; null where there is no file. Throws where it is not JSON. */
export function readShared(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, "")) as unknown;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return null;
    throw error;
  }
}

function isStale(lock: string): boolean {
  try {
    return Date.now() - statSync(lock).mtimeMs > STALE_MS;
  } catch {
    return false;
  }
}

/** The lock is also the file's next content, as in Git. The process that could create it may write. */
function openLock(lock: string): number {
  for (const started = Date.now(); ; sleepSync(10)) {
    try {
      return openSync(lock, "wx", 0o600);
    } catch (error) {
      if (codeOf(error) !== "EEXIST" || Date.now() - started > PATIENCE_MS) throw error;
      if (isStale(lock)) rmSync(lock, { force: true });
    }
  }
}

/** Windows refuses to replace a file while another program has it open; a CLI has it open for milliseconds. */
function replace(from: string, to: string): void {
  for (let tries = 0; ; tries++) {
    try {
      return renameSync(from, to);
    } catch (error) {
      if (tries === 20 || !["EPERM", "EACCES", "EBUSY"].includes(codeOf(error) ?? "")) throw error;
      sleepSync(10);
    }
  }
}

/** Reads, changes and replaces the file as one step. All of it is synchronous, so Ctrl-C comes before or after it. */
export function changeShared(file: string, change: () => unknown): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const lock = `${file}.lock`;
  const descriptor = openLock(lock);
  try {
    writeSync(descriptor, `${JSON.stringify(change(), null, 2)}\n`);
    fsyncSync(descriptor);
    closeSync(descriptor);
    replace(lock, file);
  } catch (error) {
    rmSync(lock, { force: true });
    throw error;
  }
}
