/** What is made once of a page's text for all quotes that are looked for in it. Runs in browsers. */
import { growing, type Vocabulary, weightAt, weightOf, type Words, wordsOf } from "./words.ts";

export interface TextIndex {
  readonly text: string;
  readonly words: Words;
  readonly vocabulary: Vocabulary;
  /** By a word's number. */
  readonly weights: Float64Array;
  /** Where a word stands, by its number: places of words, ascending. */
  standing(id: number): Int32Array;
}

/** Words of a quote, as the index knows them: a word that the text lacks has a negative number. */
export interface QuoteWords extends Words {
  readonly weights: Float64Array;
}

function build(text: string): TextIndex {
  const vocabulary: Vocabulary = new Map();
  const words = wordsOf(text, growing(vocabulary));
  const weights = Float64Array.from(vocabulary.keys(), weightOf);
  return { text, words, vocabulary, weights, standing: standingOf(words, vocabulary.size) };
}

/** All places in one row, those of one word together. */
function standingOf({ ids, count }: Words, size: number): (id: number) => Int32Array {
  const ends = new Int32Array(size);
  for (let at = 0; at < count; at++) ends[ids[at]!]!++;
  for (let id = 1; id < size; id++) ends[id]! += ends[id - 1]!;
  const places = new Int32Array(count);
  const starts = ends.slice();
  for (let at = count - 1; at >= 0; at--) places[--starts[ids[at]!]!] = at;
  return (id) => places.subarray(starts[id], ends[id]);
}

/** Many quotes are looked for in one text after the other: the last one's index stays. */
let last: TextIndex | null = null;

export const indexOf = (text: string): TextIndex => (last?.text === text ? last : (last = build(text)));

export function quoteWords({ vocabulary }: TextIndex, quote: string): QuoteWords {
  const unknown: Vocabulary = new Map();
  const words = wordsOf(quote, (word) => vocabulary.get(word) ?? -1 - growing(unknown)(word));
  const weights = Float64Array.from(words.starts, (start, i) => weightAt(quote, start, words.ends[i]!));
  return { ...words, weights };
}
