/** How many deploys run at once. Who comes when all slots are taken waits in line, but not for ever. */
import { Refusal } from "../errors.ts";

export interface Slots {
  /** Resolves with the function that gives the slot back. Throws `unavailable` after `wait_ms`, or once closed. */
  take(): Promise<() => void>;
  /** Refuses those who wait and all who come. */
  close(): void;
}

interface Waiting {
  enter(): void;
  refuse(): void;
}

const unavailable = (): Refusal =>
  new Refusal(
    "unavailable",
    "The server is busy with other deploys. Try again in a moment.",
    {},
    { "retry-after": "1" },
  );

export function createSlots(count: number, wait_ms: number): Slots {
  const line = new Set<Waiting>();
  let free = count;
  let closed = false;

  function release(): void {
    const [next] = line;
    if (next) next.enter();
    else free++;
  }

  /** The slot goes from hand to hand: one that is given back while others wait is never free for a newcomer. */
  function wait(): Promise<() => void> {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const leave = (settle: () => void) => () => {
      clearTimeout(timer);
      line.delete(waiting);
      settle();
    };
    const waiting = { enter: leave(() => resolve(release)), refuse: leave(() => reject(unavailable())) };
    const timer = setTimeout(waiting.refuse, wait_ms);
    line.add(waiting);
    return promise;
  }

  return {
    async take() {
      if (closed) throw unavailable();
      if (free === 0) return wait();
      free--;
      return release;
    },
    close() {
      closed = true;
      for (const waiting of [...line]) waiting.refuse();
    },
  };
}
