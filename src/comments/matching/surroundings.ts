/** How much of what stood at a passage's side stands at another place. Runs in browsers. */
import { align } from "./align.ts";
import { nearness } from "./candidate.ts";
import { quoteWords, type TextIndex } from "./text-index.ts";
import { firstFrom } from "./words.ts";

/** Words of one side of a quote, from the passage on. */
export interface Context {
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
