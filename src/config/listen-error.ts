/** What to do where a socket cannot be had, as far as that is the operator's to mend. */
const SENTENCES: Readonly<Record<string, (host: string, port: number) => string>> = {
  EACCES: (_, port) =>
    `This user may not listen on port ${port}: choose one from 1024 on, or give the program CAP_NET_BIND_SERVICE (the systemd unit in docs/self-hosting.md does).`,
  EADDRNOTAVAIL: (host) =>
    `The address ${host} is none of this machine's: set --host to one that is, or to 0.0.0.0 for all of them.`,
};

/** A sentence, or null where the error is another one. */
export function listenError(error: unknown, { host, port }: { host: string; port: number }): string | null {
  const code = String((error as NodeJS.ErrnoException).code);
  return Object.hasOwn(SENTENCES, code) ? SENTENCES[code]!(host, port) : null;
}
