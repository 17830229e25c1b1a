/** At most so many at once; others wait their turn, and not for ever. */

/** `width` at once; who has waited `wait_ms` gets `late()` thrown. First come, first served. */
export function gate(width: number, wait_ms: number, late: () => Error): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];

  function turn(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = setTimeout(() => {
      waiting.splice(waiting.indexOf(admit), 1);
      reject(late());
    }, wait_ms);
    const admit = () => {
      clearTimeout(giveUp);
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
