/** How long an upload is judged: in processor time, as whoever runs the pipeline measures it, so that a loaded machine
 *  changes nothing. A stage asks wherever hostile input could have it go on and on. */

/** Milliseconds for the abuse scan and the receipt together: six times what ten megabytes of honest pages take. */
export const JUDGING_MS = 2000;

/** Thrown where the time is up. */
export class Spent extends Error {}

export interface Budget {
  /** Between things of any size: files, fields. */
  check(): void;
  /** Between small ones, of which there may be a million: looks at the time now and then. */
  step(): void;
}

export const NO_LIMIT: Budget = { check() {}, step() {} };

/** The same budget, until it is released: for a last few things, whose number is bounded, it has no limit. */
export function releasable(budget: Budget): Budget & { release(): void } {
  let limit = budget;
  return {
    check: () => limit.check(),
    step: () => limit.step(),
    release: () => void (limit = NO_LIMIT),
  };
}

const STEPS = 128;

/** `cpu`: milliseconds of processor time that were spent so far. */
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
