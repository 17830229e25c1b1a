/** What the bench of anchors asks: passages of a page, and where they are on the page that it became. */
import {
  type Block,
  below,
  type Chance,
  chanceOf,
  edited,
  laidOut,
  pick,
  rooted,
  type Word,
  wordsOf,
  type Laid,
} from "./edits.ts";

type SpanKind = "word" | "phrase" | "sentence" | "paragraph";
/** `doubtful`, and not counted: between edited and gone, or gone while the page says the same elsewhere, as a heading and
 *  a table of contents do. */
type Fate = "intact" | "edited" | "gone" | "doubtful";

export interface Span {
  kind: SpanKind;
  start: number;
  end: number;
  fate: Fate;
  /** Where it is in the new text; undefined where it is gone. */
  at?: { start: number; end: number };
}

export interface History {
  name: string;
  old: string;
  new: string;
  spans: Span[];
}

type Region = { start: number; end: number };
/** Of two stretches, what they share of what both cover. */
export function overlap(a: Region, b: Region): number {
  const both = Math.min(a.end, b.end) - Math.max(a.start, b.start);
  return both <= 0 ? 0 : both / (Math.max(a.end, b.end) - Math.min(a.start, b.start));
}

/** Words of a span, the least and one more than the most. */
const LENGTHS = { word: [1, 2], phrase: [3, 7] } as const;
const WIDE = /[\u2e80-\ua4cf]/;
const KINDS: readonly SpanKind[] = ["word", "phrase", "sentence", "paragraph"];
const LONGEST = 1200;
const [EDITED, GONE] = [0.5, 0.2];

const endOf = ({ words, starts }: Laid, at: number): number => starts[at]! + words[at]!.text.length;

/** Of ascending places in the new text those that lie together and weigh most. */
function densest(places: readonly number[], weightOf: (place: number) => number, reach: number): [number, number] {
  let [low, weight, most] = [0, 0, -1];
  let best: [number, number] = [0, 0];
  for (let high = 0; high < places.length; high++) {
    weight += weightOf(places[high]!);
    while (places[high]! - places[low]! > reach) weight -= weightOf(places[low++]!);
    if (weight > most) [most, best] = [weight, [low, high]];
  }
  return best;
}

/** What became of the old words `from` to `to`. `places`: an old word's number → its new one. */
function fateOf(old: Laid, now: Laid, places: Places, from: number, to: number): Told {
  const found = Array.from({ length: to - from }, (_, i) => places.get(from + i)).filter(
    (place) => place !== undefined,
  );
  const whole = old.words.slice(from, to).reduce((sum, { text }) => sum + text.length, 0);
  if (found.length === 0) return { fate: "gone" as const };
  const ascending = found.toSorted((a, b) => a - b);
  const [low, high] = densest(ascending, (place) => now.words[place]!.text.length, 2 * (to - from) + 8);
  const together = ascending.slice(low, high + 1);
  const kept = together.reduce((sum, place) => sum + now.words[place]!.text.length, 0) / whole;
  const at = { start: now.starts[together[0]!]!, end: endOf(now, together.at(-1)!) };
  if (now.text.slice(at.start, at.end) === old.text.slice(old.starts[from], endOf(old, to - 1))) {
    return { fate: "intact" as const, at };
  }
  if (kept < GONE) return { fate: "gone" as const };
  return { fate: kept < EDITED ? ("doubtful" as const) : ("edited" as const), at };
}

/** Old words at which something was changed. */
function editedAt(old: Laid, places: Places): number[] {
  return old.words.flatMap((_, at) => {
    const place = places.get(at);
    return place === undefined || (at > 0 && places.get(at - 1) !== place - 1) ? [at] : [];
  });
}

/** An old word's number → its new one. */
type Places = ReadonlyMap<number, number>;

function placesOf(old: Laid, now: Laid): Places {
  const numbers = new Map(old.starts.map((start, at) => [start, at]));
  return new Map(now.words.flatMap(({ from }, at) => (from === null ? [] : [[numbers.get(from)!, at] as const])));
}

/** `others`: other readings of what became of the words. Where one differs on a passage, it is doubtful. */
export function spansOf(old: Laid, now: Laid, count: number, chance: Chance, others: readonly Laid[] = []): Span[] {
  const readings = [now, ...others].map((laid) => placesOf(old, laid));
  const edits = editedAt(old, readings[0]!);
  return Array.from({ length: count }, (_, n) => {
    const kind = KINDS[n % KINDS.length]!;
    const near = n % (2 * KINDS.length) < KINDS.length && edits.length > 0;
    const around = near ? pick(chance, edits) : below(chance, old.words.length);
    return spanAt(old, now, readings, kind, ...reachOf(old, kind, around, chance));
  }).filter((span) => span !== null);
}

/** The words that somebody would select there: from and up to. */
function reachOf(old: Laid, kind: SpanKind, around: number, chance: Chance): [from: number, to: number] {
  if (kind === "word" || kind === "phrase") {
    const [least, most] = LENGTHS[kind];
    const wide = WIDE.test(old.words[around]!.text) ? 2 : 1; // of such characters two make a word
    const length = wide * (least + below(chance, most - least));
    const from = Math.max(0, around - below(chance, length));
    return [from, Math.min(old.words.length, from + length)];
  }
  const starts = kind === "sentence" ? old.sentences : old.blocks;
  const at = starts.findLastIndex((start) => start <= around);
  return [starts[at]!, starts[at + 1] ?? old.words.length];
}

function spanAt(
  old: Laid,
  now: Laid,
  [places, ...others]: readonly Places[],
  kind: SpanKind,
  from: number,
  behind: number,
): Span | null {
  let [first, to] = [from, behind];
  while (first < to && !/[\p{L}\p{N}]{2}|(?=\p{L})[\u2e80-\ua4cf]/u.test(old.words[first]!.text)) first++;
  while (to > first && !/[\p{L}\p{N}]/u.test(old.words[to - 1]!.text)) to--;
  if (first >= to) return null;
  const [start, end] = [old.starts[first]!, endOf(old, to - 1)];
  if (end - start > LONGEST) return null;
  const fate = fateOf(old, now, places!, first, to);
  const said_again = to - first > 2 && fate.fate === "gone" && now.text.includes(old.text.slice(start, end));
  const is_unsure = others.some((other) => !isSame(fate, fateOf(old, now, other, first, to)));
  return { kind, start, end, ...fate, ...((said_again || is_unsure) && { fate: "doubtful" as const }) };
}

type Told = Pick<Span, "fate" | "at">;
const isSame = (a: Told, b: Told): boolean => (a.at && b.at ? overlap(a.at, b.at) >= 0.5 : !a.at === !b.at);

export interface SourcePage {
  name: string;
  blocks: Block[];
}

/** One page and what became of it. */
export function historyOf(page: SourcePage, seed: number, foreign: readonly Block[], spans: number): History {
  const chance = chanceOf(seed);
  const old = rooted(page.blocks);
  const count = 1 + below(chance, 1 + (old.length >> 3));
  const [before, after] = [laidOut(old), laidOut(edited(old, count, chance, foreign))];
  const name = `${page.name} (${seed})`;
  return { name, old: before.text, new: after.text, spans: spansOf(before, after, spans, chance) };
}

/** A sentence goes, and one that differs by two words stays: beside it, or elsewhere on the page. */
export function lookAlike(page: SourcePage, seed: number, foreign: readonly Block[]): History | null {
  const chance = chanceOf(seed);
  const blocks = rooted(page.blocks);
  const long = blocks.filter(({ kind, words }) => kind === "prose" && words.length >= 8 && words.length <= 60);
  if (long.length === 0) return null;
  const own = pick(chance, long);
  const twin: Block = { kind: own.kind, words: own.words.map((word) => ({ ...word, from: null })) };
  for (let i = 0; i < 2; i++) {
    const at = below(chance, twin.words.length);
    twin.words[at] = { ...twin.words[at]!, text: pick(chance, pick(chance, foreign).words).text };
  }
  const at = blocks.indexOf(own);
  const place = chance() < 0.3 ? at + below(chance, 2) : below(chance, blocks.length + 1);
  const old = rooted(blocks.toSpliced(place, 0, twin));
  const gone = old[place <= at ? at + 1 : at]!;
  const before = laidOut(old);
  const start = gone.words[0]!.from!;
  const end = gone.words.at(-1)!.from! + gone.words.at(-1)!.text.length;
  const now = laidOut(old.filter((block) => block !== gone)).text;
  if (now.includes(before.text.slice(start, end))) return null; // said elsewhere in the same words: not gone
  const span = { kind: "sentence" as const, start, end, fate: "gone" as const };
  return { name: page.name, old: before.text, new: now, spans: [span] };
}

/** A page of sentences that are made of some words, in the writing of these words. */
export function madePage(name: string, words: readonly string[], glue: string, stop: string, seed: number): SourcePage {
  const chance = chanceOf(seed);
  const sentence = (): string =>
    Array.from({ length: 5 + below(chance, 12) }, () => words[Math.floor(chance() ** 2 * words.length)]!).join(glue) +
    stop;
  const block = (): Block => ({
    kind: "prose",
    words: wordsOf(Array.from({ length: 1 + below(chance, 6) }, sentence).join(" ")),
  });
  return { name, blocks: Array.from({ length: 10 + below(chance, 30) }, block) };
}
