/** Keeps the last bodies of `threads` for the next request of the same: the fullest page takes 20 ms to read and write out, and
 *  most visitors of a popular page see the same. A key names everything that a body is made of, so no body grows old. */

export interface KeptViews {
  find(key: string): string | undefined;
  keep(key: string, text: string): void;
}

const MOST_BYTES = 8 * 1024 * 1024;
/** The largest share of the whole for one body: else one page would push out all others. */
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
