/** How much one client may have under way, and all together: a few slow uploads must take neither all places nor the
 *  disk, nor a loop of rollbacks all turns of the thread of writes (CONTRACT 4.1). */
import { Refusal } from "../../base/errors.ts";
import { customerOf, networkOf } from "../../http/context.ts";

/** Of a network, of each kind: uploads, and whatever is no GET, a quarter of the writes that may wait (store/writer.ts). */
const MOST = { uploads: 16, requests: 64 };
/** Of bytes, as times the largest body: those of one customer; all, from where on who has some gets no more; all. */
const MOST_BYTES = { customer: 16, shared: 24, all: 48 };

const refusal = (sentence: string): Refusal => new Refusal("unavailable", sentence, {}, { "retry-after": "1" });

/** Sums by name; what is zero is forgotten. */
function sums() {
  const by_name = new Map<string, number>();
  const of = (name: string): number => by_name.get(name) ?? 0;
  return {
    of,
    add(name: string, amount: number): void {
      const sum = of(name) + amount;
      if (sum === 0) by_name.delete(name);
      else by_name.set(name, sum);
    },
  };
}

/** `hold` counts one of the client's, of so many bytes, and returns what ends it. Throws 503 past a bound. */
export function inFlight(what: keyof typeof MOST, largest = Infinity) {
  const [counts, bytes_of] = [sums(), sums()];
  let all = 0;

  function refusePast(network: string, customer: string, bytes: number): void {
    if (counts.of(network) >= MOST[what]) {
      throw refusal(`Your address already has ${MOST[what]} ${what} under way. Wait until one of them is done.`);
    }
    const own = bytes_of.of(customer);
    const most = (times: number) => times * largest;
    if (own + bytes > most(MOST_BYTES.customer) || all + bytes > most(own > 0 ? MOST_BYTES.shared : MOST_BYTES.all)) {
      throw refusal("The server has as many uploads under way as it has room for. Try again in a moment.");
    }
  }
  return {
    /** Of all that is under way. */
    bytes: () => all,
    hold(address: string, bytes = 0): () => void {
      const [network, customer] = [networkOf(address), customerOf(address)];
      refusePast(network, customer, bytes);
      const count = (sign: 1 | -1): void => {
        counts.add(network, sign);
        bytes_of.add(customer, sign * bytes);
        all += sign * bytes;
      };
      count(1);
      return () => count(-1);
    },
  };
}
