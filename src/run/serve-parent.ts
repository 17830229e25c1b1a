/** A child's side of src/run/child.ts: it obeys the server that started it alone, dies with it, and comes behind it. */
import { dlopen } from "bun:ffi";
import { readdirSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** When memory runs out, the kernel ends a child and not the server. */
function volunteerToDie(name: string): void {
  try {
    writeFileSync("/proc/self/oom_score_adj", "1000");
    writeFileSync("/proc/self/comm", name);
  } catch {
    // no Linux
  }
}

/** Calls `onMessage` with the server's messages. Signals that reach the whole group (Ctrl-C, a service manager's stop) are left to
 *  the server, which ends this process. `name` is what process lists show, at most 15 bytes. */
export function serveParent<To>(name: string, onMessage: (message: To) => unknown): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  process.on("disconnect", () => process.exit());
  dieWithParent(true);
  if (!process.connected) process.exit(); // it ended before the kernel was asked
  volunteerToDie(name);
  process.on("message", onMessage);
}

const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;

type Prctl = (option: number, value: number, ...unused: number[]) => number;

function openPrctl(): Prctl {
  try {
    const whole = { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" } as const;
    return dlopen("libc.so.6", { prctl: whole }).symbols.prctl as Prctl;
  } catch {
    return () => -1; // another system, or another libc: the channel must do
  }
}

let prctl: Prctl | undefined;

/** Sets whether the kernel ends this process at once when its parent ends. The channel that closes then is heard only between two
 *  steps; while the process hangs in one, Linux alone can end it. */
export function dieWithParent(at_once: boolean): void {
  prctl ??= openPrctl();
  prctl(PR_SET_PDEATHSIG, at_once ? SIGKILL : 0, 0, 0, 0);
}

function threads(): number[] {
  try {
    return readdirSync("/proc/self/task").map(Number);
  } catch {
    return [process.pid]; // another system: the process has one
  }
}

/** Puts all threads of this process `nice` values behind the server's own. When a thread at the server's value wants the same
 *  core, 5 leaves a quarter of it and 10 a tenth. On Linux each thread has its own value and hands it on to threads it starts. */
export function lowerPriority(nice: number): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, Math.min(19, getPriority(thread) + nice));
    } catch {} // it has ended, or it runs as it is
  }
}
