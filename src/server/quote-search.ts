/** Looks for quotes in stored pages, in threads of their own: a large page takes seconds, and no other page may wait for
 *  that. Small pages have a thread to themselves, so that a comment on one waits for no large one either. */
import { createGate, type FairnessKey } from "../run/gate.ts";
import { CallLost, callThread, threadUrl } from "../run/thread.ts";
import type { Quote } from "../store/notes.ts";
import type { StoreAddress } from "../store/index.ts";
import type { Stored } from "../store/versions.ts";
import type { FoundQuote, QuoteSearchOrder } from "./quote-search-thread.ts";

/** Bytes of a page: the worst of them takes some 50 ms. Most pages are smaller. */
const SMALL = 128 << 10;
/** A larger page is not looked through: as when its comments are carried to another version. */
const LARGEST = 8 << 20;
/** For one search, whatever else the machine does meanwhile. */
const DEADLINE_MS = 2000;
/** A thread that takes longer to start, does not. */
const START_MS = 10_000;
/** No visitor waits longer for a turn. */
const WAIT_MS = 5000;
/** In all, then of a site, of a customer of a provider, of a network: a crowd of some sites leaves room for others. */
const MOST_WAITING = [1024, 16, 8, 4];
/** A page that took the whole deadline is left alone for so long, and so many of them: the machine was perhaps busy. */
const LEFT_ALONE_MS = 10 * 60_000;
const MOST_LEFT_ALONE = 1000;

export interface QuoteSearch {
  /** Null when it is not found, or not in time. `from` decides whose turn it is. */
  find(file: Stored, quote: Quote, from: FairnessKey): Promise<FoundQuote>;
  stop(): void;
}

/** A thread and the queue before it. It has one search at a time, so that one which takes too long ends only itself, and the
 *  thread with it. */
function openQuoteSearchQueue(address: StoreAddress) {
  const gate = createGate({ width: 1, ms: WAIT_MS, most: MOST_WAITING });
  const thread = callThread<QuoteSearchOrder, FoundQuote>(threadUrl("./src/server/quote-search-thread.ts"), address, {
    start_ms: START_MS,
    deadline_ms: DEADLINE_MS,
  });
  return {
    /** Null also when there was no turn for it, the page cannot be read, or the thread broke. `isWanted` is asked when its
     *  turn has come. */
    search: (order: QuoteSearchOrder, from: FairnessKey, isWanted: () => boolean): Promise<FoundQuote | "too long"> =>
      gate
        .run(async () => (isWanted() ? thread.call(order) : null), from)
        .catch((error: unknown) => (error instanceof CallLost && error.fate === "too late" ? "too long" : null)),
    stop() {
      gate.close();
      thread.end();
    },
  };
}

/** Contents that took too long lately; the oldest are forgotten first. */
function hangingPages() {
  const seen = new Map<string, number>();
  return {
    add(sha256: string): void {
      seen.delete(sha256);
      seen.set(sha256, performance.now());
      if (seen.size > MOST_LEFT_ALONE) seen.delete(seen.keys().next().value!);
    },
    has: (sha256: string): boolean => performance.now() - (seen.get(sha256) ?? -Infinity) < LEFT_ALONE_MS,
  };
}

export function startQuoteSearch(address: StoreAddress): QuoteSearch {
  const [small, large] = [openQuoteSearchQueue(address), openQuoteSearchQueue(address)];
  const hanging = hangingPages();
  return {
    async find({ sha256, bytes, blob_no }, quote, from) {
      const isWanted = () => !hanging.has(sha256);
      if (bytes > LARGEST || !isWanted()) return null;
      const queue = bytes <= SMALL ? small : large;
      const found = await queue.search({ file: { sha256, bytes, blob_no }, quote }, from, isWanted);
      if (found !== "too long") return found;
      hanging.add(sha256);
      return null;
    },
    stop() {
      small.stop();
      large.stop();
    },
  };
}
