/** What the kernel says of a process, and the disk of its write-ahead log. Linux alone. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

export const MB = 1024 * 1024;

/** Resident bytes now. */
export function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) * 1024;
}

export const descriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

const hex = (port: number): string => `:${port.toString(16).toUpperCase().padStart(4, "0")}`;

/** Whether some process still holds the server's end of the connection that comes from this port. */
export function isHeld(server_port: number, client_port: number): boolean {
  const line = readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .map((one) => one.trim().split(/\s+/))
    .find(([, local = "", remote = ""]) => local.endsWith(hex(server_port)) && remote.endsWith(hex(client_port)));
  return line !== undefined && line[9] !== "0"; // the inode
}

export const walBytes = (data_dir: string): number =>
  statSync(join(data_dir, "db-wal"), { throwIfNoEntry: false })?.size ?? 0;

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;

/** Waits for it, and throws `what` where it does not come in time. */
export async function within(ms: number, what: string, holds: () => boolean): Promise<number> {
  const started = performance.now();
  while (!holds()) {
    if (performance.now() - started > ms) throw new Error(`not within ${ms / 1000} s: ${what}`);
    await Bun.sleep(100);
  }
  return performance.now() - started;
}

/** On a terminal alone, on one line. */
export const progress = (text: string): void => void (process.stderr.isTTY && process.stderr.write(`\r${text}   `));
