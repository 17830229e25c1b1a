/** After each change of a site's live pointer: where the passages of its threads are now (COMMENTS, ruling 14). Each goes from
 *  the last version in which it was found, so that a rollback finds it again. */
import type { AnchorRow, Carried, CarriedRow, Notes, Place } from "../../store/notes.ts";
import type { Blobs, Versions } from "../../store/serving.ts";
import type { Site } from "../../types.ts";
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

/** Threads of one page, last found in the same version. */
interface Group {
  page: string;
  /** Null: never found. */
  found_in: string | null;
  rows: AnchorRow[];
}

function groupsOf(rows: readonly AnchorRow[]): Group[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const found_in = row.place?.version_id ?? null;
    const key = `${row.page} ${found_in}`;
    const group = groups.get(key) ?? { page: row.page, found_in, rows: [] };
    groups.set(key, group);
    group.rows.push(row);
  }
  return [...groups.values()].toSorted((a, b) => (a.page < b.page ? -1 : a.page > b.page ? 1 : 0));
}

const LOST: Now = { span: null, carried: "lost", changed: false };

/** As the quote has it, or otherwise by now. */
const stateOf = ({ quote }: AnchorRow, text: string, { start, end }: Span): Carried =>
  text.slice(start, end) === normalise(quote.exact).trim() ? "exact" : "edited";

/** Characters of texts that one carrying goes through for quotes: of a page of 100,000 some 300 times. What no version
 *  held is looked for with each deploy, and a crowd may leave thousands of such. */
const MOST_SEARCHED = 40_000_000;
/** What a search costs in any text. */
const SEARCH = 20_000;

/** What is left of it. */
interface Allowance {
  left: number;
}

/** Without the text that it was found in: by its quote, as a browser would. Null where there have been too many: it stays
 *  as it is, until a deploy has room for it. */
function byQuote(text: string, row: AnchorRow, allowance: Allowance): Now | null {
  if ((allowance.left -= text.length + SEARCH) < 0) return null;
  const span = anchor(text, row.quote, row.place?.start);
  return span === null ? LOST : { span, carried: stateOf(row, text, span), changed: span.state === "changed" };
}

function byText(old: string, text: string, rows: readonly AnchorRow[]): Now[] {
  const spans = carry(
    old,
    text,
    rows.map(({ place }) => place!),
  );
  return spans.map((span, i) =>
    span === null ? LOST : { span, carried: stateOf(rows[i]!, text, span), changed: span.carried === "edited" },
  );
}

interface Looking {
  texts: PageTexts;
  live_version_id: string;
  allowance: Allowance;
}

/** Null: nothing can be said, and it stays as it is. */
async function look(looking: Looking, { page, found_in, rows }: Group): Promise<(Now | null)[]> {
  const { texts, live_version_id, allowance } = looking;
  const now = (await texts.version(live_version_id))?.at(page) ?? null;
  if (now === null) return rows.map(() => LOST);
  const old = found_in === null ? null : ((await texts.version(found_in))?.at(page) ?? null);
  if (old?.file.sha256 === now.file.sha256 && rows.every(({ carried }) => carried !== "lost")) {
    return rows.map(({ place, carried }) => ({ span: place, carried, changed: false }));
  }
  const old_text = old && (await texts.text(old));
  const text = await texts.text(now);
  if (text === null) return rows.map(() => null);
  return old_text === null ? rows.map((row) => byQuote(text, row, allowance)) : byText(old_text, text, rows);
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
  const looking = { texts, live_version_id, allowance: { left: MOST_SEARCHED } };
  const carried: CarriedRow[] = [];
  const review: ReviewThread[] = [];
  for (const group of groupsOf(rows)) {
    for (const [i, now] of (await look(looking, group)).entries()) {
      if (now === null) continue;
      const row = group.rows[i]!;
      carried.push(rowOf(row, now, live_version_id));
      if (isNews(row, now)) review.push({ id: row.id, page: row.page, carried: now.carried });
    }
  }
  await notes.carry(site.site_id, carried);
  return review;
}
