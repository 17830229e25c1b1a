/** A server on this machine: which names lead here, and how a connection finds it. */
import dns from "node:dns";

/** Whether a URL leads to this machine itself, whatever its name service says: no proxy can reach that. */
export const isLoopback = ({ hostname }: Pick<URL, "hostname">): boolean =>
  /^(.+\.)?localhost\.?$/.test(hostname) || /^127(\.\d+){3}$/.test(hostname) || hostname === "[::1]";

/** An option of `fetch`, so that HTTP_PROXY does not count for this machine itself; only Bun reads it. */
export const direct = (url: URL): { proxy?: false } => (isLoopback(url) ? { proxy: false } : {});

interface LookupOptions {
  all?: boolean;
}
type Answered = (error: NodeJS.ErrnoException | null, address?: unknown, family?: number) => void;
/** The function as `net` calls it. */
type Lookup = (name: string, options: LookupOptions, answered: Answered) => void;

const UNKNOWN = new Set(["ENOTFOUND", "EAI_AGAIN"]);
const LOOPBACK = { address: "127.0.0.1", family: 4 };

/** From now on connections of this process find `localhost` and the names below it on this machine (RFC 6761, 6.3). Bun knows
 *  this; Node asks the system, which may not: in a container without /etc/hosts, for one. */
export function knowLocalhost(): void {
  if (process.versions.bun !== undefined) return;
  const asked = dns.lookup as unknown as Lookup;
  const lookup: Lookup = (name, options, answered) =>
    asked(name, options, (error, ...found) => {
      const here = error !== null && UNKNOWN.has(error.code ?? "") && isLoopback({ hostname: name });
      if (!here) answered(error, ...(found as [unknown, number]));
      else if (options.all) answered(null, [LOOPBACK]);
      else answered(null, LOOPBACK.address, LOOPBACK.family);
    });
  dns.lookup = lookup as unknown as typeof dns.lookup;
}
