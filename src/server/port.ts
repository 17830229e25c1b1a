/** The moment after a kill -9: what was killed, or its workers, lets go of the port a little later. */
const RELEASE_MS = 1000;
const AGAIN_MS = 20;

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "EADDRINUSE";

/** Throws as `listen` does where the port is taken for longer than a second. */
export async function listenPatiently<T>(listen: () => T): Promise<T> {
  const last = performance.now() + RELEASE_MS;
  for (;;) {
    try {
      return listen();
    } catch (error) {
      if (!isTaken(error) || performance.now() > last) throw error;
      await Bun.sleep(AGAIN_MS);
    }
  }
}
