/** The owner's queues: comments to approve, comments that were reported, and those that were rejected. */
import type {
  Author,
  AuthorKind,
  NoteCounts,
  Queue,
  QueueItem,
  QueueState,
  ReportReason,
  Visibility,
} from "../notes.ts";
import { type Op, read, statement, write } from "../operation.ts";
import { announcing } from "./outbox.ts";
import { WITH_PERSON } from "./rows.ts";

interface QueueRow {
  comment_no: number;
  id: string;
  thread_id: string;
  page: string;
  text: string;
  person_id: string;
  name: string;
  kind: AuthorKind;
  created_at: string;
  visibility: Visibility;
}

const listWhere = (condition: string) =>
  statement<QueueRow>(
    `select c.comment_no, c.id, r.id as thread_id, t.page, c.text, c.person_id, p.name, p.kind, c.created_at,
       case when c.state = 'public' and r.state not in ('public', 'erased') then 'pending' else c.state end as visibility
     from comments c join threads t on t.thread_no = c.thread_no join comments r on r.comment_no = t.thread_no
       ${WITH_PERSON}
     where c.site_id = ?1 and ${condition} and (?2 = 0 or c.comment_no < ?2) order by c.comment_no desc limit ?3`,
  );

/** A condition on a comment `c`: its reports still wait for its owner. */
const IS_OPEN_TO_REPORTS = "c.state in ('public', 'pending')";

const LISTS: Record<QueueState, ReturnType<typeof listWhere>> = {
  pending: listWhere("c.state = 'pending'"),
  rejected: listWhere("c.state = 'rejected'"),
  reported: listWhere(
    `${IS_OPEN_TO_REPORTS}
     and exists (select 1 from comment_reports where comment_reports.comment_no = c.comment_no)`,
  ),
};

const reportsOf = statement<{ reason: ReportReason; text: string | null; created_at: string }>(
  "select reason, text, created_at from comment_reports where comment_no = ? order by report_no",
);

function* itemOf({ comment_no, person_id, name, kind, ...row }: QueueRow): Op<QueueItem> {
  const by: Author = { id: person_id, name, kind };
  return { ...row, by, reports: yield* reportsOf.all(comment_no) };
}

function* queue(site_id: string, state: QueueState, after: number | null, limit: number): Op<Queue> {
  const rows = yield* LISTS[state].all(site_id, after ?? 0, limit + 1);
  const items: QueueItem[] = [];
  for (const row of rows.slice(0, limit)) items.push(yield* itemOf(row));
  return { items, next: rows.length > limit ? rows[limit - 1]!.comment_no : null };
}

/** Reports past these are dropped: a crowd fills no disk. */
const MOST_REPORTS = { of_comment: 100, of_site: 5000 };
const reported = statement<{ comment_no: number; n: number; of_site: number }>(
  `select comment_no, (select count(*) from comment_reports where comment_reports.comment_no = comments.comment_no) as n,
     (select count(*) from comment_reports where comment_reports.site_id = comments.site_id) as of_site
   from comments where site_id = ? and id = ? and text is not null`,
);
const insert = statement(
  "insert into comment_reports (site_id, comment_no, reason, text, created_at) values (?, ?, ?, ?, ?)",
);

/** False if there is no such comment, or it has enough reports. */
function* report(
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

const countThreads = statement<Pick<NoteCounts, "open" | "resolved">>(
  `select count(*) filter (where t.status = 'open') as open, count(*) filter (where t.status = 'resolved') as resolved
   from threads t join comments r on r.comment_no = t.thread_no
   where t.site_id = ? and r.state in ('public', 'erased', 'pending')`,
);
const countComments = statement<Pick<NoteCounts, "pending" | "reported" | "rejected">>(
  `select (select count(*) from comments where site_id = ?1 and state = 'pending') as pending,
     (select count(*) from comments where site_id = ?1 and state = 'rejected') as rejected,
     (select count(distinct c.comment_no) from comment_reports join comments c using (comment_no)
      where comment_reports.site_id = ?1 and ${IS_OPEN_TO_REPORTS}) as reported`,
);

function* counts(site_id: string): Op<NoteCounts> {
  return { ...(yield* countThreads.get(site_id))!, ...(yield* countComments.get(site_id))! };
}

export const QUEUES = {
  queue: read((_, site_id: string, state: QueueState, after: number | null, limit: number) =>
    queue(site_id, state, after, limit),
  ),
  counts: read((_, site_id: string) => counts(site_id)),
  /** Of a comment that is there, hidden or not; else nothing happens. */
  report: write((backend, site_id: string, id: string, said: { reason: ReportReason; text: string | null }) =>
    announcing(backend, report(site_id, id, said, backend.now()), (done) =>
      done ? { type: "comment.reported", site_id, comment_id: id } : null,
    ),
  ),
};
