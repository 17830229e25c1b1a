/** A text cut into words, for comparing texts word by word, and the index of a page's words. Runs in browsers. */

/** The words of a text: letters and digits in a row, or one sign. A character of a script without spaces is a word. */
export interface Words {
  readonly count: number;
  /** Offsets of each word in the whole text. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** Equal words of one vocabulary have equal numbers. */
  readonly ids: Int32Array;
}

/** Word → its number. */
export type Vocabulary = Map<string, number>;

const [SPACE, LETTER, SIGN, PAIR] = [0, 1, 2, 3];

/** Scripts that are written without spaces: South-East Asian ones, kana, CJK, and full-width forms. */
const isUnspaced = (code: number): boolean =>
  (code >= 0x0e00 && code <= 0x0eff) ||
  (code >= 0x1000 && code <= 0x109f) ||
  (code >= 0x1780 && code <= 0x17ff) ||
  (code >= 0x2e80 && code <= 0xa4cf) ||
  (code >= 0xf900 && code <= 0xfaff) ||
  (code >= 0xff00 && code <= 0xffef);

/** Signs of Latin-1, separators of Tibetan syllables and Ethiopic words, general punctuation, arrows and drawings. */
const isSign = (code: number): boolean =>
  (code < 0xc0 && code !== 0xaa && code !== 0xba) ||
  (code >= 0x0f04 && code <= 0x0f14) ||
  (code >= 0x1361 && code <= 0x1368) ||
  code >> 12 === 2;

function classify(code: number): number {
  if (code <= 32 || code === 0xa0) return SPACE;
  if (code < 0x80) {
    const letter = code | 32;
    return (letter >= 97 && letter <= 122) || (code >= 48 && code <= 57) || code === 95 ? LETTER : SIGN;
  }
  if (code >= 0xd800 && code < 0xdc00) return PAIR;
  return isSign(code) || isUnspaced(code) ? SIGN : LETTER;
}

/** Classes of the most common characters, computed once. */
const COMMON = Uint8Array.from({ length: 0x250 }, (_, code) => classify(code));
const classOf = (code: number): number => (code < 0x250 ? COMMON[code]! : classify(code));

/** The weight of a word in a comparison: signs have little, long words more; a character that is a word by itself
 *  (COMMENTS 3) counts as three letters. */
function weightAt(text: string, start: number, end: number): number {
  if (end - start > 1) return Math.min(end - start, 8);
  return text.charCodeAt(start) < 0x2e80 ? 1 : 3;
}
export const weightOf = (word: string): number => weightAt(word, 0, word.length);

function wordEnd(text: string, at: number, to: number, kind: number): number {
  if (kind === PAIR) return Math.min(at + 2, to);
  let end = at + 1;
  if (kind === LETTER) while (end < to && classOf(text.charCodeAt(end)) === LETTER) end++;
  return end;
}

/** Cuts `text` into words, each with the number that `numberOf` gives it. */
export function wordsOf(text: string, numberOf: (word: string) => number): Words {
  const [starts, ends, ids]: [number[], number[], number[]] = [[], [], []];
  for (let at = 0; at < text.length;) {
    const kind = classOf(text.charCodeAt(at));
    if (kind === SPACE) {
      at++;
      continue;
    }
    const end = wordEnd(text, at, text.length, kind);
    starts.push(at);
    ends.push(end);
    ids.push(numberOf(text.slice(at, end)));
    at = end;
  }
  return { count: ids.length, starts: Int32Array.from(starts), ends: Int32Array.from(ends), ids: Int32Array.from(ids) };
}

/** Gives each new word the next number. */
export const growing =
  (vocabulary: Vocabulary): ((word: string) => number) =>
  (word) => {
    const known = vocabulary.get(word);
    if (known !== undefined) return known;
    vocabulary.set(word, vocabulary.size);
    return vocabulary.size - 1;
  };

/** Whether a word goes on across `at`. */
export const isInWord = (text: string, at: number): boolean =>
  at > 0 && at < text.length && classOf(text.charCodeAt(at - 1)) === LETTER && classOf(text.charCodeAt(at)) === LETTER;

/** The first of ascending `places` that is `at` or behind it. */
export function firstFrom(places: Int32Array, at: number): number {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The search looks for so many characters first: in a text that is nearly the same all over, `indexOf` with a long needle
 *  takes seconds. */
const BEGINNING = 16;
/** The most places of that beginning that are tried. */
const MOST = 2000;

/** Yields the offsets of `sought` in `text`, whatever words they cut. */
export function* lettersIn(text: string, sought: string): Generator<number> {
  const beginning = sought.slice(0, BEGINNING);
  let at = text.indexOf(beginning);
  for (let left = MOST; at >= 0 && left > 0; left--) {
    if (text.startsWith(sought, at)) yield at;
    at = text.indexOf(beginning, at + 1);
  }
}

const LEAST = 0.6;
const SHORTEST = 4;
/** An unequal word never counts as much as an equal one. */
const NEVER_WHOLE = 0.8;

/** The likeness of two words that differ in one place, such as their ending: `a` from `from` to `to`, `b` from `start` to
 *  `end`. Either 0, or 0.48 to 0.8. */
export function wordLikeness(a: string, from: number, to: number, b: string, start: number, end: number): number {
  const longest = Math.max(to - from, end - start);
  const most = Math.min(to - from, end - start);
  if (longest < SHORTEST || most < LEAST * longest) return 0;
  let head = 0;
  while (head < most && a.charCodeAt(from + head) === b.charCodeAt(start + head)) head++;
  let tail = 0;
  while (tail < most - head && a.charCodeAt(to - 1 - tail) === b.charCodeAt(end - 1 - tail)) tail++;
  const share = (head + tail) / longest;
  return share < LEAST ? 0 : share * NEVER_WHOLE;
}

// The index of a page's text is made once for all quotes that are looked for in it.

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
