/** How many connections a process takes: as many as its file descriptors allow. */
import { readFileSync } from "node:fs";

/** Descriptors that connections leave to files, the database and deploys. */
const KEPT_FREE = 256;

/** Descriptors that this process may have; null where nobody tells (Linux does). Bun lifts the soft limit to the hard
 *  one when it starts. */
export function allowedDescriptors(): number | null {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return limit === undefined ? null : Number(limit);
  } catch {
    return null;
  }
}

/** `wanted`: the setting. Null: they are not bounded. */
export function connectionsAllowed(wanted: number | null, descriptors = allowedDescriptors()): number | null {
  if (descriptors === null) return wanted;
  return Math.min(wanted ?? Infinity, Math.max(descriptors - KEPT_FREE, descriptors >> 1));
}
