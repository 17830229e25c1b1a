/** What a passage is called by in a comment's anchor (a TextQuoteSelector). Runs in browsers. */

import { isInWord } from "./words.ts";

export interface Quote {
  exact: string;
  /** What stands before and behind the passage: 64 characters at most. */
  prefix: string;
  suffix: string;
}

/** The quote of a passage: with as much around it as tells it from its likes, up to the end of a word. Runs in browsers. */

/** COMMENTS 2. */
const MOST = 64;

/** Of a word that is longer than that, a part: some writings have no spaces in a sentence. */
export function describe(text: string, start: number, end: number): Quote {
  const [least, most] = [Math.max(0, start - MOST), Math.min(text.length, end + MOST)];
  let [from, to] = [least, most];
  while (from < start && isInWord(text, from)) from++;
  while (to > end && isInWord(text, to)) to--;
  const prefix = text.slice(from === start ? least : from, start);
  return { exact: text.slice(start, end), prefix, suffix: text.slice(end, to === end ? most : to) };
}
