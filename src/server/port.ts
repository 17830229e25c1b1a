/** The moment after a kill -9: what was killed, or its workers, lets go of the port a little later. */
const RELEASE_MS = 1000;
const AGAIN_MS = 20;

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "EADDRINUSE";

/** What to do about it, where that is not the disk's business. */
const SENTENCES: Readonly<Record<string, (host: string, port: number) => string>> = {
  EACCES: (_, port) =>
    `This user may not listen on port ${port}: choose one from 1024 on, or give the program CAP_NET_BIND_SERVICE (the systemd unit in docs/self-hosting.md does).`,
  EADDRNOTAVAIL: (host) =>
    `The address ${host} is none of this machine's: set --host to one that is, or to 0.0.0.0 for all of them.`,
};

function sentenceOf(error: unknown, { host, port }: Address): unknown {
  const code = String((error as NodeJS.ErrnoException).code);
  return Object.hasOwn(SENTENCES, code) ? new Error(SENTENCES[code]!(host, port)) : error;
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
