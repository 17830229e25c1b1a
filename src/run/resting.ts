/** Children between two jobs, each for `idle_ms` at most. */

interface Resting {
  alive(): boolean;
  close(): Promise<void>;
}

interface RestingChildren<T> {
  /** The one that rested least, so that a quiet server keeps one warm; else a new one. */
  take(): T;
  giveBack(child: T): void;
  close(): Promise<unknown>;
}

export function restingChildren<T extends Resting>(startOne: () => T, idle_ms: number): RestingChildren<T> {
  const resting = new Map<T, Timer>();
  function wake(child: T): void {
    clearTimeout(resting.get(child));
    resting.delete(child);
  }
  return {
    take() {
      for (const child of [...resting.keys()].toReversed()) {
        wake(child);
        if (child.alive()) return child;
      }
      return startOne();
    },
    giveBack(child) {
      if (!child.alive()) return;
      const leave = () => {
        wake(child);
        void child.close();
      };
      resting.set(child, setTimeout(leave, idle_ms).unref());
    },
    close: () =>
      Promise.all(
        [...resting.keys()].map((child) => {
          wake(child);
          return child.close();
        }),
      ),
  };
}
