/** Where a quote is in a page's text (COMMENTS 3): its very words where what stands around them says that they are the same,
 *  else what has become of them; and nothing rather than a guess. Runs in browsers. */
import { type Candidate, contextOf, isWhole, occurrences, surroundings } from "./occurrences.ts";
import { passages } from "./passages.ts";
import type { Quote } from "./quote.ts";
import { indexOf, type TextIndex } from "./text-index.ts";
import { normalise } from "./text.ts";

interface Anchored {
  /** UTF-16 units of the normalised text. */
  start: number;
  end: number;
  /** `changed`: what stands there is not the quote. */
  state: "anchored" | "changed";
}

/** A longer quote is looked for where it was and nowhere else: such are none of ours. */
const LONGEST = 8192;

/** Of a likeness: the passage itself and each side of its surroundings (Hypothesis has them so); what the page's own
 *  place for it adds decides only between equals. */
const WEIGHTS = { passage: 50, side: 20, place: 2 };

interface Judged extends Candidate {
  exact: boolean;
  score: number;
}

/** Null: an orphan. `text` is normalised (`text.ts`); `hint` is where the passage began before. */
export function anchor(text: string, { exact, prefix, suffix }: Quote, hint?: number): Anchored | null {
  const quote = { exact: normalise(exact).trim(), prefix: normalise(prefix), suffix: normalise(suffix) };
  if (quote.exact === "" || text === "") return null;
  if (hint !== undefined && isWhole(text, hint, quote)) {
    return { start: hint, end: hint + quote.exact.length, state: "anchored" };
  }
  if (quote.exact.length > LONGEST) return null;
  const index = indexOf(text);
  const same = occurrences(index, quote, hint ?? 0);
  const others = same.best.some(isSure) ? [] : passages(index, quote);
  const judged = [...same.best, ...others].map((candidate) => ({
    ...candidate,
    exact: text.slice(candidate.start, candidate.end) === quote.exact,
    score: scoreOf(candidate, hint === undefined ? 0 : 1 - Math.abs(candidate.start - hint) / text.length),
  }));
  const [best] = judged.toSorted((a, b) => b.score - a.score);
  if (!best || !isAccepted(index, best, quote, same.count, hint) || isAnother(index, best, quote)) return null;
  return { start: best.start, end: best.end, state: best.exact ? "anchored" : "changed" };
}

/** Of both sides: with its very words and such surroundings nothing else can be meant. */
const SURE = 0.9;
const isSure = ({ before, behind }: Candidate): boolean =>
  before !== null && behind !== null && Math.min(before, behind) >= SURE;

function scoreOf({ likeness, before, behind }: Candidate, place: number): number {
  const { passage, side } = WEIGHTS;
  const sides = (before === null ? 0 : side) + (behind === null ? 0 : side);
  const sum = passage * likeness + side * (before ?? 0) + side * (behind ?? 0);
  return sum / (passage + sides) + (WEIGHTS.place * place) / 100;
}

/** What a passage must have to be taken for the quote, by the quote's length: a word is everywhere, a paragraph is not. A
 *  character that is a word by itself counts for three. */
interface Bar {
  shorter_than: number;
  /** Of the better side, where the very words are found: once in the text, and several times. */
  once: number;
  several: number;
  /** The same, where the other side is as good as gone. */
  one_side: number;
  /** Where they are not: of the passage, of the better side, and of the other. */
  likeness: number;
  better: number;
  worse: number;
}

/** Of a side: no more than chance makes. */
const NONE = 0.25;

const BARS: readonly Bar[] = [
  { shorter_than: 16, once: 0.7, several: 0.85, one_side: 0.95, likeness: 0.5, better: 0.8, worse: 0.4 },
  { shorter_than: 60, once: 0.4, several: 0.5, one_side: 0.5, likeness: 0.5, better: 0.6, worse: 0 },
  { shorter_than: Infinity, once: 0, several: 0.4, one_side: 0.4, likeness: 0.52, better: 0.6, worse: 0 },
];

/** Where both sides stand as they did, what lies between them is the passage, whatever has come into it. */
const HELD = { kept: 0.4, worse: 0.85 };

/** Of the worse side, where a short passage has kept nothing of what stood right beside it: the word is there, but who
 *  knows whether it is that one. */
const APART = 0.6;
/** Of what stands right beside a word. */
const TOUCHING = 3;

/** Of a long quote with nothing around it, such as a whole page. */
const BARE_LIKENESS = 0.7;

const WIDE = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/g;
const sizeOf = (exact: string): number => exact.length + 2 * (exact.match(WIDE)?.length ?? 0);

/** Whether a passage has kept what stood right before or right behind it. */
function touches(text: string, { exact, prefix, suffix }: Quote, start: number): boolean {
  const [before, behind] = [prefix.slice(-TOUCHING), suffix.slice(0, TOUCHING)];
  return (
    (before !== "" && text.startsWith(before, start - before.length)) ||
    (behind !== "" && text.startsWith(behind, start + exact.length))
  );
}

function isAccepted({ text }: TextIndex, found: Judged, quote: Quote, count: number, hint?: number): boolean {
  const { exact, likeness, kept, before, behind, start } = found;
  const size = sizeOf(quote.exact);
  const bar = BARS.find(({ shorter_than }) => size < shorter_than)!;
  const bare = before === null && behind === null;
  if (bare) return exact ? count === 1 || start === hint : likeness >= BARE_LIKENESS && size >= BARS[1]!.shorter_than;
  const better = Math.max(before ?? 0, behind ?? 0);
  const worse = Math.min(before ?? better, behind ?? better);
  if (exact && bar === BARS[0] && worse < APART && !touches(text, quote, start)) return false;
  if (exact && count === 1) return better >= bar.once;
  if (exact) return better >= (worse < NONE ? bar.one_side : bar.several);
  if (kept >= HELD.kept && worse >= HELD.worse) return true;
  return likeness >= bar.likeness && better >= bar.better && worse >= bar.worse;
}

/** By so much more what stood beside the passage must be like the candidate than like what stands beside that. */
const CLEARLY = 0.1;
const LIKE = 0.6;
/** Characters on each side of a gap that has closed. */
const NEXT = 20;

/** Whether what stood before the passage and what stood behind it now stand side by side. */
function isClosed(text: string, prefix: string, suffix: string): boolean {
  const [before, behind] = [prefix.trimEnd().slice(-NEXT), suffix.trimStart().slice(0, NEXT)];
  if (Math.min(before.length, behind.length) < NEXT) return false;
  return text.includes(`${before} ${behind}`) || text.includes(before + behind);
}

/** Whether the candidate is the passage's old neighbour, moved up because the passage went: a row of a table, an item of a
 *  list, a sentence that says almost the same. */
function isAnother(
  index: TextIndex,
  { exact, start, end, before, behind }: Judged,
  { prefix, suffix, exact: text }: Quote,
) {
  if (exact && sizeOf(text) >= BARS[1]!.shorter_than) return false;
  if (Math.min(before ?? 1, behind ?? 1) < SURE && isClosed(index.text, prefix, suffix)) return true;
  if (exact) return false;
  const [leading, following] = [contextOf(index, prefix, true), contextOf(index, suffix, false)];
  const follower = following && surroundings(index, following, start);
  const leader = leading && surroundings(index, leading, end);
  return (
    (follower !== null && follower >= LIKE && follower > (behind ?? 0) + CLEARLY) ||
    (leader !== null && leader >= LIKE && leader > (before ?? 0) + CLEARLY)
  );
}
