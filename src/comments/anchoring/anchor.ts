/** A comment's passage in a page's text: found, described, compared; runs in browsers too. Finds a quote in a page's
 *  text (COMMENTS 3): its very words if the text around them is the same, else the passage that replaced them. A
 *  doubtful place is no answer. Runs in browsers. */
import { type Candidate, contextOf, isWhole, occurrences, surroundings } from "./occurrences.ts";
import { passages } from "./passages.ts";
import type { Quote } from "./quote.ts";
import { indexOf, type TextIndex } from "./words.ts";
import { normalise } from "./text.ts";

interface Anchored {
  /** UTF-16 units of the normalised text. */
  start: number;
  end: number;
  /** `changed` means that other words than the quote are there now. */
  state: "anchored" | "changed";
}

/** A longer quote is only looked for at its old place: our own clients send none. */
const LONGEST = 8192;

/** Weights of the parts of a score: the passage and each side of its surroundings, as Hypothesis has them. The distance from
 *  the old place only decides between equals. */
const WEIGHTS = { passage: 50, side: 20, place: 2 };

interface Judged extends Candidate {
  exact: boolean;
  score: number;
}

/** Null means an orphan. `text` is normalised (`text.ts`); `hint` is the offset where the passage began before. */
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

/** The quote's very words with both sides at least so alike cannot be another passage. */
const SURE = 0.9;
const isSure = ({ before, behind }: Candidate): boolean =>
  before !== null && behind !== null && Math.min(before, behind) >= SURE;

function scoreOf({ likeness, before, behind }: Candidate, place: number): number {
  const { passage, side } = WEIGHTS;
  const sides = (before === null ? 0 : side) + (behind === null ? 0 : side);
  const sum = passage * likeness + side * (before ?? 0) + side * (behind ?? 0);
  return sum / (passage + sides) + (WEIGHTS.place * place) / 100;
}

/** The least likeness that makes a passage the quote, by the quote's length: a word is everywhere, a paragraph is not. A
 *  character that is a word by itself counts as three. */
interface Bar {
  shorter_than: number;
  /** The better side's likeness if the text has the very words: once, or several times. */
  once: number;
  several: number;
  /** The same if the other side is as good as gone. */
  one_side: number;
  /** If the words have changed: the likeness of the passage, of the better side and of the worse side. */
  likeness: number;
  better: number;
  worse: number;
}

/** A side no more alike than this is chance. */
const NONE = 0.25;

const BARS: readonly Bar[] = [
  { shorter_than: 16, once: 0.7, several: 0.85, one_side: 0.95, likeness: 0.5, better: 0.8, worse: 0.4 },
  { shorter_than: 60, once: 0.4, several: 0.5, one_side: 0.5, likeness: 0.5, better: 0.6, worse: 0 },
  { shorter_than: Infinity, once: 0, several: 0.4, one_side: 0.4, likeness: 0.52, better: 0.6, worse: 0 },
];

/** If both sides are as they were, the text between them is the passage, whatever was added to it. */
const HELD = { kept: 0.4, worse: 0.85 };

/** The worse side's least likeness for a short passage that lost both its direct neighbours: the word is there, but it may
 *  be another occurrence. */
const APART = 0.6;
/** Characters that count as a direct neighbour. */
const TOUCHING = 3;

/** The least likeness of a long quote with nothing around it, such as a whole page. */
const BARE_LIKENESS = 0.7;

const WIDE = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/g;
const sizeOf = (exact: string): number => exact.length + 2 * (exact.match(WIDE)?.length ?? 0);

/** Whether a passage has kept the characters right before or right after it. */
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

/** The old surroundings must be so much more like the candidate itself than like the candidate's surroundings. */
const CLEARLY = 0.1;
const LIKE = 0.6;
/** Characters on each side of a gap that has closed. */
const NEXT = 20;

/** Whether the text before the passage and the text after it now follow each other. */
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
