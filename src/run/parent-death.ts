/** No deploy's process outlives its server. A channel that closes tells it, but only between two steps; while it hangs in
 *  one, Linux alone can end it, when it was asked to beforehand. */
import { dlopen } from "bun:ffi";

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

/** Whether the kernel ends this process at once when its parent ends. */
export function dieWithParent(at_once: boolean): void {
  prctl ??= openPrctl();
  prctl(PR_SET_PDEATHSIG, at_once ? SIGKILL : 0, 0, 0, 0);
}
