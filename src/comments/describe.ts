/** The quote of a passage: with as much around it as tells it from its likes, up to the end of a word. Runs in browsers. */
import type { Quote } from "./quote.ts";
import { isInWord } from "./matching/words.ts";

/** COMMENTS 2. */
const MOST = 64;

export function describe(text: string, start: number, end: number): Quote {
  let [from, to] = [Math.max(0, start - MOST), Math.min(text.length, end + MOST)];
  while (from < start && isInWord(text, from)) from++;
  while (to > end && isInWord(text, to)) to--;
  return { exact: text.slice(start, end), prefix: text.slice(from, start), suffix: text.slice(end, to) };
}
