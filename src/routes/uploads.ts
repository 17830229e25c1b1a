/** Uploads under way: how many one client address may have, and what all of them may hold together. A few slow ones must
 *  take neither all places nor the memory (CONTRACT 4.1). */
import { Refusal } from "../errors.ts";
import { customerOf, networkOf } from "../http/client-address.ts";

const PER_ADDRESS = 16;
/** Of bytes, as times the largest zip: those of one customer; all, from where on who has some gets no more; all. */
const MOST = { customer: 16, shared: 24, all: 48 };

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

/** `hold` counts an upload of so many bytes, and returns what ends it. Throws 503 past a bound. */
export function uploadsInFlight(max_zip_bytes: number) {
  const [uploads, bytes_of] = [sums(), sums()];
  let all = 0;

  function refusePast(network: string, customer: string, bytes: number): void {
    if (uploads.of(network) >= PER_ADDRESS) {
      throw refusal(`Your address already has ${PER_ADDRESS} uploads under way. Wait until one of them is done.`);
    }
    const own = bytes_of.of(customer);
    const most = (times: number) => times * max_zip_bytes;
    if (own + bytes > most(MOST.customer) || all + bytes > most(own > 0 ? MOST.shared : MOST.all)) {
      throw refusal("The server has as many uploads under way as it has room for. Try again in a moment.");
    }
  }
  return {
    hold(address: string, bytes: number): () => void {
      const [network, customer] = [networkOf(address), customerOf(address)];
      refusePast(network, customer, bytes);
      const count = (sign: 1 | -1): void => {
        uploads.add(network, sign);
        bytes_of.add(customer, sign * bytes);
        all += sign * bytes;
      };
      count(1);
      return () => count(-1);
    },
  };
}
