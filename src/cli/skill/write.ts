/** Writes into the file that is there, so that its mode, its owner and every link to it stay. */
import { closeSync, fsyncSync, ftruncateSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { Failure } from "../failure.ts";
import type { Change } from "./plan.ts";

function open(location: string, isNew: boolean): number {
  if (!isNew) return openSync(location, "r+");
  mkdirSync(dirname(location), { recursive: true });
  return openSync(location, "wx");
}

function write({ location, bytes, status }: Change): void {
  const descriptor = open(location, status === "written");
  try {
    // Written over, then cut to length: a crash between the two loses no byte of the new content.
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at, bytes.length - at, at);
    ftruncateSync(descriptor, bytes.length);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function writeChange(change: Change): void {
  if (change.status === "unchanged") return;
  try {
    write(change);
  } catch (error) {
    throw new Failure("not_written", `${change.file} could not be written: ${(error as Error).message}`);
  }
}
