/** The quote of a passage: with as much around it as tells it from its likes, up to the end of a word. Runs in browsers. */
import type { Quote } from "./quote.ts";
import { isInWord } from "./matching/words.ts";

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
