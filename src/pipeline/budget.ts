/** The time for judging an upload. It is processor time, measured by the caller of the pipeline, so that a loaded machine
 *  changes no result. A stage checks it in every loop that hostile input could make very long. */

/** Milliseconds for the abuse scan and the receipt together: six times what ten megabytes of honest pages take. */
export const JUDGING_MS = 2000;

/** Thrown when the time is over. */
export class Spent extends Error {}

export interface Budget {
  /** Checks the time. Called between things of any size, such as files. */
  check(): void;
  /** Checks the time now and then. Called between small things, of which there may be a million. */
  step(): void;
}

export const NO_LIMIT: Budget = { check() {}, step() {} };

/** The same budget, which has no limit any more after it is released: for a small, bounded number of last checks. */
export function releasable(budget: Budget): Budget & { release(): void } {
  let limit = budget;
  return {
    check: () => limit.check(),
    step: () => limit.step(),
    release: () => void (limit = NO_LIMIT),
  };
}

const STEPS = 128;

/** `cpu` returns the milliseconds of processor time that were spent so far. */
export function createBudget(cpu: (() => number) | undefined, ms = JUDGING_MS): Budget {
  if (!cpu) return NO_LIMIT;
  const end = cpu() + ms;
  let steps = 0;
  function check(): void {
    if (cpu!() > end) throw new Spent();
  }
  function step(): void {
    if (++steps % STEPS === 0) check();
  }
  return { check, step };
}
