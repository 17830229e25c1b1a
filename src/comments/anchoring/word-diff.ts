/** Matches the words of an old text with those of a new one. The work is bounded: some words of very different texts stay
 *  unmatched. */
import { growing, type Vocabulary, weightOf, wordLikeness, type Words, wordsOf } from "./words.ts";

/** The first landmarks are rows of so many words that each text has once; then shorter rows. */
const LANDMARK = 4;
/** Cells of a table that aligns two stretches word by word, and of all such tables together: about 100 ms. */
const SMALL = 2500;
const MOST_CELLS = 8_000_000;
/** The fewest words of a moved stretch. */
const MOVED = 5;
/** Only so many places of a row of words are tried. */
const MOST_PLACES = 8;
/** Steps that looking for moved stretches may take. */
const MOST_STEPS = 4_000_000;

export interface WordDiff {
  readonly old: Words;
  readonly now: Words;
  /** The weight of each word, by its number. */
  readonly weights: Float64Array;
  /** For each old word the new word that it is or became, or -1. */
  readonly places: Int32Array;
  /** Whether old word `i` is equal to its new word; if not, it became that word. */
  isSame(i: number): boolean;
}

/** A stretch of the old text (`a` up to `a_end`) and one of the new text (`b` up to `b_end`), in words. */
interface Gap {
  a: number;
  a_end: number;
  b: number;
  b_end: number;
}

class Matching {
  readonly places: Int32Array;
  readonly taken: Uint8Array;
  private cells = MOST_CELLS;

  constructor(
    private readonly old: Text,
    private readonly now: Text,
    private readonly weights: Float64Array,
  ) {
    this.places = new Int32Array(old.count).fill(-1);
    this.taken = new Uint8Array(now.count);
  }

  private match(i: number, j: number): void {
    this.places[i] = j;
    this.taken[j] = 1;
  }

  /** No recursion: a page of equal words must not fill the stack. */
  all(): void {
    const gaps: (Gap & { length: number })[] = [
      { a: 0, a_end: this.old.count, b: 0, b_end: this.now.count, length: LANDMARK },
    ];
    for (let gap = gaps.pop(); gap; gap = gaps.pop()) {
      this.trim(gap);
      const [rows, columns] = [gap.a_end - gap.a, gap.b_end - gap.b];
      if (rows === 0 || columns === 0) continue;
      if (rows * columns <= SMALL) {
        this.beside(gap);
        continue;
      }
      const parts = this.apart(gap, gap.length);
      if (parts.length > 1) gaps.push(...parts.map((part) => ({ ...part, length: gap.length })));
      else if (gap.length > 1) gaps.push({ ...gap, length: gap.length >> 1 });
      else this.beside(gap);
    }
  }

  /** Matches equal words at both ends and takes them off. */
  private trim(gap: Gap): void {
    const [a, b] = [this.old.ids, this.now.ids];
    while (gap.a < gap.a_end && gap.b < gap.b_end && a[gap.a] === b[gap.b]) this.match(gap.a++, gap.b++);
    while (gap.a < gap.a_end && gap.b < gap.b_end && a[gap.a_end - 1] === b[gap.b_end - 1]) {
      this.match(--gap.a_end, --gap.b_end);
    }
  }

  /** The stretches between landmarks: rows of `length` words that each text has once, in the same order. */
  private apart(gap: Gap, length: number): Gap[] {
    const [first, second] = [
      rowsOf(this.old.ids, gap.a, gap.a_end, length),
      rowsOf(this.now.ids, gap.b, gap.b_end, length),
    ];
    const pairs: [number, number][] = [];
    for (const [row, i] of first) {
      const j = second.get(row);
      if (i >= 0 && j !== undefined && j >= 0 && this.isRow(i, j, length)) pairs.push([i, j]);
    }
    const parts: Gap[] = [];
    let { a, b } = gap;
    for (const [i, j] of ascending(pairs)) {
      if (i > a || j > b) parts.push({ a, a_end: Math.max(a, i), b, b_end: Math.max(b, j) });
      for (let n = 0; n < length; n++) if (i + n >= a && j + n >= b) this.match(i + n, j + n);
      [a, b] = [Math.max(a, i + length), Math.max(b, j + length)];
    }
    parts.push({ a, a_end: gap.a_end, b, b_end: gap.b_end });
    return a === gap.a ? [gap] : [...parts, { a: 0, a_end: 0, b: 0, b_end: 0 }];
  }

  private isRow(i: number, j: number, length: number): boolean {
    for (let n = 0; n < length; n++) if (this.old.ids[i + n] !== this.now.ids[j + n]) return false;
    return true;
  }

  private beside({ a, a_end, b, b_end }: Gap): void {
    const { old, now, weights } = this;
    this.cells -= (a_end - a) * (b_end - b);
    if (this.cells < 0) return;
    const rowOf = (ids: Int32Array) => ({ ids, weights: Float64Array.from(ids, (id) => weights[id]!) });
    const like = (i: number, j: number): number =>
      wordLikeness(old.text, old.starts[a + i]!, old.ends[a + i]!, now.text, now.starts[b + j]!, now.ends[b + j]!);
    const meets = align(rowOf(old.ids.subarray(a, a_end)), rowOf(now.ids.subarray(b, b_end)), false, like);
    meets.forEach((j, i) => {
      if (j >= 0) this.match(a + i, b + j);
    });
  }

  /** Matches stretches that have moved, the longest first. */
  moved(): void {
    this.taken.fill(0);
    for (const place of this.places) if (place >= 0) this.taken[place] = 1;
    for (const { i, j, length } of this.runs().toSorted((x, y) => y.length - x.length)) {
      for (let n = 0; n < length; n++) if (this.isFree(i + n, j + n)) this.match(i + n, j + n);
    }
  }

  private isFree(i: number, j: number): boolean {
    return this.places[i] === -1 && this.taken[j] === 0;
  }

  private runs(): { i: number; j: number; length: number }[] {
    const free = placesOf(this.now.ids, this.taken, MOVED);
    const runs: { i: number; j: number; length: number }[] = [];
    let steps = MOST_STEPS;
    for (let i = 0; i + MOVED <= this.old.count && steps > 0; i++) {
      steps--;
      if (this.places[i] !== -1) continue;
      const found = (free.get(hashOf(this.old.ids, i, MOVED)) ?? []).map((j) => ({ i, j, length: this.runAt(i, j) }));
      const best = found.toSorted((x, y) => y.length - x.length)[0];
      if (!best || best.length < MOVED) continue;
      runs.push(best);
      steps -= found.reduce((sum, { length }) => sum + length, 0);
      i += best.length - 1;
    }
    return runs;
  }

  private runAt(i: number, j: number): number {
    const [a, b] = [this.old.ids, this.now.ids];
    let length = 0;
    while (i + length < a.length && j + length < b.length && a[i + length] === b[j + length]) {
      if (!this.isFree(i + length, j + length)) break;
      length++;
    }
    return length;
  }
}

function hashOf(ids: Int32Array, at: number, length: number): number {
  let hash = 0;
  for (let n = 0; n < length; n++) hash = Math.imul(hash ^ ids[at + n]!, 0x9e3779b1) ^ (hash >>> 15);
  return hash;
}

/** The place of each row of `length` words, by the row's hash; -1 if there are two such rows. */
function rowsOf(ids: Int32Array, from: number, to: number, length: number): Map<number, number> {
  const rows = new Map<number, number>();
  for (let at = from; at + length <= to; at++) {
    const hash = hashOf(ids, at, length);
    rows.set(hash, rows.has(hash) ? -1 : at);
  }
  return rows;
}

/** The places of rows of `length` words without a matched word, by the row's hash. */
function placesOf(ids: Int32Array, taken: Uint8Array, length: number): Map<number, number[]> {
  const places = new Map<number, number[]>();
  let free = 0;
  for (let at = 0; at < ids.length; at++) {
    free = taken[at] ? 0 : free + 1;
    if (free < length) continue;
    const from = at + 1 - length;
    const hash = hashOf(ids, from, length);
    const known = places.get(hash);
    if (!known) places.set(hash, [from]);
    else if (known.length < MOST_PLACES) known.push(from);
  }
  return places;
}

/** The longest selection of pairs whose second numbers ascend, too (patience sorting). */
function ascending(pairs: readonly [number, number][]): [number, number][] {
  const tops: number[] = [];
  const before = new Int32Array(pairs.length);
  pairs.forEach(([, second], at) => {
    let [low, high] = [0, tops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[tops[middle]!]![1] < second) low = middle + 1;
      else high = middle;
    }
    before[at] = low === 0 ? -1 : tops[low - 1]!;
    tops[low] = at;
  });
  const found: [number, number][] = [];
  for (let at = tops.at(-1) ?? -1; at >= 0; at = before[at]!) found.push(pairs[at]!);
  return found.reverse();
}

export function diffWords(old_text: string, new_text: string): WordDiff {
  const vocabulary: Vocabulary = new Map();
  const old = wordsOf(old_text, growing(vocabulary));
  const now = wordsOf(new_text, growing(vocabulary));
  const weights = Float64Array.from(vocabulary.keys(), weightOf);
  const [before, after] = [
    { ...old, text: old_text },
    { ...now, text: new_text },
  ];
  const matching = new Matching(before, after, weights);
  matching.all();
  slideGone(before, matching.places);
  slideNew(after, matching.places);
  matching.moved();
  const { places } = matching;
  return { old, now, weights, places, isSame: (i) => old.ids[i] === now.ids[places[i]!] };
}

interface Text extends Words {
  readonly text: string;
}

// If rows of words are equal at their ends, a diff can name several stretches as the one that went: if "a b c" goes from
// "a b c a b d", it may as well be "c a b". The functions below choose the stretch that begins where a sentence begins.

/** The farthest that a stretch is slid, in words. */
const FARTHEST = 400;
const ENDS_SENTENCE = /[.!?:;。！？؟…]/;

/** How good a beginning word `at` is. */
function fitness({ text, starts, ends, count }: Text, at: number): number {
  if (at === 0) return 4;
  const end = ENDS_SENTENCE.test(text[ends[at - 1]! - 1]!) && starts[at] !== ends[at - 1] ? 2 : 0;
  const first = at < count ? text[starts[at]!]! : "";
  return end + (first !== first.toLowerCase() ? 1 : 0);
}

/** How far the stretch from `from` up to `to` may be slid, to the left as a negative number, so that it begins best. */
function bestSlide(words: Text, from: number, to: number, least: number, most: number): number {
  const { ids, count } = words;
  let [left, right] = [0, 0];
  while (left < Math.min(FARTHEST, least) && ids[from - left - 1] === ids[to - left - 1]) left++;
  while (right < Math.min(FARTHEST, most) && to + right < count && ids[from + right] === ids[to + right]) right++;
  let [best, fits] = [0, fitness(words, from)];
  for (let by = -left; by <= right; by++) {
    const fit = fitness(words, from + by);
    if (fit > fits) [best, fits] = [by, fit];
  }
  return best;
}

/** How many words before `i`, and from `i` on, match the words before `j`, and from `j` on, one by one. */
function meeting(places: Int32Array, i: number, j: number): [before: number, behind: number] {
  let [before, behind] = [0, 0];
  while (before < FARTHEST && i - before > 0 && places[i - before - 1] === j - before - 1) before++;
  while (behind < FARTHEST && i + behind < places.length && places[i + behind] === j + behind) behind++;
  return [before, behind];
}

/** Slides each stretch of the old text that went without a replacement. `places`: old word → new word, or -1. */
function slideGone(old: Text, places: Int32Array): void {
  for (let from = 0; from < old.count; from++) {
    if (places[from] !== -1) continue;
    let to = from;
    while (to < old.count && places[to] === -1) to++;
    const next = to < old.count ? places[to]! : -1;
    if (from > 0 && next >= 0 && places[from - 1] === next - 1) slideOne(old, places, from, to, next);
    from = to;
  }
}

function slideOne(old: Text, places: Int32Array, from: number, to: number, next: number): void {
  const [before] = meeting(places, from, next);
  const [, behind] = meeting(places, to, next);
  const by = bestSlide(old, from, to, before, behind);
  for (let n = 1; n <= -by; n++) [places[to - n], places[from - n]] = [places[from - n]!, -1];
  for (let n = 0; n < by; n++) [places[from + n], places[to + n]] = [places[to + n]!, -1];
}

/** Slides each stretch of the new text that came without replacing anything. */
function slideNew(now: Text, places: Int32Array): void {
  for (let i = 1; i < places.length; i++) {
    const [from, to] = [places[i - 1]! + 1, places[i]!];
    if (from === 0 || to - from < 1) continue;
    const [before] = meeting(places, i, from);
    const [, behind] = meeting(places, i, to);
    const by = bestSlide(now, from, to, before, behind);
    for (let n = 1; n <= -by; n++) places[i - n] = to - n;
    for (let n = 0; n < by; n++) places[i + n] = from + n;
    i += Math.max(0, by);
  }
}

/** The cost of a word that is passed over between matches, as a share of its weight: matches that are close together win over
 *  scattered ones. */
const SKIP = 0.12;

/** Ways into a cell. */
const [LEFT, UP, MEET] = [0, 1, 2];

interface WeightedWords {
  ids: ArrayLike<number>;
  weights: ArrayLike<number>;
}

/** Aligns two rows of words so that the most weight matches, in order (Needleman and Wunsch, J. Mol. Biol. 48, 1970): for each
 *  word of `a` the word of `b` that it matches, or -1. `like` is the share of its weight that a word of `a` keeps if it
 *  matches an unequal one. Words of `b` before the first match cost nothing if `free_start`; words after the last match never
 *  cost. */
export function align(
  a: WeightedWords,
  b: WeightedWords,
  free_start: boolean,
  like: (i: number, j: number) => number,
): Int32Array {
  const [rows, columns] = [a.ids.length, b.ids.length];
  const ways = new Uint8Array((rows + 1) * (columns + 1));
  let before = new Float64Array(columns + 1);
  let now = new Float64Array(columns + 1);
  if (!free_start) for (let j = 1; j <= columns; j++) before[j] = before[j - 1]! - SKIP * b.weights[j - 1]!;
  for (let i = 1; i <= rows; i++) {
    const weight = a.weights[i - 1]!;
    const at = i * (columns + 1);
    now[0] = before[0]!;
    ways[at] = UP;
    for (let j = 1; j <= columns; j++) {
      const skipped = now[j - 1]! - (i === rows ? 0 : SKIP * b.weights[j - 1]!);
      const missed = before[j]!;
      const share = a.ids[i - 1] === b.ids[j - 1] ? 1 : like(i - 1, j - 1);
      const met = share > 0 ? before[j - 1]! + share * weight : -Infinity;
      const best = Math.max(skipped, missed, met);
      now[j] = best;
      ways[at + j] = met === best ? MEET : missed === best ? UP : LEFT;
    }
    [before, now] = [now, before];
  }
  return back(ways, rows, columns);
}

function back(ways: Uint8Array, rows: number, columns: number): Int32Array {
  const meets = new Int32Array(rows).fill(-1);
  for (let i = rows, j = columns; i > 0;) {
    const way = j === 0 ? UP : ways[i * (columns + 1) + j]!;
    if (way === MEET) meets[--i] = --j;
    else if (way === UP) i--;
    else j--;
  }
  return meets;
}
