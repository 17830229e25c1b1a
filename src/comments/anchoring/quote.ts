/** The quote of a passage, which a comment's anchor has as its TextQuoteSelector. Runs in browsers. */
import { isInWord } from "./words.ts";

export interface Quote {
  exact: string;
  /** The text before and after the passage: at most 64 characters each. */
  prefix: string;
  suffix: string;
}

/** COMMENTS 2. */
const MOST = 64;

/** Quotes the passage from `start` to `end` with whole words around it. A word that is longer than the limit is cut: some
 *  scripts have no spaces in a sentence. */
export function describe(text: string, start: number, end: number): Quote {
  const [least, most] = [Math.max(0, start - MOST), Math.min(text.length, end + MOST)];
  let [from, to] = [least, most];
  while (from < start && isInWord(text, from)) from++;
  while (to > end && isInWord(text, to)) to--;
  const prefix = text.slice(from === start ? least : from, start);
  return { exact: text.slice(start, end), prefix, suffix: text.slice(end, to === end ? most : to) };
}
