/** Moderation: the owner's queues of comments to approve, reported and rejected ones; and what owners and agents decide. A
 *  decision is one transaction with its line in the history, and made twice it is made once. */
import type {
  Action,
  Author,
  AuthorKind,
  CommentDecision,
  Decided,
  EventAction,
  NoteCounts,
  Queue,
  QueueItem,
  QueueState,
  ReportReason,
  Visibility,
} from "../notes.ts";
import { type Op, read, statement, write } from "../operation.ts";
import {
  begin,
  type CommentStanding,
  countReply,
  isPublic,
  isRoot,
  type NumberedChange,
  standingOf,
  threadStandingOf,
  writeDown,
} from "./changes.ts";
import { announcing, decided } from "./outbox.ts";
import { showNewName } from "./people.ts";
import { type State, WITH_PERSON } from "./rows.ts";
import { viewerValues, readThread } from "./view.ts";

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

const setState = statement(
  `update comments set state = ?2, modified_at = ?3, rev = rev + 1,
     was_public = case when ?4 = 1 then 1 else was_public end,
     public_no = case when ?4 = 1 or ?5 = 1 then ?6 else public_no end, own_no = ?6
   where comment_no = ?1`,
);
// Answers that were given while it waited are seen from now on.
const showReplies = statement(
  "update comments set was_public = 1, public_no = ?2 where thread_no = ?1 and comment_no <> ?1 and state = 'public'",
);
const dropReports = statement("delete from comment_reports where comment_no = ?");

// A gap, if its author took the root away while the answer waited.
const showGap = statement(
  "update comments set state = 'erased' where comment_no = ? and state = 'deleted' and was_public = 1",
);

function* rootStateFor(row: CommentStanding): Op<State> {
  if (isRoot(row)) return "public";
  return (yield* showGap.run(row.thread_no)).changes > 0 ? "erased" : row.root_state;
}

function* show(row: CommentStanding, { site, at, no }: NumberedChange): Op<boolean> {
  yield* dropReports.do(row.comment_no);
  if (row.person_id !== null) yield* showNewName(site.site_id, row.person_id, no);
  if (row.state === "public") return false;
  const seen = isPublic({ state: "public", root_state: yield* rootStateFor(row) });
  yield* setState.do(row.comment_no, "public", at, seen ? 1 : 0, 0, no);
  if (isRoot(row)) yield* showReplies.do(row.comment_no, no);
  else if (seen) yield* countReply(row.thread_no, no);
  return true;
}

function* hide(row: CommentStanding, { at, no }: NumberedChange): Op<boolean> {
  if (row.state === "rejected") return false;
  const was_seen = isPublic(row);
  yield* setState.do(row.comment_no, "rejected", at, 0, was_seen ? 1 : 0, no);
  if (was_seen && !isRoot(row)) yield* countReply(row.thread_no, no);
  return true;
}

const setStatus = statement("update threads set status = ?2, changed_no = ?3 where thread_no = ?1 and status <> ?2");
const touchRoot = statement("update comments set modified_at = ?2, rev = rev + 1 where comment_no = ?1");

function* mark(row: CommentStanding, status: "open" | "resolved", { at, no }: NumberedChange): Op<boolean> {
  if ((yield* setStatus.run(row.thread_no, status, no)).changes === 0) return false;
  yield* touchRoot.do(row.thread_no, at);
  return true;
}

const ACTS: Record<Action, { done: EventAction; act(row: CommentStanding, change: NumberedChange): Op<boolean> }> = {
  approve: { done: "approved", act: show },
  reject: { done: "rejected", act: hide },
  resolve: { done: "resolved", act: (row, change) => mark(row, "resolved", change) },
  reopen: { done: "reopened", act: (row, change) => mark(row, "open", change) },
};

function* decide(decision: CommentDecision, now: number): Op<Decided> {
  const { site_id, id, action } = decision;
  const change = yield* begin(site_id, now);
  const of_thread = action === "resolve" || action === "reopen";
  const row = yield* (of_thread ? threadStandingOf : standingOf)(site_id, id);
  const { done, act } = ACTS[action];
  const changed = yield* act(row, change);
  // The history of a thread is its root's.
  const of = of_thread ? row.thread_no : row.comment_no;
  if (changed) yield* writeDown(decision, of, done, change.at);
  return { thread: yield* readThread(viewerValues(site_id, { kind: "owner" }), row.thread_no, true), changed };
}

export const MODERATING = {
  queue: read((_, site_id: string, state: QueueState, after: number | null, limit: number) =>
    queue(site_id, state, after, limit),
  ),
  counts: read((_, site_id: string) => counts(site_id)),
  /** Reports a comment that is there, hidden or not; else nothing happens. */
  report: write((backend, site_id: string, id: string, said: { reason: ReportReason; text: string | null }) =>
    announcing(backend, report(site_id, id, said, backend.now()), (done) =>
      done ? { type: "comment.reported", site_id, comment_id: id } : null,
    ),
  ),
  /** Throws 404 if the site has no such comment. */
  decide: write((backend, decision: CommentDecision) =>
    announcing(backend, decide(decision, backend.now()), (done) => decided(decision, done)),
  ),
};
