/** What became of each word of a real page, told by a diff that has nothing in common with the ones that are measured:
 *  whole sentences first, then words (E. W. Myers, An O(ND) difference algorithm, Algorithmica 1, 1986), with what met by
 *  chance amid a rewriting taken out, and last what stands elsewhere by now. */
import type { Word } from "./edits.ts";

/** More edits than that between two sentences that stayed: the page is another one. */
const MOST_EDITS = 4000;
/** Words that were moved are at least so many, and stand nowhere else. */
const MOVED = 8;

/** For each old word the new one that it is or became, else -1. */
export type Ways = Int32Array;

interface Gap {
  a: number;
  a_end: number;
  b: number;
  b_end: number;
}

/** Pairs of equal things, in order, as many as can be; null past the bound. */
function myers(a: Int32Array, b: Int32Array): [number, number][] | null {
  const [n, m] = [a.length, b.length];
  const trace: Int32Array[] = [];
  let v = new Int32Array(3);
  for (let d = 0; d <= n + m; d++) {
    if (d > MOST_EDITS) return null;
    const next = new Int32Array(2 * d + 3);
    for (let k = -d; k <= d; k += 2) {
      const at = (other: number): number => v[other + d] ?? 0;
      const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
      let x = d === 0 ? 0 : down ? at(k + 1) : at(k - 1) + 1;
      while (x < n && x - k < m && a[x] === b[x - k]) x++;
      next[k + d + 1] = x;
      if (x >= n && x - k >= m) return traced([...trace, next], d, n, m);
    }
    trace.push(next);
    v = next;
  }
  return [];
}

/** `trace[d]` has the farthest place of diagonal `k` at `k + d + 1`. */
function traced(trace: Int32Array[], edits: number, n: number, m: number): [number, number][] {
  const pairs: [number, number][] = [];
  let [x, y] = [n, m];
  for (let d = edits; d >= 0; d--) {
    const k = x - y;
    const at = (other: number): number => trace[d - 1]?.[other + d] ?? 0;
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const from = d === 0 ? 0 : down ? at(k + 1) : at(k - 1);
    const from_y = d === 0 ? 0 : from - (down ? k + 1 : k - 1);
    const [start, start_y] = d === 0 ? [0, 0] : down ? [from, from_y + 1] : [from + 1, from_y];
    while (x > start && y > start_y) pairs.push([--x, --y]);
    [x, y] = [from, from_y];
  }
  return pairs.reverse();
}

const numbers = new Map<string, number>();
function numberOf(text: string): number {
  const known = numbers.get(text);
  if (known === undefined) numbers.set(text, numbers.size);
  return known ?? numbers.size - 1;
}

/** `starts`: where sentences begin. */
interface Side {
  words: readonly Word[];
  starts: readonly number[];
}

const sentencesOf = ({ words, starts }: Side): Int32Array =>
  Int32Array.from(starts, (from, i) =>
    numberOf(
      `${words
        .slice(from, starts[i + 1])
        .map(({ text }) => text)
        .join(" ")}\n`,
    ),
  );

/** The stretches between sentences that stayed. */
function gapsOf(old: Side, now: Side, ways: Ways): Gap[] | null {
  const pairs = myers(sentencesOf(old), sentencesOf(now));
  if (pairs === null) return null;
  const gaps: Gap[] = [];
  let [a, b] = [0, 0];
  for (const [i, j] of [...pairs, [old.starts.length, now.starts.length] as const]) {
    const [a_end, b_end] = [old.starts[i] ?? old.words.length, now.starts[j] ?? now.words.length];
    gaps.push({ a, a_end, b, b_end });
    const length = (old.starts[i + 1] ?? old.words.length) - a_end;
    for (let n = 0; n < length; n++) ways[a_end + n] = b_end + n;
    [a, b] = [a_end + length, b_end + length];
  }
  return gaps;
}

const letters = (words: readonly Word[], from: number, to: number): number =>
  words.slice(from, to).reduce((sum, { text }) => sum + (/[\p{L}\p{N}]/u.test(text) ? text.length : 0), 0);

interface Run {
  i: number;
  j: number;
  length: number;
}

function runsOf(pairs: readonly [number, number][]): Run[] {
  const runs: Run[] = [];
  for (const [i, j] of pairs) {
    const last = runs.at(-1);
    if (last && i === last.i + last.length && j === last.j + last.length) last.length++;
    else runs.push({ i, j, length: 1 });
  }
  return runs;
}

/** Takes out what is shorter than what was changed on both its sides: words that a rewriting has in common by chance. */
function cleaned(old: Side, now: Side, gap: Gap, runs: readonly Run[]): Run[] {
  const left = [...runs];
  for (let at = 0; at < left.length;) {
    const { i, j, length } = left[at]!;
    const [before, behind] = [left[at - 1], left[at + 1]];
    const [a, b] = before ? [before.i + before.length, before.j + before.length] : [gap.a, gap.b];
    const [a_end, b_end] = behind ? [behind.i, behind.j] : [gap.a_end, gap.b_end];
    const own = letters(old.words, i, i + length);
    const changed = (x: number, x_end: number, y: number, y_end: number): number =>
      Math.max(letters(old.words, x, x_end), letters(now.words, y, y_end));
    if (own < changed(a, i, b, j) && own < changed(i + length, a_end, j + length, b_end)) {
      left.splice(at, 1);
      at = Math.max(0, at - 1);
    } else at++;
  }
  return left;
}

/** So much of the longer word the two must have in common, to be one that was mended or bent. */
const ALIKE = 0.6;

/** Letters that two words have in common, in order. */
function common(a: string, b: string): number {
  let row = new Int32Array(b.length + 1);
  for (const letter of a) {
    const next = new Int32Array(b.length + 1);
    for (let j = 1; j <= b.length; j++) {
      next[j] = letter === b[j - 1] ? row[j - 1]! + 1 : Math.max(row[j]!, next[j - 1]!);
    }
    row = next;
  }
  return row[b.length]!;
}

function isBent(a: string, b: string): boolean {
  const [x, y] = [a.toLowerCase(), b.toLowerCase()];
  return Math.min(x.length, y.length) > 2 && common(x, y) >= ALIKE * Math.max(x.length, y.length);
}

/** Words of one changed place that are the same but for some letters, in order. */
function bend(old: Side, now: Side, { a, a_end, b, b_end }: Gap, ways: Ways): void {
  if (a_end - a > 12 || b_end - b > 12) return;
  let j = b;
  for (let i = a; i < a_end; i++) {
    for (let at = j; at < b_end; at++) {
      if (!isBent(old.words[i]!.text, now.words[at]!.text)) continue;
      ways[i] = at;
      j = at + 1;
      break;
    }
  }
}

function take(old: Side, now: Side, gap: Gap, runs: readonly Run[], ways: Ways): void {
  let [a, b] = [gap.a, gap.b];
  for (const { i, j, length } of [...runs, { i: gap.a_end, j: gap.b_end, length: 0 }]) {
    bend(old, now, { a, a_end: i, b, b_end: j }, ways);
    for (let n = 0; n < length; n++) ways[i + n] = j + n;
    [a, b] = [i + length, j + length];
  }
}

/** Null where too much differs. */
function fill(old: Side, now: Side, gap: Gap, ways: Ways, clean: boolean): Ways | null {
  const ids = ({ words }: Side, from: number, to: number): Int32Array =>
    Int32Array.from(words.slice(from, to), ({ text }) => numberOf(text));
  const pairs = myers(ids(old, gap.a, gap.a_end), ids(now, gap.b, gap.b_end));
  if (pairs === null) return null;
  const runs = runsOf(pairs.map(([i, j]): [number, number] => [gap.a + i, gap.b + j]));
  take(old, now, gap, clean ? cleaned(old, now, gap, runs) : runs, ways);
  return ways;
}

/** Rows of words of which none is taken, each with its place; -1 where it stands twice. */
function rowsOf({ words }: Side, isFree: (at: number) => boolean): Map<string, number> {
  const rows = new Map<string, number>();
  for (let at = 0; at + MOVED <= words.length; at++) {
    if (!Array.from({ length: MOVED }, (_, n) => n).every((n) => isFree(at + n))) continue;
    const row = words
      .slice(at, at + MOVED)
      .map(({ text }) => text)
      .join(" ");
    rows.set(row, rows.has(row) ? -1 : at);
  }
  return rows;
}

function move(old: Side, now: Side, ways: Ways): void {
  const taken = new Set(ways);
  const theirs = rowsOf(now, (at) => !taken.has(at));
  for (const [row, i] of rowsOf(old, (at) => ways[at] === -1)) {
    const j = theirs.get(row) ?? -1;
    if (i < 0 || j < 0) continue;
    for (let n = 0; n < MOVED; n++) if (ways[i + n] === -1) ways[i + n] = j + n;
  }
}

function read(old: Side, now: Side, clean: boolean): Ways | null {
  const ways = new Int32Array(old.words.length).fill(-1);
  const gaps = gapsOf(old, now, ways);
  if (!gaps?.every((gap) => fill(old, now, gap, ways, clean))) return null;
  move(old, now, ways);
  return ways;
}

/** The same from its end to its beginning. */
const reversed = ({ words, starts }: Side): Side => ({
  words: words.toReversed(),
  starts: [...starts, words.length]
    .map((at) => words.length - at)
    .toReversed()
    .slice(0, -1),
});

/** What became of the words as three read it: with what met amid a rewriting taken out, with that left in, and from the end.
 *  Where they say otherwise of a passage, nobody can tell: of "a b a" and "a" either may have stayed. Null where too much
 *  differs. */
export function readingsOf(old: Side, now: Side): Ways[] | null {
  const [strict, loose] = [read(old, now, true), read(old, now, false)];
  const back = read(reversed(old), reversed(now), true)
    ?.reverse()
    .map((j) => (j < 0 ? j : now.words.length - 1 - j));
  return strict && loose && back ? [strict, loose, back] : null;
}
