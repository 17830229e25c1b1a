import { listenError } from "../../config/machine.ts";

/** The moment after a kill -9: what was killed, or its workers, lets go of the port a little later. */
const RELEASE_MS = 1000;
const AGAIN_MS = 20;

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "EADDRINUSE";

function sentenceOf(error: unknown, address: Address): unknown {
  const sentence = listenError(error, address);
  return sentence === null ? error : new Error(sentence);
}

interface Address {
  host: string;
  port: number;
}

/** Throws as `listen` does where the port is taken for longer than a second. */
export async function listenPatiently<T>(address: Address, listen: () => T): Promise<T> {
  const last = performance.now() + RELEASE_MS;
  for (;;) {
    try {
      return listen();
    } catch (error) {
      if (!isTaken(error) || performance.now() > last) throw sentenceOf(error, address);
      await Bun.sleep(AGAIN_MS);
    }
  }
}
