/** After each change of a site's live pointer: where the passages of its threads are now (COMMENTS, ruling 14). Each goes from
 *  the last version in which it was found, so that a rollback finds it again. */
import type { AnchorRow, Carried, CarriedRow, Notes, Place } from "../../store/notes.ts";
import type { Blobs, Versions } from "../../store/serving.ts";
import type { Page } from "../../base/pages.ts";
import type { Site } from "../../base/types.ts";
import { anchor } from "../anchor.ts";
import { normalise } from "../text.ts";
import { carry } from "./texts.ts";
import { type PageTexts, pageTexts } from "./versions.ts";

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

/** Where a passage is in the live version. `changed`: it reads otherwise than where it was found last. */
interface Now {
  span: Span | null;
  carried: Carried;
  changed: boolean;
}
type Span = Pick<Place, "start" | "end">;

/** Threads whose page was the same file where they were last found, and is the same file now: one look at the two texts tells
 *  of all of them, however many pages an app shows by one shell. */
interface Pair {
  /** Null: never found, or its version is gone. */
  old: Page | null;
  /** Null: the page is gone. */
  now: Page | null;
  rows: AnchorRow[];
}

/** Their order changes with each version, so that what there was no time for comes first at some other deploy; what is lost
 *  already comes last. */
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

/** As the quote has it, or otherwise by now. */
const stateOf = ({ quote }: AnchorRow, text: string, { start, end }: Span): Carried =>
  text.slice(start, end) === normalise(quote.exact).trim() ? "exact" : "edited";

/** Characters of texts that one carrying of a site goes through for quotes: of a page of 100,000 some 300 times. What no
 *  version held is looked for with each deploy, and a crowd may leave thousands of such. */
const MOST_SEARCHED = 40_000_000;
/** Characters that are laid beside each other, some seconds of work: the thousand pages of an app may have as many texts. */
const MOST_LAID = 64_000_000;
/** Characters that are gone through for passages that were moved, of all pages together. */
const MOST_MOVED = 60_000_000;
/** What a look costs in any text. */
const LOOK = 20_000;

/** What is left of it. */
interface Allowance {
  searched: number;
  laid: number;
  /** Of each pair of texts. */
  readonly moved: number;
}

/** Without the text that it was found in: by its quote, as a browser would. Null where there have been too many: it stays
 *  as it is, until a deploy has room for it. */
function byQuote(text: string, row: AnchorRow, allowance: Allowance): Now | null {
  if ((allowance.searched -= text.length + LOOK) < 0) return null;
  const span = anchor(text, row.quote, row.place?.start);
  return span === null ? LOST : { span, carried: stateOf(row, text, span), changed: span.state === "changed" };
}

/** Null where there has been too much, as above. */
function byText(old: string, text: string, rows: readonly AnchorRow[], allowance: Allowance): (Now | null)[] {
  if ((allowance.laid -= old.length + text.length + LOOK) < 0) return rows.map(() => null);
  const places = rows.map(({ place }) => place!);
  return carry(old, text, places, allowance.moved).map((span, i) =>
    span === null ? LOST : { span, carried: stateOf(rows[i]!, text, span), changed: span.carried === "edited" },
  );
}

/** Null: nothing can be said, and it stays as it is. */
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

/** Whether the owner should look: not again at what was lost before, nor at what is as it was. */
const isNews = (row: AnchorRow, { carried, changed }: Now): boolean =>
  row.status === "open" && (carried === "lost" ? row.carried !== "lost" : changed && carried === "edited");

/** Carries all threads of the site to its live version. Nothing is read where it has none. */
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
