/** Where rows of words are equal at their ends, a diff may say of several stretches that they came or went: of "a b c a b d",
 *  when "a b c" goes, as well "c a b". Of these the one is taken that begins where a sentence does. */
import type { Words } from "./words.ts";

export interface Text extends Words {
  readonly text: string;
}

/** Farther no stretch is slid. */
const FARTHEST = 400;
const ENDS_SENTENCE = /[.!?:;。！？؟…]/;

/** How well a stretch begins at word `at`. */
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

/** How many words before `i` and from `i` on meet those before `j` and from `j` on, one by one. */
function meeting(places: Int32Array, i: number, j: number): [before: number, behind: number] {
  let [before, behind] = [0, 0];
  while (before < FARTHEST && i - before > 0 && places[i - before - 1] === j - before - 1) before++;
  while (behind < FARTHEST && i + behind < places.length && places[i + behind] === j + behind) behind++;
  return [before, behind];
}

/** Slides each stretch of the old text that went and nothing came for. `places`: old word → new word, or -1. */
export function slideGone(old: Text, places: Int32Array): void {
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

/** Slides each stretch of the new text that came and nothing went for. */
export function slideNew(now: Text, places: Int32Array): void {
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
