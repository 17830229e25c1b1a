/** At most so many at once; others wait their turn, first come, first served. */

/** How long anybody waits, and what is thrown then, or once the gate is closed. */
interface Patience {
  ms: number;
  late: () => Error;
}

interface Gate {
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Refuses those who wait and all who come. */
  close(): void;
}

interface Waiting {
  enter(): void;
  refuse(): void;
}

/** `width` at once; without `patience` the others wait as long as it takes. */
export function createGate(width: number, patience?: Patience): Gate {
  const line = new Set<Waiting>();
  let free = width;
  let closed = false;
  const refusal = () => patience?.late() ?? new Error("nobody is let in any more");

  function turn(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leaveLine = (settle: () => void) => () => {
      clearTimeout(timer);
      line.delete(waiting);
      settle();
    };
    const waiting = { enter: leaveLine(resolve), refuse: leaveLine(() => reject(refusal())) };
    const timer = patience && setTimeout(waiting.refuse, patience.ms);
    line.add(waiting);
    return promise;
  }

  return {
    async run(work) {
      if (closed) throw refusal();
      if (free > 0) free--;
      else await turn();
      try {
        return await work();
      } finally {
        // The place goes to whoever waits longest; a newcomer never finds it free before that.
        const [next] = line;
        if (next) next.enter();
        else free++;
      }
    },
    close() {
      closed = true;
      for (const waiting of [...line]) waiting.refuse();
    },
  };
}
