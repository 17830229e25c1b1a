/** Carries the passages of threads from one version of a site to the next (COMMENTS 3, carry). Both texts are at hand, so it is
 *  known what became of each word, and a look-alike is not mistaken for the passage. */
import { type Page, pageAt, type Pages } from "../base/pages.ts";
import { effectiveSpa } from "../base/site-state.ts";
import type { Site } from "../base/types.ts";
import { decodeHtml } from "../html/decode.ts";
import type { AnchorRow, Carried, CarriedRow, QuotePlace } from "../store/notes.ts";
import type { Notes } from "../store/notes/index.ts";
import type { Blobs } from "../store/serving.ts";
import type { Versions } from "../store/versions.ts";
import { anchor } from "./anchoring/anchor.ts";
import { pageText } from "./anchoring/page-text.ts";
import { describe } from "./anchoring/quote.ts";
import { normalise } from "./anchoring/text.ts";
import { diffWords, type WordDiff } from "./anchoring/word-diff.ts";
import { firstFrom } from "./anchoring/words.ts";

/** UTF-16 units of a normalised text. */
interface Passage {
  start: number;
  end: number;
}

/** `edited` means that its words have changed. */
type CarriedPassage = Passage & { carried: "exact" | "edited" };

/** The share of a passage's weight that must still be close together. */
const LEAST_KEPT = 0.45;
/** The most words between the first and the last word that is left, by the words of the old passage. */
const REACH = (words: number): number => 2 * words + 8;
/** A passage with fewer characters is only found with a neighbour of it. */
const SHORT = 16;

/** The most characters to search for passages that the diff has lost: 200 passages in a page of 100,000 characters. */
const MOST_LOOKED_THROUGH = 20_000_000;

/** Finds each span in the new text; null means gone. Linear in the texts; the bounds end the search, never the work. `most` is
 *  a lower limit of characters for a caller with less time. */
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

/** A few moved words are too short for the diff; their quote may still find them. */
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
  // A passage may begin or end inside a word; so does the result.
  const cut_start = places[from] === first && diff.isSame(from) ? Math.max(0, start - old.starts[from]!) : 0;
  const cut_end = places[to - 1] === last && diff.isSame(to - 1) ? Math.max(0, old.ends[to - 1]! - end) : 0;
  return { start: now.starts[first]! + cut_start, end: now.ends[last]! - cut_end };
}

interface Kept {
  /** New words: the first and the last. */
  first: number;
  last: number;
}

/** The heaviest group of what is left of the old words `from` to `to`; null if that is too little. */
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

/** Whether the passage has kept the word before or after it: a short word is everywhere. */
const hasNeighbour = (places: Int32Array, from: number, to: number, { first, last }: Kept): boolean =>
  (from === 0 && first === 0) ||
  (from > 0 && places[from - 1] === first - 1) ||
  (to < places.length && places[to] === last + 1);

/** Adds the words that replaced lost words at the ends, unless they are many more than those were. */
function widened(places: Int32Array, from: number, to: number, { first, last }: Kept): [first: number, last: number] {
  const [before, behind] = [places[from - 1] ?? -1, places[to] ?? -1];
  let [head, tail] = [0, 0];
  while (from + head < to && places[from + head] === -1) head++;
  while (to - tail > from && places[to - 1 - tail] === -1) tail++;
  const start = before >= 0 && before < first && first - before - 1 <= head + 2 && head > 0 ? before + 1 : first;
  const end = behind > last && behind - last - 1 <= tail + 2 && tail > 0 ? behind - 1 : last;
  return [start, end];
}

// Below: threads after a change of the site's live pointer (COMMENTS, ruling 14). Each passage is carried from the last
// version in which it was found, so that a rollback finds it again.

interface CarryParts {
  notes: Pick<Notes, "anchors" | "carry">;
  versions: Pick<Versions, "get" | "manifest">;
  blobs: Blobs;
}

/** An open thread whose passage this change edited or took away. */
export interface ReviewThread {
  id: string;
  page: string;
  carried: Carried;
}

/** A passage's place in the live version. `changed` means that its words differ from those where it was found last. */
interface Now {
  span: Span | null;
  carried: Carried;
  changed: boolean;
}
type Span = Pick<QuotePlace, "start" | "end">;

/** Threads whose pages were one file when they were last found, and are one file now: one comparison of the two texts is
 *  enough for all of them, however many pages of an app have one shell. */
interface Pair {
  /** Null if it was never found, or if its version is gone. */
  old: Page | null;
  /** Null if the page is gone. */
  now: Page | null;
  rows: AnchorRow[];
}

/** Orders the pairs anew for each version, so that a pair which there was no time for comes first at another deploy; pairs
 *  that are lost already come last. */
function inTurn(pairs: ReadonlyMap<string, Pair>, live_version_id: string): Pair[] {
  const lost = ({ rows }: Pair) => (rows.every(({ carried }) => carried === "lost") ? 1 : 0);
  const drawn = (key: string) => Bun.hash(live_version_id + key);
  return [...pairs]
    .map(([key, pair]) => ({ pair, last: lost(pair), drawn: drawn(key) }))
    .sort((a, b) => a.last - b.last || (a.drawn < b.drawn ? -1 : 1))
    .map(({ pair }) => pair);
}

async function pairsOf(texts: PageTexts, live_version_id: string, rows: readonly AnchorRow[]): Promise<Pair[]> {
  const pairs = new Map<string, Pair>();
  const live = await texts.version(live_version_id);
  for (const row of rows) {
    const now = live?.at(row.page) ?? null;
    const old = row.place === null ? null : ((await texts.version(row.place.version_id))?.at(row.page) ?? null);
    const key = `${old?.file.sha256 ?? ""} ${now?.file.sha256 ?? ""}`;
    const pair = pairs.get(key) ?? { old, now, rows: [] };
    pairs.set(key, pair);
    pair.rows.push(row);
  }
  return inTurn(pairs, live_version_id);
}

const LOST: Now = { span: null, carried: "lost", changed: false };

/** Whether the words at the span are still the quote's. */
const stateOf = ({ quote }: AnchorRow, text: string, { start, end }: Span): Carried =>
  text.slice(start, end) === normalise(quote.exact).trim() ? "exact" : "edited";

/** The most characters that one carrying of a site searches for quotes: a page of 100,000 characters some 300 times. A quote
 *  that no version had is looked for at each deploy, and a crowd may leave thousands of those. */
const MOST_SEARCHED = 40_000_000;
/** The most characters that are compared with each other, some seconds of work: an app may have a thousand different texts. */
const MOST_LAID = 64_000_000;
/** The most characters that are searched for moved passages, in all pages together. */
const MOST_MOVED = 60_000_000;
/** The cost of one search or comparison of any text, in characters. */
const LOOK = 20_000;

/** The characters that are left of these limits. */
interface Allowance {
  searched: number;
  laid: number;
  /** For each pair of texts. */
  readonly moved: number;
}

/** Finds a passage whose old text is gone by its quote, as a browser does. Null past the limit: it stays as it is until a
 *  deploy has room for it. */
function byQuote(text: string, row: AnchorRow, allowance: Allowance): Now | null {
  if ((allowance.searched -= text.length + LOOK) < 0) return null;
  const span = anchor(text, row.quote, row.place?.start);
  return span === null ? LOST : { span, carried: stateOf(row, text, span), changed: span.state === "changed" };
}

/** Finds passages by comparing the two texts. Null past the limit, as above. */
function byText(old: string, text: string, rows: readonly AnchorRow[], allowance: Allowance): (Now | null)[] {
  if ((allowance.laid -= old.length + text.length + LOOK) < 0) return rows.map(() => null);
  const places = rows.map(({ place }) => place!);
  return carry(old, text, places, allowance.moved).map((span, i) =>
    span === null ? LOST : { span, carried: stateOf(rows[i]!, text, span), changed: span.carried === "edited" },
  );
}

/** Finds the passages of a pair; null means that nothing is known, and that the passage stays as it is. */
async function look(texts: PageTexts, allowance: Allowance, { old, now, rows }: Pair): Promise<(Now | null)[]> {
  if (now === null) return rows.map(() => LOST);
  if (old?.file.sha256 === now.file.sha256 && rows.every(({ carried }) => carried !== "lost")) {
    return rows.map(({ place, carried }) => ({ span: place, carried, changed: false }));
  }
  if (allowance.laid < 0 && allowance.searched < 0) return rows.map(() => null);
  const old_text = old && (await texts.text(old));
  const text = await texts.text(now);
  if (text === null) return rows.map(() => null);
  return old_text === null ? rows.map((row) => byQuote(text, row, allowance)) : byText(old_text, text, rows, allowance);
}

function rowOf({ id }: AnchorRow, { span, carried }: Now, version_id: string): CarriedRow {
  return { id, carried, place: span && { version_id, start: span.start, end: span.end } };
}

/** Whether the owner should look at the thread: its passage was lost or changed by this very deploy. */
const isNews = (row: AnchorRow, { carried, changed }: Now): boolean =>
  row.status === "open" && (carried === "lost" ? row.carried !== "lost" : changed && carried === "edited");

/** Carries all threads of the site to its live version. A site without threads costs one query. */
export async function carryThreads(
  { notes, versions, blobs }: CarryParts,
  site: Pick<Site, "site_id" | "spa_override" | "live_version_id">,
): Promise<ReviewThread[]> {
  const rows = await notes.anchors(site.site_id);
  if (rows.length === 0) return [];
  const { live_version_id } = site;
  const texts = pageTexts(site, versions, blobs);
  const pairs = await pairsOf(texts, live_version_id, rows);
  const moved = Math.floor(MOST_MOVED / Math.max(1, pairs.length));
  const allowance: Allowance = { searched: MOST_SEARCHED, laid: MOST_LAID, moved };
  const carried: CarriedRow[] = [];
  const review: ReviewThread[] = [];
  for (const pair of pairs) {
    for (const [i, now] of (await look(texts, allowance, pair)).entries()) {
      if (now === null) continue;
      const row = pair.rows[i]!;
      carried.push(rowOf(row, now, live_version_id));
      if (isNews(row, now)) review.push({ id: row.id, page: row.page, carried: now.carried });
    }
  }
  await notes.carry(site.site_id, carried);
  return review.toSorted((a, b) => (a.page < b.page ? -1 : a.page > b.page ? 1 : 0));
}

/** The most bytes that one carrying reads, and the most of one page: some seconds of work. A passage past these limits stays
 *  where it was found last. */
const MOST_BYTES = 64 << 20;
const MOST_OF_A_PAGE = 8 << 20;

interface VersionPages {
  /** The page of exactly this address; null where the version has none. */
  at(page: string): Page | null;
}

interface PageTexts {
  /** Null if the version is gone. */
  version(version_id: string): Promise<VersionPages | null>;
  /** Null past the limits, or if the file cannot be read. */
  text(page: Page): Promise<string | null>;
}

const pagesOf = (pages: Pages): VersionPages => ({
  at(address) {
    const page = pageAt(pages, address);
    return page?.page === address ? page : null;
  },
});

/** Pages of a site's versions as texts. Passages come page by page, so the last two texts are kept. */
function pageTexts(
  site: Pick<Site, "site_id" | "spa_override">,
  versions: Pick<Versions, "get" | "manifest">,
  blobs: Blobs,
): PageTexts {
  const known = new Map<string, Promise<VersionPages | null>>();
  const texts = new Map<string, string>();
  let left = MOST_BYTES;

  async function readVersion(version_id: string): Promise<VersionPages | null> {
    const version = await versions.get(site.site_id, version_id);
    const files = version && (await versions.manifest(site.site_id, version_id));
    return version && files && pagesOf({ files, version, spa: effectiveSpa(site, version) });
  }
  async function readText({ file }: Page): Promise<string | null> {
    if (file.bytes > MOST_OF_A_PAGE || file.bytes > left || !("blob_no" in file)) return null;
    left -= file.bytes;
    try {
      return pageText(decodeHtml(await blobs.read(file as Parameters<Blobs["read"]>[0])));
    } catch {
      return null; // damaged: serving reports it, and so does the check of all files
    }
  }
  return {
    version(version_id) {
      const found = known.get(version_id) ?? readVersion(version_id);
      known.set(version_id, found);
      return found;
    },
    async text(page) {
      const kept = texts.get(page.file.sha256);
      if (kept !== undefined) return kept;
      const text = await readText(page);
      if (texts.size >= 2) texts.delete(texts.keys().next().value!);
      if (text !== null) texts.set(page.file.sha256, text);
      return text;
    },
  };
}
