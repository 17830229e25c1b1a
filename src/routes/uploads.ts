/** How many uploads one client address may have under way: a few slow ones must not take all there is (CONTRACT 4.1). */
import { Refusal } from "../errors.ts";

const PER_ADDRESS = 16;

/** `hold` counts an upload of the client's network and returns what ends it. Throws 503 past the bound. */
export function uploadsInFlight() {
  const counts = new Map<string, number>();
  return {
    hold(network: string): () => void {
      const count = counts.get(network) ?? 0;
      if (count >= PER_ADDRESS) {
        throw new Refusal(
          "unavailable",
          `Your address already has ${PER_ADDRESS} uploads under way. Wait until one of them is done.`,
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
