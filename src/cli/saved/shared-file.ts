/** A small JSON file that several CLIs may change at once, holds secrets, and must not be lost to a broken write. */
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync, fsyncSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../failure.ts";
import { sleepSync } from "../sleep-sync.ts";
import { takeLock } from "./file-lock.ts";

/** The parsed content; null where there is no file. Throws where it is not JSON. */
export function readShared(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, "")) as unknown;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return null;
    throw error;
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

function writeWhole(file: string, text: string): void {
  const descriptor = openSync(file, "w", 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads, changes and replaces the file as one step. All of it is synchronous, so Ctrl-C comes before or after it. */
export function changeShared(file: string, change: () => unknown): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const next = `${file}.new`;
  const lock = takeLock(`${file}.lock`);
  try {
    writeWhole(next, `${JSON.stringify(change(), null, 2)}\n`);
    if (!lock.isHeld()) throw new Error(`${file} is being written by another svc; run the command again.`);
    replace(next, file);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  } finally {
    lock.release();
  }
}
