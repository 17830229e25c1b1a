/** Where a text holds a quote's very words, with how like the quote's the surroundings are. Runs in browsers. */

import type { Quote } from "./quote.ts";
import { quoteWords, type QuoteWords, type TextIndex } from "./text-index.ts";
import { align } from "./word-diff.ts";
import { firstFrom, isInWord, lettersIn } from "./words.ts";

/** A page may hold a word a million times: so many places of it are looked at, those nearest the hint. */
const MOST = 20_000;
/** Those whose surroundings are equal for longest are looked at closer. */
const LOOKED_AT = 12;

interface Occurrences {
  /** How often the text holds it, as far as was looked. */
  count: number;
  /** The likeliest. */
  best: Candidate[];
}

function equalBefore(text: string, at: number, prefix: string): number {
  let length = 0;
  while (length < prefix.length && text.charCodeAt(at - 1 - length) === prefix.charCodeAt(prefix.length - 1 - length)) {
    length++;
  }
  return length;
}

function equalBehind(text: string, at: number, suffix: string): number {
  let length = 0;
  while (length < suffix.length && text.charCodeAt(at + length) === suffix.charCodeAt(length)) length++;
  return length;
}

/** The same text inside a word is another one, unless the quote began or ended in one, too. */
function cutsWord(text: string, at: number, { exact, prefix, suffix }: Quote): boolean {
  const whole = prefix + exact + suffix;
  const end = at + exact.length;
  return (
    (isInWord(text, at) && !isInWord(whole, prefix.length)) ||
    (isInWord(text, end) && !isInWord(whole, prefix.length + exact.length))
  );
}

/** Whether the quote stands at `at` with all that stood around it. */
export const isWhole = (text: string, at: number, quote: Quote): boolean =>
  at >= quote.prefix.length &&
  text.startsWith(quote.prefix + quote.exact + quote.suffix, at - quote.prefix.length) &&
  !cutsWord(text, at, quote);

interface Standing {
  word: number;
  places: Int32Array;
}

/** The passage's word that stands at the fewest places: all other words need not be looked for. A word that only begins or
 *  ends in the passage says nothing: the surroundings may have cut it, or the text may part what the quote has in one. Null
 *  where there is no other. */
function rarest({ standing }: TextIndex, { ids, starts, ends, from, to, start, end }: Cut): Standing | null {
  let found: Standing | null = null;
  for (let word = from; word < to; word++) {
    if (starts[word]! < start || ends[word]! > end) continue;
    const places = ids[word]! < 0 ? NOWHERE : standing(ids[word]!);
    if (found === null || places.length < found.places.length) found = { word, places };
  }
  return found;
}
const NOWHERE = new Int32Array();

function nearest(places: Int32Array, words: TextIndex["words"], hint: number): Int32Array {
  if (places.length <= MOST) return places;
  const middle = firstFrom(places, firstFrom(words.starts, hint));
  const from = Math.max(0, Math.min(middle - (MOST >> 1), places.length - MOST));
  return places.subarray(from, from + MOST);
}

function* placesOf(index: TextIndex, { exact }: Quote, words: Cut, hint: number): Generator<number> {
  const found = rarest(index, words);
  if (found === null) return yield* lettersIn(index.text, exact);
  const offset = words.start - words.starts[found.word]!;
  for (const place of nearest(found.places, index.words, hint)) {
    const at = index.words.starts[place]! + offset;
    if (at >= 0 && index.text.startsWith(exact, at)) yield at;
  }
}

const startsOf = (index: TextIndex, quote: Quote, hint: number): number[] =>
  [...placesOf(index, quote, cut(index, quote), hint)].filter((at) => !cutsWord(index.text, at, quote));

export function occurrences(index: TextIndex, quote: Quote, hint: number): Occurrences {
  const { text } = index;
  const { exact, prefix, suffix } = quote;
  const places = startsOf(index, quote, hint).map((at) => ({
    at,
    equal: equalBefore(text, at, prefix) + equalBehind(text, at + exact.length, suffix),
  }));
  const sorted = places.toSorted((a, b) => b.equal - a.equal || Math.abs(a.at - hint) - Math.abs(b.at - hint));
  const [first] = sorted;
  if (first?.equal === prefix.length + suffix.length) return { count: places.length, best: [whole(first.at, quote)] };
  const judge = judging(index, quote);
  return { count: places.length, best: sorted.slice(0, LOOKED_AT).map(({ at }) => judge(at)) };
}

/** With all that stood around it: as good as can be. */
const whole = (start: number, { exact, prefix, suffix }: Quote): Candidate => ({
  start,
  end: start + exact.length,
  likeness: 1,
  kept: 1,
  before: prefix.trim() === "" ? null : 1,
  behind: suffix.trim() === "" ? null : 1,
});

function judging(index: TextIndex, { exact, prefix, suffix }: Quote): (start: number) => Candidate {
  const [leading, following] = [contextOf(index, prefix, true), contextOf(index, suffix, false)];
  const side = (context: Context | null, at: number, equal: number, length: number): number | null =>
    context && Math.max(equal / length, equal === length ? 1 : surroundings(index, context, at));
  return (start) => {
    const end = start + exact.length;
    const [before, behind] = [equalBefore(index.text, start, prefix), equalBehind(index.text, end, suffix)];
    return {
      start,
      end,
      likeness: 1,
      kept: 1,
      before: side(leading, start, before, prefix.length),
      behind: side(following, end, behind, suffix.length),
    };
  };
}

/** How much of what stood at a passage's side stands at another place. Runs in browsers. */

/** Words of one side of a quote, from the passage on. */
interface Context {
  ids: Int32Array;
  /** Of each word, less the farther it is. */
  weights: Float64Array;
  before: boolean;
}

/** Null where there is nothing to compare. */
export function contextOf(index: TextIndex, text: string, before: boolean): Context | null {
  const { count, ids, weights } = quoteWords(index, text);
  if (count === 0) return null;
  const own = before ? weights.toReversed() : weights;
  return {
    ids: before ? ids.toReversed() : ids,
    weights: own.map((weight, i) => weight * nearness(i, count)),
    before,
  };
}

/** Of `context` at `at` (before it, or behind): words in their order, the near ones for more. */
export function surroundings({ words, weights }: TextIndex, context: Context, at: number): number {
  const count = context.ids.length;
  const reach = count + (count >> 1) + 6;
  const edge = firstFrom(words.starts, at);
  const ids = context.before
    ? words.ids.slice(Math.max(0, edge - reach), edge).reverse()
    : words.ids.subarray(edge, edge + reach);
  const theirs = { ids, weights: Float64Array.from(ids, (id) => weights[id]!) };
  return shareOf(context.weights, align(context, theirs, false, none));
}

const none = (): number => 0;

function shareOf(weights: Float64Array, meets: Int32Array): number {
  let [met, all] = [0, 0];
  for (let i = 0; i < weights.length; i++) {
    all += weights[i]!;
    if (meets[i]! >= 0) met += weights[i]!;
  }
  return met / all;
}

/** A place where a quoted passage may be, and how like the quote it is. Runs in browsers. */

export interface Candidate {
  start: number;
  end: number;
  /** How like the quote the passage is, and how like the prefix and the suffix is what stands around it: 0 to 1, and null
   *  where the quote has none. */
  likeness: number;
  /** What of the quote is there, whatever else is there too. */
  kept: number;
  before: number | null;
  behind: number | null;
}

/** A word that stands at the passage's side says more than the farthest one, by this. */
const FAR = 0.5;

/** What the `nth` of `count` words, counted from the passage on, weighs of its own weight. */
export const nearness = (nth: number, count: number): number => 1 - (FAR * nth) / count;

/** A quote cut into words with its surroundings. Runs in browsers. */

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
