/** Comments that everybody may see, for the feeds; and what a visitor may take along of their own. */
import type { Author, Feed, PublicComment, Status, Visibility } from "../../notes.ts";
import { type Op, statement } from "../db.ts";
import { type CommentRow, quoteOf, THREAD_COLUMNS, type ThreadRow, WITH_PERSON } from "./rows.ts";
import { IS_PUBLIC } from "./sight.ts";

type Row = Pick<CommentRow, "id" | "text" | "created_at" | "modified_at" | "rev" | "state" | "person_id" | "kind"> &
  ThreadRow & { thread_id: string; name: string | null; replies: number };

const columns = (name: "name" | "shown_name"): string => `c.id, c.text, c.created_at, c.modified_at, c.rev, c.state,
  c.person_id, p.kind, p.${name} as name, r.id as thread_id, ${THREAD_COLUMNS},
  case when c.comment_no = t.thread_no then (
    select count(*) from comments a where a.thread_no = t.thread_no and a.comment_no <> t.thread_no and a.state = 'public'
  ) else 0 end as replies`;
const FROM = `comments c join threads t on t.thread_no = c.thread_no join comments r on r.comment_no = t.thread_no
  ${WITH_PERSON}`;
const OF = `c.site_id = ?1 and ${IS_PUBLIC} and (?2 = '' or t.page = ?2)`;

const summary = statement<{ total: number; modified_at: string | null }>(
  `select count(*) as total, max(c.modified_at) as modified_at
   from comments c join threads t on t.thread_no = c.thread_no join comments r on r.comment_no = t.thread_no
   where ${OF}`,
);
const items = statement<Row>(
  `select ${columns("shown_name")} from ${FROM} where ${OF} order by c.comment_no limit ?3 offset ?4`,
);

const itemOf = (row: Row): PublicComment => ({
  id: row.id,
  thread_id: row.thread_id,
  by: { id: row.person_id!, name: row.name!, kind: row.kind! } satisfies Author,
  text: row.text!,
  created_at: row.created_at,
  modified_at: row.modified_at,
  rev: row.rev,
  page: row.page,
  version_id: row.version_id,
  version_created_at: row.version_created_at,
  quote: quoteOf(row),
  status: row.status satisfies Status,
  replies: row.replies,
});

export function* feed(site_id: string, page: string | null, from: number, count: number): Op<Feed> {
  const all = (yield* summary.get(site_id, page ?? ""))!;
  const rows = count === 0 ? [] : yield* items.all(site_id, page ?? "", count, from);
  return { ...all, items: rows.map(itemOf) };
}

const ofPerson = statement<Row>(
  `select ${columns("name")} from ${FROM}
   where c.site_id = ?1 and c.person_id = ?2 and c.text is not null order by c.comment_no`,
);

export function* written(site_id: string, person_id: string): Op<(PublicComment & { visibility: Visibility })[]> {
  const rows = yield* ofPerson.all(site_id, person_id);
  return rows.map((row) => ({ ...itemOf(row), visibility: row.state as Visibility }));
}

const one = statement<Row & { seen: number }>(
  `select ${columns("name")}, ${IS_PUBLIC} as seen from ${FROM}
   where c.comment_no = ?1 and c.state in ('public', 'pending') and r.state in ('public', 'pending', 'erased')`,
);

/** As its site's owner is told of it; null where it was deleted or rejected. */
export function* toldItem(comment_no: number): Op<{ comment: PublicComment; visibility: "public" | "pending" } | null> {
  const row = yield* one.get(comment_no);
  return row && { comment: itemOf(row), visibility: row.seen === 1 ? "public" : "pending" };
}
