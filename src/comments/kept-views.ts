/** Keeps what lists of comments were written out as, for the next request of the same (RELIABILITY A27): the fullest page takes
 *  20 ms to read and write out, and most visitors of a popular page see the same. A key names everything that a text is made
 *  of, so none grows old. What is long is also counted by who asks, for even a kept text takes its time to be sent. */
import { Refusal } from "../base/errors.ts";
import type { Bytes } from "../base/types.ts";
import { UNIT_MS } from "../base/units.ts";

/** The state of all that a viewer may see of a page. */
interface Standing {
  /** Larger after each change of it. */
  stamp: number;
  /** True if something there is the viewer's own. */
  own: boolean;
}

export interface KeptViews {
  /** The pieces of a text: what differs each time goes between them. */
  find(key: string): readonly Bytes[] | undefined;
  keep(key: string, pieces: readonly Bytes[]): void;
  /** The standing at the site's change `no`: as it was noted, or as `look` finds it. */
  standing(key: string, no: number, look: () => Promise<Standing>): Promise<Standing>;
  /** Throws 429 if the customer has read so much that others would wait for it. */
  refuseGreedy(customer: string): Promise<void>;
  /** `built`: it was not kept, and took many times as long. */
  countRead(customer: string, bytes: number, built: boolean): void;
}

const MOST_BYTES = 32 * 1024 * 1024;
/** The largest share of the whole for one text: else one page would push out all others. */
const SHARE = 1 / 8;
const MOST_STANDINGS = 10_000;

/** Shorter ones take no longer than other answers. */
const LONG_BYTES = 64 * 1024;
const BUILT_TIMES = 8;
/** The most that a customer reads of long lists in a window: about a hundredth of the serving thread's time. */
const READ = { bytes: 64 * 1024 * 1024, ms: 10 * UNIT_MS.s };

/** An entry takes these bytes beside its text. Without them the lists of pages that nobody commented on would cost nothing, and
 *  an app has any number of pages. */
const ENTRY = 512;

const costOf = (key: string, pieces: readonly Bytes[]): number =>
  pieces.reduce((sum, { byteLength }) => sum + byteLength, 2 * key.length + ENTRY);

/** A refusal comes so late: else those who ask for the next one at once would take as much of the thread as readers do. */
const REFUSED_AFTER_MS = 1000;

function greedy(ms: number): Refusal {
  const wait = Math.max(1, Math.ceil(ms / UNIT_MS.s));
  const why = `Your network has read very much of these comments: wait ${wait} seconds and try again.`;
  return new Refusal("rate_limited", why, { retry_after: wait }, { "retry-after": String(wait) });
}

/** Counts the bytes that customers read, by fixed windows. */
function createReads(now: () => number): Pick<KeptViews, "refuseGreedy" | "countRead"> {
  const read = new Map<string, number>();
  let begun = now();
  /** The time until the window ends. */
  function left(): number {
    const past = now() - begun;
    if (past >= 0 && past < READ.ms) return READ.ms - past;
    read.clear();
    begun = now();
    return READ.ms;
  }
  return {
    async refuseGreedy(customer) {
      const ms = left();
      if ((read.get(customer) ?? 0) < READ.bytes) return;
      await Bun.sleep(REFUSED_AFTER_MS);
      throw greedy(ms);
    },
    countRead(customer, bytes, built) {
      if (bytes > LONG_BYTES) read.set(customer, (read.get(customer) ?? 0) + bytes * (built ? BUILT_TIMES : 1));
    },
  };
}

/** Standings by the last change of the site that they were seen at: a look goes through all comments of the page. */
function createStandings(): Pick<KeptViews, "standing"> {
  const seen = new Map<string, Standing & { no: number }>();
  return {
    async standing(key, no, look) {
      const before = seen.get(key);
      if (before?.no === no) return before;
      const standing = { no, ...(await look()) };
      seen.delete(key);
      seen.set(key, standing);
      if (seen.size > MOST_STANDINGS) seen.delete(seen.keys().next().value!);
      return standing;
    },
  };
}

export function createKeptViews(now: () => number): KeptViews {
  const kept = new Map<string, readonly Bytes[]>();
  let bytes = 0;
  const drop = (key: string): void => {
    bytes -= costOf(key, kept.get(key)!);
    kept.delete(key);
  };
  return {
    ...createReads(now),
    ...createStandings(),
    find(key) {
      const pieces = kept.get(key);
      if (pieces === undefined) return undefined;
      kept.delete(key);
      kept.set(key, pieces); // the last to go
      return pieces;
    },
    keep(key, pieces) {
      const cost = costOf(key, pieces);
      if (kept.has(key) || cost > MOST_BYTES * SHARE) return;
      kept.set(key, pieces);
      bytes += cost;
      while (bytes > MOST_BYTES) drop(kept.keys().next().value!);
    },
  };
}
