/** Passages of one version's page found in the next one's (COMMENTS 3, carry): both texts are at hand here, so what became
 *  of each word is known, and a look-alike is no likeness. */
import { anchor } from "../anchor.ts";
import { describe } from "../describe.ts";
import { diffWords, type WordDiff } from "../matching/word-diff.ts";
import { firstFrom } from "../matching/words.ts";

/** UTF-16 units of a normalised text. */
interface Passage {
  start: number;
  end: number;
}

/** `edited`: it reads otherwise now. */
type CarriedPassage = Passage & { carried: "exact" | "edited" };

/** Of a passage's weight, what must still stand together. */
const LEAST_KEPT = 0.45;
/** How far apart what is left of it may stand, in words of the old passage. */
const REACH = (words: number): number => 2 * words + 8;
/** A passage of so few characters is the same only with a neighbour. */
const SHORT = 16;

/** Characters that may be gone through for passages that the diff has lost: for a page of 100,000, 200 of them. */
const MOST_LOOKED_THROUGH = 20_000_000;

/** For each span where it is now; null: gone. Linear in the texts, within bounds that end the search and not the work.
 *  `most`: characters, where the caller has less time. */
export function carry(
  old_text: string,
  new_text: string,
  spans: readonly Passage[],
  most = MOST_LOOKED_THROUGH,
): (CarriedPassage | null)[] {
  if (spans.length === 0) return [];
  const diff = old_text === new_text ? null : diffWords(old_text, new_text);
  let again = Math.floor(Math.min(most, MOST_LOOKED_THROUGH) / (new_text.length + 1));
  return spans.map((span) => {
    const { start, end } = span;
    const found =
      diff === null ? span : (carried(diff, start, end) ?? (again-- > 0 ? moved(old_text, new_text, span) : null));
    if (found === null) return null;
    const exact = new_text.slice(found.start, found.end) === old_text.slice(start, end);
    return { start: found.start, end: found.end, carried: exact ? "exact" : "edited" };
  });
}

/** A few words that were moved are no stretch for the diff; with what stands around them they may be found. */
function moved(old_text: string, new_text: string, { start, end }: Passage): Passage | null {
  const found = anchor(new_text, describe(old_text, start, end), start);
  return found?.state === "anchored" ? found : null;
}

function carried(diff: WordDiff, start: number, end: number): Passage | null {
  const { old, now, places } = diff;
  const from = firstFrom(old.ends, start + 1);
  const to = firstFrom(old.starts, end);
  const kept = together(diff, from, to);
  if (kept === null) return null;
  const [first, last] = widened(places, from, to, kept);
  // A passage may begin or end inside a word: then so does what became of it.
  const cut_start = places[from] === first && diff.isSame(from) ? Math.max(0, start - old.starts[from]!) : 0;
  const cut_end = places[to - 1] === last && diff.isSame(to - 1) ? Math.max(0, old.ends[to - 1]! - end) : 0;
  return { start: now.starts[first]! + cut_start, end: now.ends[last]! - cut_end };
}

interface Kept {
  /** New words: the first and the last. */
  first: number;
  last: number;
}

/** Of what is left of the old words `from` to `to` the heaviest part that lies together; null where that is too little. */
function together(diff: WordDiff, from: number, to: number): Kept | null {
  const { old, weights, places, isSame } = diff;
  let whole = 0;
  const left: { place: number; weight: number }[] = [];
  for (let i = from; i < to; i++) {
    const weight = weights[old.ids[i]!]!;
    whole += weight;
    if (places[i]! >= 0) left.push({ place: places[i]!, weight: isSame(i) ? weight : weight / 2 });
  }
  left.sort((a, b) => a.place - b.place);
  let [low, sum, most] = [0, 0, 0];
  let kept: Kept | null = null;
  for (const { place, weight } of left) {
    sum += weight;
    while (place - left[low]!.place > REACH(to - from)) sum -= left[low++]!.weight;
    if (sum > most) [most, kept] = [sum, { first: left[low]!.place, last: place }];
  }
  if (most < LEAST_KEPT * whole) return null;
  return whole >= SHORT || hasNeighbour(places, from, to, kept!) ? kept : null;
}

/** A short word is everywhere: it must have kept what stood beside it. */
const hasNeighbour = (places: Int32Array, from: number, to: number, { first, last }: Kept): boolean =>
  (from === 0 && first === 0) ||
  (from > 0 && places[from - 1] === first - 1) ||
  (to < places.length && places[to] === last + 1);

/** With what stands in the place of words at its ends that are gone, as far as that is hardly longer than they were. */
function widened(places: Int32Array, from: number, to: number, { first, last }: Kept): [first: number, last: number] {
  const [before, behind] = [places[from - 1] ?? -1, places[to] ?? -1];
  let [head, tail] = [0, 0];
  while (from + head < to && places[from + head] === -1) head++;
  while (to - tail > from && places[to - 1 - tail] === -1) tail++;
  const start = before >= 0 && before < first && first - before - 1 <= head + 2 && head > 0 ? before + 1 : first;
  const end = behind > last && behind - last - 1 <= tail + 2 && tail > 0 ? behind - 1 : last;
  return [start, end];
}
