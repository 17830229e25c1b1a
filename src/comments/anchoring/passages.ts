/** Finds passages that are like a quote: stretches that share most words with it, and in them the words between those that
 *  match its prefix and those that match its suffix. Runs in browsers. */
import { type Candidate, type Cut, cut, nearness } from "./occurrences.ts";
import type { Quote } from "./quote.ts";
import { type TextIndex, wordLikeness } from "./words.ts";
import { align } from "./word-diff.ts";

/** The share of the quote's weight that a stretch must have to be compared. */
const LEAST_SHARE = 0.3;
/** The most cells of all tables together: about 10 ms. */
const MOST_CELLS = 800_000;
const MOST_STRETCHES = 5;

/** The ends of the stretches of `width` words that share most with the quote, the best first; no two overlap. */
function stretches({ words, weights }: TextIndex, quote: Cut, width: number): number[] {
  const needed = new Int32Array(weights.length);
  let total = 0;
  for (let i = 0; i < quote.count; i++) {
    total += quote.weights[i]!;
    if (quote.ids[i]! >= 0) needed[quote.ids[i]!]!++;
  }
  let shared = 0;
  const peaks: { at: number; shared: number }[] = [];
  // `needed` less what the stretch holds: below 0 it has more of a word than the quote.
  for (let at = 0; at < words.count; at++) {
    const id = words.ids[at]!;
    if (needed[id]!-- > 0) shared += weights[id]!;
    const gone = at < width ? -1 : words.ids[at - width]!;
    if (gone >= 0 && needed[gone]!++ >= 0) shared -= weights[gone]!;
    if (shared < LEAST_SHARE * total) continue;
    const last = peaks.at(-1);
    if (!last || at - last.at >= width) peaks.push({ at, shared });
    else if (shared > last.shared) Object.assign(last, { at, shared });
  }
  return peaks.toSorted((a, b) => b.shared - a.shared).map(({ at }) => at);
}

export function passages(index: TextIndex, quote: Quote): Candidate[] {
  const words = cut(index, quote);
  if (words.from === words.to) return [];
  const width = words.count + Math.max(4, words.count >> 2);
  const cells = words.count * (width + (words.count >> 2) + 8);
  const most = Math.min(MOST_STRETCHES, Math.ceil(MOST_CELLS / cells));
  return stretches(index, words, width)
    .slice(0, most)
    .map((at) => passageIn(index, words, at + 1 - width, at + 1))
    .filter((candidate) => candidate !== null);
}

/** A stretch of the text aligned with the quote: for each word of the quote the word of the text that it matches, or -1, and
 *  the share of the word that this keeps. */
interface Aligned {
  meets: Int32Array;
  share(i: number): number;
}

function alignQuote({ text, words, weights }: TextIndex, quote: Cut, from: number, to: number): Aligned {
  const ids = words.ids.subarray(from, to);
  const like = (i: number, j: number): number =>
    wordLikeness(quote.source, quote.starts[i]!, quote.ends[i]!, text, words.starts[j]!, words.ends[j]!);
  const theirs = { ids, weights: Float64Array.from(ids, (id) => weights[id]!) };
  const meets = align(quote, theirs, true, (i, j) => like(i, from + j)).map((j) => (j < 0 ? j : from + j));
  return { meets, share: (i) => (words.ids[meets[i]!] === quote.ids[i] ? 1 : like(i, meets[i]!)) };
}

function passageIn(index: TextIndex, quote: Cut, first: number, behind: number): Candidate | null {
  const pad = 4 + (quote.count >> 3);
  const { words } = index;
  const found = alignQuote(index, quote, Math.max(0, first - pad), Math.min(words.count, behind + pad));
  const region = regionOf(found.meets, quote);
  if (region === null) return null;
  const [from, to] = region;
  let theirs = 0;
  for (let j = from; j <= to; j++) theirs += index.weights[words.ids[j]!]!;
  const own = sums(quote, found, [quote.from, quote.to], () => 1, region);
  return {
    ...offsets(index, quote, found.meets, from, to),
    likeness: (2 * own.met) / (own.all + theirs),
    kept: own.met / own.all,
    before: shareOf(sums(quote, found, [0, quote.from], (i) => nearness(quote.from - 1 - i, quote.from))),
    behind: shareOf(sums(quote, found, [quote.to, quote.count], (i) => nearness(i - quote.to, quote.count - quote.to))),
  };
}

/** The weight of the words `from` to `to`, and the part of it that matches words `least` to `most`. */
function sums(
  quote: Cut,
  { meets, share }: Aligned,
  [from, to]: readonly [number, number],
  near: (i: number) => number,
  [least, most]: readonly [number, number] = [0, Infinity],
) {
  let [met, all] = [0, 0];
  for (let i = from; i < to; i++) {
    const weight = quote.weights[i]! * near(i);
    all += weight;
    if (meets[i]! >= least && meets[i]! <= most) met += weight * share(i);
  }
  return { met, all };
}

const shareOf = ({ met, all }: { met: number; all: number }): number | null => (all === 0 ? null : met / all);

/** The most words between the first and the last word that is left of a passage: a word farther off is another place. */
const REACH = (words: number): number => 2 * words + 8;

/** The heaviest group of the passage's matched words that are close together: its first and its last word. Null if no word
 *  is matched. */
function together(meets: Int32Array, { from, to, weights }: Cut): [first: number, last: number] | null {
  const reach = REACH(to - from);
  let found: [number, number] | null = null;
  let [low, sum, most] = [from, 0, 0];
  for (let i = from; i < to; i++) {
    if (meets[i]! < 0) continue;
    sum += weights[i]!;
    for (; meets[low]! < 0 || meets[i]! - meets[low]! > reach; low++) if (meets[low]! >= 0) sum -= weights[low]!;
    if (sum > most) [most, found] = [sum, [low, i]];
  }
  return found;
}

/** The first and the last word of the text that make up the passage: the matches of its own words, and at its ends the words
 *  that replaced unmatched ones, unless they are more than those were. */
function regionOf(meets: Int32Array, quote: Cut): [from: number, to: number] | null {
  const { from, to } = quote;
  const met = together(meets, quote);
  if (met === null) return null;
  const [first, last] = met;
  let [start, end] = [meets[first]!, meets[last]!];
  const [before, behind] = [meets[from - 1] ?? -1, meets[to] ?? -1];
  if (first > from && before >= 0 && start - before - 1 <= first - from + 2) start = before + 1;
  if (last < to - 1 && behind >= 0 && behind - end - 1 <= to - last + 1) end = behind - 1;
  return [start, end];
}

/** The offsets of the words `from` to `to`. A passage may begin or end inside a word: so does the result if the word is the
 *  same. */
function offsets({ words }: TextIndex, quote: Cut, meets: Int32Array, from: number, to: number) {
  let [start, end] = [words.starts[from]!, words.ends[to]!];
  const isSame = (i: number, j: number): boolean => meets[i] === j && words.ids[j] === quote.ids[i];
  if (isSame(quote.from, from)) start += Math.max(0, quote.start - quote.starts[quote.from]!);
  if (isSame(quote.to - 1, to)) end -= Math.max(0, quote.ends[quote.to - 1]! - quote.end);
  return { start, end };
}
