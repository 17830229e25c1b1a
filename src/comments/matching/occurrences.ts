/** Where a text holds a quote's very words, with how like the quote's the surroundings are. Runs in browsers. */
import { align } from "./align.ts";
import type { Quote } from "../quote.ts";
import { type Candidate, nearness } from "./candidate.ts";
import { quoteWords, type TextIndex } from "./text-index.ts";
import { firstFrom, isInWord } from "./words.ts";

/** A page may hold a word a million times. */
const MOST = 20_000;
/** Those whose surroundings are equal for longest are looked at closer. */
const LOOKED_AT = 12;

interface Occurrences {
  /** How often the text holds it; at most 20,000 are counted. */
  count: number;
  /** The likeliest. */
  best: Candidate[];
}

function equalBefore(text: string, at: number, prefix: string): number {
  let length = 0;
  while (length < prefix.length && text[at - 1 - length] === prefix[prefix.length - 1 - length]) length++;
  return length;
}

function equalBehind(text: string, at: number, suffix: string): number {
  let length = 0;
  while (length < suffix.length && text[at + length] === suffix[length]) length++;
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

function* placesOf(text: string, quote: Quote): Generator<number> {
  let at = text.indexOf(quote.exact);
  for (let count = 0; at >= 0 && count < MOST; count++) {
    if (!cutsWord(text, at, quote)) yield at;
    at = text.indexOf(quote.exact, at + 1);
  }
}

export function occurrences(index: TextIndex, quote: Quote, hint: number): Occurrences {
  const { text } = index;
  const { exact, prefix, suffix } = quote;
  const places = Array.from(placesOf(text, quote), (at) => ({
    at,
    equal: equalBefore(text, at, prefix) + equalBehind(text, at + exact.length, suffix),
  }));
  const best = places
    .toSorted((a, b) => b.equal - a.equal || Math.abs(a.at - hint) - Math.abs(b.at - hint))
    .slice(0, LOOKED_AT);
  return { count: places.length, best: best.map(({ at }) => candidateAt(index, quote, at)) };
}

function candidateAt(index: TextIndex, { exact, prefix, suffix }: Quote, start: number): Candidate {
  const end = start + exact.length;
  const before = surroundings(index, prefix, start, true);
  const behind = surroundings(index, suffix, end, false);
  return {
    start,
    end,
    likeness: 1,
    before: before === null ? null : Math.max(before, equalBefore(index.text, start, prefix) / prefix.length),
    behind: behind === null ? null : Math.max(behind, equalBehind(index.text, end, suffix) / suffix.length),
  };
}

/** How much of `context` stands at `at` (before it, or behind): words in their order, the near ones for more. Null where
 *  there is nothing to compare. */
export function surroundings(index: TextIndex, context: string, at: number, before: boolean): number | null {
  const { count, ids, weights } = quoteWords(index, context);
  if (count === 0) return null;
  const { words } = index;
  const reach = count + (count >> 1) + 6;
  const edge = firstFrom(words.starts, at);
  const theirs = before
    ? words.ids.slice(Math.max(0, edge - reach), edge).reverse()
    : words.ids.slice(edge, edge + reach);
  const own = before ? weights.toReversed() : weights;
  const near = own.map((weight, i) => weight * nearness(i, count));
  const row = { ids: before ? ids.toReversed() : ids, weights: near };
  const meets = align(
    row,
    { ids: theirs, weights: Float64Array.from(theirs, (id) => index.weights[id]!) },
    false,
    none,
  );
  return shareOf(near, meets);
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
