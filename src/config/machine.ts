/** The limits that the machine sets a server: file descriptors for connections, memory for the cache, and an address to listen on. */
import { readFileSync } from "node:fs";
import { totalmem } from "node:os";

/** Descriptors that connections leave to files, the database and deploys. */
const KEPT_FREE = 256;

/** How many descriptors this process may have; null when the platform cannot tell (Linux does). Bun raises the soft limit
 *  to the hard one when it starts. */
export function allowedDescriptors(): number | null {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return limit === undefined ? null : Number(limit);
  } catch {
    return null;
  }
}

/** How many connections a process takes; null means no limit. `wanted` is the setting. */
export function connectionsAllowed(wanted: number | null, descriptors = allowedDescriptors()): number | null {
  if (descriptors === null) return wanted;
  return Math.min(wanted ?? Infinity, Math.max(descriptors - KEPT_FREE, descriptors >> 1));
}

const MB = 1024 * 1024;
const LEAST_CACHE = 16 * MB;
const MOST_CACHE = 112 * MB;
/** The rest is for requests under way, and for the processes of each server that build versions and code bodies. */
const CACHE_SHARE = 1 / 8;

/** The memory that this process and its children may have together: its cgroup's limit, if that is less than the machine has. */
const allowedMemory = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity);

/** How many bytes each of `processes` serving processes may keep in its cache. */
export const cacheBytes = (processes: number, memory = allowedMemory()): number =>
  Math.min(MOST_CACHE, Math.max(LEAST_CACHE, Math.floor((memory * CACHE_SHARE) / processes)));

const LISTEN_SENTENCES: Readonly<Record<string, (host: string, port: number) => string>> = {
  EACCES: (_, port) =>
    `This user may not listen on port ${port}: choose one from 1024 on, or give the program CAP_NET_BIND_SERVICE (the systemd unit in docs/server-in-ten-minutes.md does).`,
  EADDRNOTAVAIL: (host) =>
    `The address ${host} is none of this machine's: set --host to one that is, or to 0.0.0.0 for all of them.`,
};

/** A sentence for an error of listening that the operator can mend; null for any other error. */
export function listenError(error: unknown, { host, port }: { host: string; port: number }): string | null {
  const code = String((error as NodeJS.ErrnoException).code);
  return Object.hasOwn(LISTEN_SENTENCES, code) ? LISTEN_SENTENCES[code]!(host, port) : null;
}

/** Listens for a moment. Returns the error if that fails. */
export function tryToListen(hostname: string, port: number): NodeJS.ErrnoException | null {
  try {
    Bun.listen({ hostname, port, socket: { data() {} } }).stop(true);
    return null;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}
