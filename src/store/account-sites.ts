/** An account's sites as the dashboard lists them: one page of rows is read, however many there are. */
import { normalForm } from "../base/normal-form.ts";
import { firstOf } from "../base/search.ts";
import type { Site, Version } from "../base/types.ts";
import type { NoteCounts } from "./notes.ts";
import { type Db, type Op, statement } from "./operation.ts";
import { type AskedPage, type ListPage, spanOf } from "./versions.ts";

/** The place of a site in its account's list. */
export type SitePlace = Pick<Site, "created_at" | "site_id">;

/** `deployed`: by when the live version was made. */
type SiteOrder = "deployed" | "created" | "name";

export interface AskedSites extends AskedPage {
  /** Part of label, slug or live title, in any case, or eight letters of a site_id; empty: all sites. */
  q: string;
  sort: SiteOrder;
}

export interface OwnedSite {
  site: Site;
  /** `warned`: how many warnings its deploy got; 0 if that was not kept. `seen_warned`: how many a browser's look added.
   *  `pictured`: whether it took a picture. */
  live: Pick<Version, "title" | "created_at"> & { warned: number; seen_warned: number; pictured: boolean };
  /** Comments that wait for approval, those that were reported, and open threads: each counted up to 100. */
  notes: Pick<NoteCounts, "pending" | "reported" | "open">;
}

/** A badge need not know more. */
const MOST_COUNTED = 100;

type SiteId = Pick<Site, "site_id">;

const inOrder = (order: string) =>
  statement<SiteId>(`select site_id from sites where owner_account_id = ? order by ${order} limit ? offset ?`);
/** The order of an index, from its one end and from the other. */
const both = (key: string) => ({
  up: inOrder(`${key}, site_id`),
  down: inOrder(`${key} desc, site_id desc`),
});
const ORDERS = {
  deployed: both("deployed_at"),
  created: both("created_at"),
  name: both("lower(coalesce(label, slug))"),
};

/** Reaches a page from the nearer end of the list, for what comes before it is stepped over. */
function* idsOf(account_id: string, sort: SiteOrder, offset: number, count: number, total: number): Op<SiteId[]> {
  const [first, last] = sort === "name" ? (["up", "down"] as const) : (["down", "up"] as const);
  const behind = total - offset - count;
  if (behind >= offset) return yield* ORDERS[sort][first].all(account_id, count, offset);
  return (yield* ORDERS[sort][last].all(account_id, count, behind)).reverse();
}

const count = statement<{ n: number }>("select count(*) as n from sites where owner_account_id = ?");

type SiteRow = Site & {
  live_title: string | null;
  live_created_at: string;
  live_warned: number;
  live_seen_warned: number;
  live_pictured: number;
  notes_pending: number;
  notes_reported: number;
  notes_open: number;
};
const upTo = (rows: string): string => `(select count(*) from (${rows} limit ${MOST_COUNTED}) as found)`;
const row = statement<SiteRow>(
  `select sites.*, title as live_title, versions.created_at as live_created_at, coalesce(receipts.warned, 0) as live_warned,
     coalesce(renders.warned, 0) as live_seen_warned,
     exists (select 1 from pictures where pictures.version_no = versions.version_no and size = 'desktop') as live_pictured,
     ${upTo("select 1 from comments where comments.site_id = sites.site_id and state = 'pending'")} as notes_pending,
     ${upTo(`select distinct comment_no from comment_reports join comments using (comment_no)
             where comment_reports.site_id = sites.site_id and state in ('public', 'pending')`)} as notes_reported,
     ${upTo(`select 1 from threads join comments on comment_no = threads.thread_no where threads.site_id = sites.site_id
             and status = 'open' and state in ('public', 'erased', 'pending')`)} as notes_open
   from sites join versions on versions.site_id = sites.site_id and version_id = live_version_id
     left join receipts on receipts.version_no = versions.version_no
     left join renders on renders.version_no = versions.version_no
   where sites.site_id = ?`,
);

/** Leaves out a site that went since it was found. */
function* rowsOf(found: readonly SiteId[]): Op<OwnedSite[]> {
  const rows: OwnedSite[] = [];
  for (const { site_id } of found) {
    const known = yield* row.get(site_id);
    if (known === null) continue;
    const { live_title, live_created_at, live_warned, live_seen_warned, live_pictured, ...more } = known;
    const { notes_pending: pending, notes_reported: reported, notes_open: open, ...site } = more;
    const [title, created_at, pictured] = [live_title, live_created_at, live_pictured === 1];
    const live = { title, created_at, warned: live_warned, seen_warned: live_seen_warned, pictured };
    rows.push({ site, live, notes: { pending, reported, open } });
  }
  return rows;
}

/** `total`: all sites of the account, whatever is looked for. */
type SitesPage = ListPage<OwnedSite> & { total: number };

function* pageOf(account_id: string, asked: AskedSites): Op<SitesPage> {
  const total = (yield* count.get(account_id))!.n;
  const { offset, ...span } = spanOf(asked, total);
  const ids = yield* idsOf(account_id, asked.sort, offset, Math.min(asked.per_page, total - offset), total);
  return { ...span, rows: yield* rowsOf(ids), total };
}

/** Rows that are looked at in one go: under 2 ms. */
const SLICE = 250;

interface Searched extends SitePlace {
  /** Label, slug and live title. */
  text: string;
  deployed_at: string;
  name: string;
}

/** By the index of the account's list; the next slice begins behind the last row of this one. */
const slice = statement<Searched>(
  `select sites.site_id as site_id, sites.created_at as created_at, deployed_at, lower(coalesce(label, slug)) as name,
     coalesce(label, '') || '\n' || slug || '\n' || coalesce(title, '') as text
   from sites join versions on versions.site_id = sites.site_id and version_id = live_version_id
   where owner_account_id = ? and (sites.created_at, sites.site_id) < (?, ?)
   order by sites.created_at desc, sites.site_id desc limit ?`,
);

/** SQLite knows the letters of English alone. */
const fold = (text: string): string => normalForm(text, "NFKC").toLowerCase();

const KEYS: Readonly<Record<SiteOrder, (row: Searched) => string>> = {
  deployed: ({ deployed_at }) => deployed_at,
  created: ({ created_at }) => created_at,
  name: ({ name }) => name,
};
/** Ends a key; what follows is the id of its site. */
const SEP = "\n";

/** Less is in some random id by chance: of a thousand sites one in three has a given three letters in its own. */
const PART_OF_AN_ID = 8;

/** Keys of what was found: sorted as plain strings, ten thousand take a third of what a function would that compares. */
async function search(db: Db, account_id: string, { q, sort }: AskedSites): Promise<{ keys: string[]; total: number }> {
  const wanted = fold(q);
  const find = firstOf(wanted);
  const has = (text: string): boolean => find(text, 0, text.length) !== -1;
  const maybe_id = wanted.length >= PART_OF_AN_ID;
  const matches = ({ text, site_id }: Searched): boolean => has(fold(text)) || (maybe_id && has(site_id));
  const keys: string[] = [];
  let total = 0;
  for (let last: SitePlace = { created_at: "~", site_id: "" }; ;) {
    const rows = await db.read(() => slice.all(account_id, last.created_at, last.site_id, SLICE));
    total += rows.length;
    for (const row of rows) if (matches(row)) keys.push(KEYS[sort](row) + SEP + row.site_id);
    if (rows.length < SLICE) return { keys, total };
    last = rows.at(-1)!;
    await Bun.sleep(0); // other requests of this thread go first
  }
}

/** Part of a word is in no index: all of the account's sites are looked at, a slice at a time. */
async function pageOfMatches(db: Db, account_id: string, asked: AskedSites): Promise<SitesPage> {
  const { keys, total } = await search(db, account_id, asked);
  const { offset, ...span } = spanOf(asked, keys.length);
  keys.sort();
  if (asked.sort !== "name") keys.reverse();
  const shown = keys.slice(offset, offset + asked.per_page);
  const found = shown.map((key) => ({ site_id: key.slice(key.lastIndexOf(SEP) + 1) }));
  return { ...span, rows: await db.read(() => rowsOf(found)), total };
}

export const accountSites = async (db: Db, account_id: string, asked: AskedSites): Promise<SitesPage> =>
  asked.q === "" ? db.read(() => pageOf(account_id, asked)) : pageOfMatches(db, account_id, asked);
