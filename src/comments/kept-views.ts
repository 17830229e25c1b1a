/** The last bodies of `threads`, for the next who asks for the same: a page as full as it may be takes 20 ms to read and
 *  write out, and of a page that many open at once most see the same. What a body is made of is in its key, so nothing here
 *  grows old. */

export interface KeptViews {
  find(key: string): string | undefined;
  keep(key: string, text: string): void;
}

const MOST_BYTES = 8 * 1024 * 1024;
/** Of the whole, at most: else one page would push out all others. */
const SHARE = 1 / 4;
const BYTES_EACH = 2;

const costOf = (text: string): number => text.length * BYTES_EACH;

export function createKeptViews(): KeptViews {
  const kept = new Map<string, string>();
  let bytes = 0;
  const drop = (key: string): void => {
    bytes -= costOf(kept.get(key)!);
    kept.delete(key);
  };
  return {
    find(key) {
      const text = kept.get(key);
      if (text === undefined) return undefined;
      kept.delete(key);
      kept.set(key, text); // the last to go
      return text;
    },
    keep(key, text) {
      if (kept.has(key) || costOf(text) > MOST_BYTES * SHARE) return;
      kept.set(key, text);
      bytes += costOf(text);
      while (bytes > MOST_BYTES) drop(kept.keys().next().value!);
    },
  };
}
