/** Comments that everybody may see, for the feeds; and what a visitor may take along of their own. */
import type { Author, PublicComment, Status } from "../notes.ts";
import { type Op, read, type Statement, statement } from "../operation.ts";
import { type CommentRow, IS_PUBLIC, noteRows, THREAD_COLUMNS, type ThreadRow, WITH_PERSON } from "./rows.ts";

interface Feed {
  total: number;
  /** The time of the newest change; null if the feed is empty. */
  modified_at: string | null;
  /** Oldest first. */
  items: PublicComment[];
}

type FeedRow = Pick<
  CommentRow,
  "id" | "text" | "canonical" | "created_at" | "modified_at" | "state" | "person_id" | "kind"
> &
  ThreadRow & { thread_id: string; name: string | null; replies: number };

const columns = (
  name: "name" | "shown_name",
): string => `c.id, c.text, c.canonical, c.created_at, c.modified_at, c.state,
  c.person_id, p.kind, p.${name} as name, r.id as thread_id, ${THREAD_COLUMNS},
  case when c.comment_no = t.thread_no then (
    select count(*) from comments a where a.thread_no = t.thread_no and a.comment_no <> t.thread_no and a.state = 'public'
  ) else 0 end as replies`;
const FROM = `comments c join threads t on t.thread_no = c.thread_no join comments r on r.comment_no = t.thread_no
  ${WITH_PERSON}`;

interface FeedStatements {
  total: Statement<{ total: number }>;
  newest: Statement<{ modified_at: string }>;
  items: Statement<FeedRow>;
}

/** `from`: rows `c` of a feed, oldest first. They are counted and skipped by indexes alone;
 *  a whole row is read only of items that are shown. */
const feedOf = (from: string): FeedStatements => ({
  total: statement(`select count(*) as total from ${from}`),
  newest: statement(`select c.modified_at from ${from} order by c.modified_at desc limit 1`),
  items: statement(
    `select ${columns("shown_name")} from ${FROM}
     where c.comment_no in (select c.comment_no from ${from} order by c.comment_no limit ?3 offset ?4) order by c.comment_no`,
  ),
});

// Threads that no stranger sees are few: they are left out, so that the index alone is read for the others.
const OF_SITE = feedOf(
  `comments c where c.site_id = ?1 and ?2 = '' and c.state = 'public' and c.thread_no not in (
     select r.comment_no from comments r
     where r.site_id = ?1 and r.state in ('pending', 'rejected', 'deleted') and r.comment_no = r.thread_no)`,
);
const OF_PAGE = feedOf(
  `threads t join comments r on r.comment_no = t.thread_no join comments c on c.thread_no = t.thread_no
   where t.site_id = ?1 and t.page = ?2 and ${IS_PUBLIC}`,
);

const itemOf = (row: FeedRow): PublicComment => ({
  id: row.id,
  thread_id: row.thread_id,
  by: { id: row.person_id!, name: row.name!, kind: row.kind! } satisfies Author,
  text: row.text!,
  canonical: row.canonical,
  created_at: row.created_at,
  modified_at: row.modified_at,
  page: row.page,
  version_id: row.version_id,
  version_created_at: row.version_created_at,
  quote: noteRows.quoteOf(row),
  status: row.status satisfies Status,
  replies: row.replies,
});

function* feed(site_id: string, page: string | null, from: number, count: number, most = Infinity): Op<Feed> {
  const of = page === null ? OF_SITE : OF_PAGE;
  const values = [site_id, page ?? ""] as const;
  const { total } = (yield* of.total.get(...values))!;
  const newest = total === 0 ? null : yield* of.newest.get(...values);
  const none = count === 0 || from >= total || total > most;
  const rows = none ? [] : yield* of.items.all(...values, count, from);
  return { total, modified_at: newest?.modified_at ?? null, items: rows.map(itemOf) };
}

const ofPerson = statement<FeedRow>(
  `select ${columns("name")} from ${FROM}
   where c.site_id = ?1 and c.person_id = ?2 and c.state in ('public', 'pending') order by c.comment_no`,
);

function* written(site_id: string, person_id: string): Op<PublicComment[]> {
  return (yield* ofPerson.all(site_id, person_id)).map(itemOf);
}

const one = statement<FeedRow & { seen: number }>(
  `select ${columns("name")}, ${IS_PUBLIC} as seen from ${FROM}
   where c.comment_no = ?1 and c.state in ('public', 'pending') and r.state in ('public', 'pending', 'erased')`,
);

/** A comment as a delivery to its site's owner has it; null if it was deleted or rejected. */
export function* deliveredItem(
  comment_no: number,
): Op<{ comment: PublicComment; visibility: "public" | "pending" } | null> {
  const row = yield* one.get(comment_no);
  return row && { comment: itemOf(row), visibility: row.seen === 1 ? "public" : "pending" };
}

export const FEEDS = {
  /** The feed of a page, or of the whole site if `page` is null. `most`: if a feed has more comments, no items are read. */
  feed: read((_, site_id: string, page: string | null, from: number, count: number, most?: number) =>
    feed(site_id, page, from, count, most),
  ),
  /** All that a person wrote, oldest first, whether others see it or not; but nothing that was rejected (ruling 16). */
  written: read((_, site_id: string, person_id: string) => written(site_id, person_id)),
};
