/** Pages come before what a child does: on Linux each thread has a nice value of its own, and those to come take over that
 *  of the thread that starts them. */
import { readdirSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

function threads(): number[] {
  try {
    return readdirSync("/proc/self/task").map(Number);
  } catch {
    return [process.pid]; // another system: the process has one
  }
}

/** `nice`: how far behind the server, whatever that was started with. Beside a thread that wants the same core 5 leaves a
 *  quarter of it, 10 a tenth. */
export function lowerPriority(nice: number): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, Math.min(19, getPriority(thread) + nice));
    } catch {} // it has ended, or it runs as it is
  }
}
