/** Finds the places that have a quote's very words, and says how like the quote's the surroundings are there. Runs in
 *  browsers. */
import type { Quote } from "./quote.ts";
import { firstFrom, isInWord, lettersIn, quoteWords, type QuoteWords, type TextIndex } from "./words.ts";
import { align } from "./word-diff.ts";

/** A page may have a word a million times: only so many places are looked at, the nearest to the hint. */
const MOST = 20_000;
/** Only so many places are compared word by word: those with the longest equal surroundings. */
const LOOKED_AT = 12;

interface Occurrences {
  /** How many places were found, among those looked at. */
  count: number;
  /** The likeliest places. */
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

/** Whether the place cuts a word that the quote does not cut: the same letters inside a longer word are another text. */
function cutsWord(text: string, at: number, { exact, prefix, suffix }: Quote): boolean {
  const whole = prefix + exact + suffix;
  const end = at + exact.length;
  return (
    (isInWord(text, at) && !isInWord(whole, prefix.length)) ||
    (isInWord(text, end) && !isInWord(whole, prefix.length + exact.length))
  );
}

/** Whether the quote is at `at` with its whole prefix and suffix. */
export const isWhole = (text: string, at: number, quote: Quote): boolean =>
  at >= quote.prefix.length &&
  text.startsWith(quote.prefix + quote.exact + quote.suffix, at - quote.prefix.length) &&
  !cutsWord(text, at, quote);

interface RarestWord {
  word: number;
  places: Int32Array;
}

/** The passage's word with the fewest places: no other word needs a search. A word that only begins or ends in the passage
 *  does not count, for the quote may have cut it. Null if there is no other word. */
function rarest({ standing }: TextIndex, { ids, starts, ends, from, to, start, end }: Cut): RarestWord | null {
  let found: RarestWord | null = null;
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

/** The quote with its whole prefix and suffix: the best that can be found. */
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

/** The words of one side of a quote, counted from the passage. */
interface Context {
  ids: Int32Array;
  /** A weight for each word: the farther from the passage, the less. */
  weights: Float64Array;
  before: boolean;
}

/** Null if that side has no words. */
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

/** The share of `context` that is before (or after) `at`, in its order; near words count for more. */
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

/** A place where a quoted passage may be, and how like the quote it is. */
export interface Candidate {
  start: number;
  end: number;
  /** The likeness of the passage to the quote, 0 to 1. `before` and `behind` are the same for the text around it; null if the
   *  quote has no text on that side. */
  likeness: number;
  /** The share of the quote that is there, whatever was added. */
  kept: number;
  before: number | null;
  behind: number | null;
}

/** The farthest word counts for so much less than the word next to the passage. */
const FAR = 0.5;

/** The factor for the weight of the `nth` of `count` words, counted from the passage. */
export const nearness = (nth: number, count: number): number => 1 - (FAR * nth) / count;

/** A quote with its surroundings, cut into words. The words of the passage are `from` to `to`. */
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
