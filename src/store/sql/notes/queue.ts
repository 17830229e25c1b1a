/** What waits for the owner: comments to approve, comments that were reported, and those that were rejected. */
import type { Author, Kind, Queue, QueueItem, QueueState, ReportReason, Visibility } from "../../notes.ts";
import { type Op, statement } from "../db.ts";
import { WITH_PERSON } from "./rows.ts";

interface Row {
  comment_no: number;
  id: string;
  thread_id: string;
  page: string;
  text: string;
  person_id: string;
  name: string;
  kind: Kind;
  created_at: string;
  visibility: Visibility;
}

const list = (condition: string) =>
  statement<Row>(
    `select c.comment_no, c.id, r.id as thread_id, t.page, c.text, c.person_id, p.name, p.kind, c.created_at,
       case when c.state = 'public' and r.state not in ('public', 'erased') then 'pending' else c.state end as visibility
     from comments c join threads t on t.thread_no = c.thread_no join comments r on r.comment_no = t.thread_no
       ${WITH_PERSON}
     where c.site_id = ?1 and ${condition} and (?2 = 0 or c.comment_no < ?2) order by c.comment_no desc limit ?3`,
  );

/** Of a comment `c`: what was said of it still waits for its owner. */
export const IS_OPEN_TO_REPORTS = "c.state in ('public', 'pending')";

const LISTS: Record<QueueState, ReturnType<typeof list>> = {
  pending: list("c.state = 'pending'"),
  rejected: list("c.state = 'rejected'"),
  reported: list(
    `${IS_OPEN_TO_REPORTS}
     and exists (select 1 from comment_reports where comment_reports.comment_no = c.comment_no)`,
  ),
};

const reportsOf = statement<{ reason: ReportReason; text: string | null; created_at: string }>(
  "select reason, text, created_at from comment_reports where comment_no = ? order by report_no",
);

function* itemOf({ comment_no, person_id, name, kind, ...row }: Row): Op<QueueItem> {
  const by: Author = { id: person_id, name, kind };
  return { ...row, by, reports: yield* reportsOf.all(comment_no) };
}

export function* queue(site_id: string, state: QueueState, after: number | null, limit: number): Op<Queue> {
  const rows = yield* LISTS[state].all(site_id, after ?? 0, limit + 1);
  const items: QueueItem[] = [];
  for (const row of rows.slice(0, limit)) items.push(yield* itemOf(row));
  return { items, next: rows.length > limit ? rows[limit - 1]!.comment_no : null };
}

/** A crowd adds nothing, and fills no disk. */
const MOST_REPORTS = { of_comment: 100, of_site: 5000 };
const reported = statement<{ comment_no: number; n: number; of_site: number }>(
  `select comment_no, (select count(*) from comment_reports where comment_reports.comment_no = comments.comment_no) as n,
     (select count(*) from comment_reports where comment_reports.site_id = comments.site_id) as of_site
   from comments where site_id = ? and id = ? and text is not null`,
);
const insert = statement(
  "insert into comment_reports (site_id, comment_no, reason, text, created_at) values (?, ?, ?, ?, ?)",
);

/** False where there is none, or enough was said of it. */
export function* report(
  site_id: string,
  id: string,
  { reason, text }: { reason: ReportReason; text: string | null },
  now: number,
): Op<boolean> {
  const found = yield* reported.get(site_id, id);
  if (found === null || found.n >= MOST_REPORTS.of_comment || found.of_site >= MOST_REPORTS.of_site) return false;
  yield* insert.do(site_id, found.comment_no, reason, text, new Date(now).toISOString());
  return true;
}
