/** `fetch` that finds a server on this machine. */
import { direct } from "./loopback.ts";

/** What stands for localhost where it is known as ::1 alone. */
const IPV4 = "127.0.0.1";

/** Node 18 tries the first address of a name alone: where localhost is ::1, it misses a server on 127.0.0.1. `init` is
 *  called anew for each try: a body is read once. */
export async function localFetch(address: string, init: () => RequestInit): Promise<Response> {
  const url = new URL(address);
  const first = fetch(url, { ...init(), ...direct(url) });
  if (url.hostname !== "localhost") return first;
  return first.catch((error: unknown) => {
    if ((error as { cause?: { code?: string } }).cause?.code !== "ECONNREFUSED") throw error;
    url.hostname = IPV4;
    return fetch(url, { ...init(), ...direct(url) });
  });
}
