/** `localhost` and the names below it are this machine (RFC 6761, 6.3). Bun knows; Node asks the system, and a container
 *  without /etc/hosts, or a system whose name service has no such rule, does not. */
import dns from "node:dns";
import { isLoopback } from "../../client/loopback.ts";

interface Options {
  all?: boolean;
}
type Answered = (error: NodeJS.ErrnoException | null, address?: unknown, family?: number) => void;
/** As `net` calls it. */
type Lookup = (name: string, options: Options, answered: Answered) => void;

const UNKNOWN = new Set(["ENOTFOUND", "EAI_AGAIN"]);
const LOOPBACK = { address: "127.0.0.1", family: 4 };

/** From now on connections of this process go there where the system knows no better. */
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
