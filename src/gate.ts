/** At most so many at once; others wait their turn, first come, first served. */

/** How long anybody waits, and what is thrown then. */
export interface Patience {
  ms: number;
  late: () => Error;
}

/** `width` at once; without `patience` the others wait as long as it takes. */
export function gate(width: number, patience?: Patience): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];

  function turn(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = ({ late }: Patience) => {
      waiting.splice(waiting.indexOf(admit), 1);
      reject(late());
    };
    const timer = patience && setTimeout(giveUp, patience.ms, patience);
    const admit = () => {
      clearTimeout(timer);
      resolve();
    };
    waiting.push(admit);
    return promise;
  }

  return async (work) => {
    // Who leaves hands its place to the first that waits, so `running` does not change between the two.
    if (running < width) running++;
    else await turn();
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
