/** A memory cgroup of its own for one server: past its limit the kernel ends it. Needs Linux and root; version 1 or 2. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOTS = [
  {
    folder: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    peak: "memory.max_usage_in_bytes",
    events: "memory.oom_control",
  },
  { folder: "/sys/fs/cgroup", limit: "memory.max", peak: "memory.peak", events: "memory.events" },
];

export interface MemoryGroup extends Disposable {
  /** Puts a command into the group. */
  wrap(command: readonly string[]): string[];
  peakBytes(): number;
  /** How often the kernel ended a process of it. */
  kills(): number;
}

/** Null where there is none to be had. */
export function memoryGroup(bytes: number): MemoryGroup | null {
  for (const { folder, limit, peak, events } of ROOTS) {
    const own = join(folder, `svc-soak-${process.pid}`);
    try {
      mkdirSync(own);
      writeFileSync(join(own, limit), String(bytes));
    } catch {
      if (existsSync(own)) rmdirSync(own);
      continue;
    }
    const read = (file: string) => readFileSync(join(own, file), "utf8");
    return {
      wrap: (command) => ["sh", "-c", `echo $$ > ${own}/cgroup.procs && exec "$@"`, "sh", ...command],
      peakBytes: () => Number(existsSync(join(own, peak)) ? read(peak) : NaN),
      kills: () => Number(/oom_kill (\d+)/.exec(read(events))?.[1] ?? 0),
      [Symbol.dispose]: () => rmdirSync(own),
    };
  }
  return null;
}
