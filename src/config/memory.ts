/** How much of the machine's memory serving may keep. */
import { totalmem } from "node:os";

const MB = 1024 * 1024;
const LEAST = 16 * MB;
const MOST = 112 * MB;
/** The rest is for what is under way, and for the processes that build and code beside each server. */
const SHARE = 1 / 8;

/** What this process and its children may have together: its cgroup's limit, where that is less than the machine has. */
const allowedMemory = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity);

/** Bytes, for each of so many processes that serve. */
export const cacheBytes = (processes: number, memory = allowedMemory()): number =>
  Math.min(MOST, Math.max(LEAST, Math.floor((memory * SHARE) / processes)));
