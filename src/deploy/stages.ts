/** How long each stage of a deploy took, by the pipeline's own words for where it is. */
import type { Progress } from "../base/types.ts";

interface Stages {
  at: Progress;
  /** Whole milliseconds by stage, in the order in which they began; ends the one that runs. */
  times(): Record<string, number>;
}

/** `clock` in milliseconds. */
export function measureStages(clock: () => number): Stages {
  const spent = new Map<string, number>();
  let running: string | null = null;
  let since = clock();
  const end = (next: string | null) => {
    const now = clock();
    if (running !== null) spent.set(running, (spent.get(running) ?? 0) + now - since);
    [running, since] = [next, now];
  };
  return {
    at(stage) {
      if (stage !== running) end(stage);
    },
    times() {
      end(null);
      return Object.fromEntries([...spent].map(([stage, ms]) => [stage, Math.round(ms)]));
    },
  };
}
