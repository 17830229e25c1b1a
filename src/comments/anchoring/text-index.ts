/** The index of a page's text: made once for all quotes that are looked for in it. Runs in browsers. */
import { growing, type Vocabulary, weightAt, weightOf, type Words, wordsOf } from "./words.ts";

export interface TextIndex {
  readonly text: string;
  readonly words: Words;
  readonly vocabulary: Vocabulary;
  /** The weight of each word, by its number. */
  readonly weights: Float64Array;
  /** The places of a word, by its number: counts of words before it, ascending. */
  standing(id: number): Int32Array;
}

/** The words of a quote by the index's numbers: a word that the text does not have has a negative number. */
export interface QuoteWords extends Words {
  readonly weights: Float64Array;
}

function build(text: string): TextIndex {
  const vocabulary: Vocabulary = new Map();
  const words = wordsOf(text, growing(vocabulary));
  const weights = Float64Array.from(vocabulary.keys(), weightOf);
  return { text, words, vocabulary, weights, standing: standingOf(words, vocabulary.size) };
}

/** All places in one array, sorted by word. */
function standingOf({ ids, count }: Words, size: number): (id: number) => Int32Array {
  const ends = new Int32Array(size);
  for (let at = 0; at < count; at++) ends[ids[at]!]!++;
  for (let id = 1; id < size; id++) ends[id]! += ends[id - 1]!;
  const places = new Int32Array(count);
  const starts = ends.slice();
  for (let at = count - 1; at >= 0; at--) places[--starts[ids[at]!]!] = at;
  return (id) => places.subarray(starts[id], ends[id]);
}

/** Quotes of one text are looked for one after the other, so the last index is kept. */
let last: TextIndex | null = null;

export const indexOf = (text: string): TextIndex => (last?.text === text ? last : (last = build(text)));

export function quoteWords({ vocabulary }: TextIndex, quote: string): QuoteWords {
  const unknown: Vocabulary = new Map();
  const words = wordsOf(quote, (word) => vocabulary.get(word) ?? -1 - growing(unknown)(word));
  const weights = Float64Array.from(words.starts, (start, i) => weightAt(quote, start, words.ends[i]!));
  return { ...words, weights };
}
