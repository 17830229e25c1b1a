/** A quote cut into words with its surroundings. Runs in browsers. */
import type { Quote } from "../quote.ts";
import { type QuoteWords, quoteWords, type TextIndex } from "./text-index.ts";

/** The words of the passage itself are `from` to `to`. */
export interface Cut extends QuoteWords {
  readonly source: string;
  readonly from: number;
  readonly to: number;
  /** Offsets of the passage in `source`. */
  readonly start: number;
  readonly end: number;
}

export function cut(index: TextIndex, { exact, prefix, suffix }: Quote): Cut {
  const source = prefix + exact + suffix;
  const [start, end] = [prefix.length, prefix.length + exact.length];
  const words = quoteWords(index, source);
  let from = 0;
  while (from < words.count && words.ends[from]! <= start) from++;
  let to = from;
  while (to < words.count && words.starts[to]! < end) to++;
  return { ...words, source, from, to, start, end };
}
