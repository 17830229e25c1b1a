/** An account's sites as the dashboard lists them: one page of rows is read, however many there are. */
import type { AskedSites, OwnedSite, Ownership, SiteOrder, SitePlace } from "../../changes.ts";
import type { Site } from "../../../base/types.ts";
import { type Db, type Op, statement } from "../db.ts";
import { spanOf } from "./pages.ts";

type Named = Pick<Site, "site_id">;

const inOrder = (order: string) =>
  statement<Named>(`select site_id from sites where owner_account_id = ? order by ${order} limit ? offset ?`);
/** Each is the order of an index, from its one end and from the other. */
const both = (key: string) => ({
  up: inOrder(`${key}, site_id`),
  down: inOrder(`${key} desc, site_id desc`),
});
const ORDERS = {
  deployed: both("deployed_at"),
  created: both("created_at"),
  name: both("lower(coalesce(label, slug))"),
};

/** What lies before a page is stepped over, so it is reached from the nearer end. */
function* idsOf(account_id: string, sort: SiteOrder, offset: number, count: number, total: number): Op<Named[]> {
  const [first, last] = sort === "name" ? (["up", "down"] as const) : (["down", "up"] as const);
  const behind = total - offset - count;
  if (behind >= offset) return yield* ORDERS[sort][first].all(account_id, count, offset);
  return (yield* ORDERS[sort][last].all(account_id, count, behind)).reverse();
}

const count = statement<{ n: number }>("select count(*) as n from sites where owner_account_id = ?");

type Row = Site & {
  live_title: string | null;
  live_created_at: string;
  live_warned: number;
  live_seen_warned: number;
  live_pictured: number;
};
const row = statement<Row>(
  `select sites.*, title as live_title, versions.created_at as live_created_at, coalesce(receipts.warned, 0) as live_warned,
     coalesce(renders.warned, 0) as live_seen_warned,
     exists (select 1 from pictures where pictures.version_no = versions.version_no and size = 'desktop') as live_pictured
   from sites join versions on versions.site_id = sites.site_id and version_id = live_version_id
     left join receipts on receipts.version_no = versions.version_no
     left join renders on renders.version_no = versions.version_no
   where sites.site_id = ?`,
);

/** One that went since it was found is left out. */
function* rowsOf(found: readonly Named[]): Op<OwnedSite[]> {
  const rows: OwnedSite[] = [];
  for (const { site_id } of found) {
    const known = yield* row.get(site_id);
    if (known === null) continue;
    const { live_title, live_created_at, live_warned, live_seen_warned, live_pictured, ...site } = known;
    const [title, created_at, pictured] = [live_title, live_created_at, live_pictured === 1];
    rows.push({ site, live: { title, created_at, warned: live_warned, seen_warned: live_seen_warned, pictured } });
  }
  return rows;
}

type Page = Awaited<ReturnType<Ownership["page"]>>;

function* pageOf(account_id: string, asked: AskedSites): Op<Page> {
  const total = (yield* count.get(account_id))!.n;
  const { offset, ...span } = spanOf(asked, total);
  const ids = yield* idsOf(account_id, asked.sort, offset, Math.min(asked.per_page, total - offset), total);
  return { ...span, rows: yield* rowsOf(ids), total };
}

/** What is looked at in one go: under 2 ms. */
const SLICE = 250;

interface Searched extends SitePlace {
  text: string;
  deployed_at: string;
  name: string;
}

/** By the index of the account's list; the next slice begins behind the last row of this one. */
const slice = statement<Searched>(
  `select sites.site_id as site_id, sites.created_at as created_at, deployed_at, lower(coalesce(label, slug)) as name,
     coalesce(label, '') || char(10) || slug || char(10) || sites.site_id || char(10) || coalesce(title, '') as text
   from sites join versions on versions.site_id = sites.site_id and version_id = live_version_id
   where owner_account_id = ? and (sites.created_at, sites.site_id) < (?, ?)
   order by sites.created_at desc, sites.site_id desc limit ?`,
);

/** SQLite knows the letters of English alone. */
const fold = (text: string): string => text.normalize("NFKC").toLowerCase();

const KEYS: Readonly<Record<SiteOrder, (row: Searched) => string>> = {
  deployed: ({ deployed_at }) => deployed_at,
  created: ({ created_at }) => created_at,
  name: ({ name }) => name,
};
/** Ends a key; what follows is the id of its site. */
const SEP = "\n";

/** Keys of what was found: sorted as plain strings, ten thousand take a third of what a function would that compares. */
async function search(db: Db, account_id: string, { q, sort }: AskedSites): Promise<{ keys: string[]; total: number }> {
  const wanted = fold(q);
  const keys: string[] = [];
  let total = 0;
  for (let last: SitePlace = { created_at: "~", site_id: "" }; ;) {
    const rows = await db.read(slice.all(account_id, last.created_at, last.site_id, SLICE));
    total += rows.length;
    for (const row of rows) if (fold(row.text).includes(wanted)) keys.push(KEYS[sort](row) + SEP + row.site_id);
    if (rows.length < SLICE) return { keys, total };
    last = rows.at(-1)!;
    await Bun.sleep(0); // whoever else is served in this thread goes first
  }
}

/** Part of a word is in no index: all of the account's sites are looked at, a slice at a time. */
async function pageOfMatches(db: Db, account_id: string, asked: AskedSites): Promise<Page> {
  const { keys, total } = await search(db, account_id, asked);
  const { offset, ...span } = spanOf(asked, keys.length);
  keys.sort();
  if (asked.sort !== "name") keys.reverse();
  const shown = keys.slice(offset, offset + asked.per_page);
  const found = shown.map((key) => ({ site_id: key.slice(key.lastIndexOf(SEP) + 1) }));
  return { ...span, rows: await db.read(rowsOf(found)), total };
}

export const accountSites =
  (db: Db): Ownership["page"] =>
  async (account_id, asked) =>
    asked.q === "" ? db.read(pageOf(account_id, asked)) : pageOfMatches(db, account_id, asked);
