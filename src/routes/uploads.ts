/** How many requests one client's network may have under way: a few slow uploads must not take all there is, nor a loop of
 *  rollbacks all turns of the thread of writes (CONTRACT 4.1). */
import { Refusal } from "../errors.ts";

/** Of each kind: uploads, and whatever is no GET, a quarter of the writes that may wait (store/writer.ts). */
const MOST = { uploads: 16, requests: 64 };

/** `hold` counts one of the client's network and returns what ends it. Throws 503 past the bound. */
export function inFlight(what: keyof typeof MOST) {
  const counts = new Map<string, number>();
  return {
    hold(network: string): () => void {
      const count = counts.get(network) ?? 0;
      if (count >= MOST[what]) {
        throw new Refusal(
          "unavailable",
          `Your address already has ${MOST[what]} ${what} under way. Wait until one of them is done.`,
          {},
          { "retry-after": "1" },
        );
      }
      counts.set(network, count + 1);
      return () => {
        const left = counts.get(network)! - 1;
        if (left === 0) counts.delete(network);
        else counts.set(network, left);
      };
    },
  };
}
