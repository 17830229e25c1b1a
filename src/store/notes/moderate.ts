/** Moderation: the owner's queues of pending, reported and rejected comments, the decisions of owners and agents, and the
 *  removal of comments. A decision is one transaction with its line in the history; made again, it changes nothing. */
import type {
  Action,
  Author,
  AuthorKind,
  CommentDecision,
  Decided,
  EventAction,
  NoteCounts,
  QueueItem,
  QueueState,
  ReportReason,
  Visibility,
} from "../notes.ts";
import { Refusal } from "../../base/errors.ts";
import { type Op, read, statement, write } from "../operation.ts";
import { type Held, permission } from "../permission.ts";
import { refusals } from "../refusals.ts";
import { changes, type CommentStanding, type NumberedChange } from "./changes.ts";
import { outboxRows } from "./outbox.ts";
import { personRows } from "./people.ts";
import { type State, WITH_PERSON } from "./rows.ts";
import { readThread, viewerValues } from "./view.ts";
import { refuseReturn } from "./write.ts";

interface Removal extends Held {
  site_id: string;
  id: string;
  by: Author;
  /** The entity tags that were sent, as for an edit. */
  revs: readonly string[] | null;
  /** The id of its line in the history, if the owner removes it. */
  event_id: string;
}

interface Queue {
  items: QueueItem[];
  next: number | null;
}

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

const countThreads = statement<Pick<NoteCounts, "open" | "resolved" | "begun">>(
  `select count(*) filter (where t.status = 'open') as open,
     count(*) filter (where t.status = 'open' and r.state <> 'pending') as begun,
     count(*) filter (where t.status = 'resolved') as resolved
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
  if (changes.isRoot(row)) return "public";
  return (yield* showGap.run(row.thread_no)).changes > 0 ? "erased" : row.root_state;
}

function* show(row: CommentStanding, { site, at, no }: NumberedChange): Op<boolean> {
  if (row.state === "rejected") yield* refuseReturn(site.site_id, row);
  yield* dropReports.do(row.comment_no);
  if (row.person_id !== null) yield* personRows.showNewName(site.site_id, row.person_id, no);
  if (row.state === "public") return false;
  const seen = changes.isPublic({ state: "public", root_state: yield* rootStateFor(row) });
  yield* setState.do(row.comment_no, "public", at, seen ? 1 : 0, 0, no);
  if (changes.isRoot(row)) yield* showReplies.do(row.comment_no, no);
  else if (seen) yield* changes.countReply(row.thread_no, no);
  return true;
}

function* hide(row: CommentStanding, { at, no }: NumberedChange): Op<boolean> {
  if (row.state === "rejected") return false;
  const was_seen = changes.isPublic(row);
  yield* setState.do(row.comment_no, "rejected", at, 0, was_seen ? 1 : 0, no);
  if (was_seen && !changes.isRoot(row)) yield* changes.countReply(row.thread_no, no);
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

/** Throws 401 for a credential that was taken back since the request began (RELIABILITY A25). */
function* refuseUnlessHeld({ site_id, held }: { site_id: string } & Held, now: number): Op<void> {
  if (held !== undefined) yield* permission.settableSite({ site_id, by: held }, now);
}

function* decide(decision: CommentDecision & Held, now: number): Op<Decided> {
  const { site_id, id, action } = decision;
  yield* refuseUnlessHeld(decision, now);
  const change = yield* changes.begin(site_id, now, decision.by);
  const of_thread = action === "resolve" || action === "reopen";
  const row = yield* (of_thread ? changes.threadStandingOf : changes.standingOf)(site_id, id);
  const { done, act } = ACTS[action];
  const changed = yield* act(row, change);
  // The history of a thread is its root's.
  const of = of_thread ? row.thread_no : row.comment_no;
  if (changed) yield* changes.writeDown(decision, of, done, change.at);
  if (changed && action === "reject") yield* forgetOldRejected(change);
  return { thread: yield* readThread(viewerValues(site_id, { kind: "owner" }), row.thread_no, true), changed };
}

/** All of one visitor, or of the network that a comment came from. */
interface MassRejection extends Held, Omit<CommentDecision, "action" | "event_id"> {
  of: "visitor" | "network";
  /** As many are rejected at most, and these are the ids of their lines in the history. */
  event_ids: readonly string[];
}

const originOf = statement<{ person_id: string | null; network: string | null; kind: AuthorKind | null }>(
  `select c.person_id, c.network, p.kind from comments c ${WITH_PERSON}
   where c.site_id = ? and c.id = ? and c.text is not null`,
);
const ALIKE = "state in ('public', 'pending') order by comment_no desc limit ?3";
const ALL_OF = {
  visitor: statement<{ id: string }>(`select id from comments where site_id = ?1 and person_id = ?2 and ${ALIKE}`),
  network: statement<{ id: string }>(`select id from comments where site_id = ?1 and network = ?2 and ${ALIKE}`),
};

/** The value that `ALL_OF` goes by. Throws if the comment is no visitor's, or nobody knows any more where it came from. */
function* originIn({ site_id, id, of }: MassRejection): Op<string> {
  const origin = yield* originOf.get(site_id, id);
  if (origin === null) throw refusals.unknownComment();
  const refuse = (why: string): Refusal => new Refusal("invalid_input", why, { field: "of" });
  if (origin.kind !== "visitor") throw refuse("This comment is no visitor's: name one that a visitor wrote.");
  if (of === "visitor") return origin.person_id!;
  if (origin.network !== null) return origin.network;
  throw refuse("Which network this comment came from was not kept: reject what its visitor wrote.");
}

function* rejectAll(wanted: MassRejection, now: number): Op<number> {
  const { site_id, of, by, note, event_ids } = wanted;
  yield* refuseUnlessHeld(wanted, now);
  const change = yield* changes.begin(site_id, now);
  const found = yield* ALL_OF[of].all(site_id, yield* originIn(wanted), event_ids.length);
  for (const [n, { id }] of found.entries()) {
    const row = yield* changes.standingOf(site_id, id);
    yield* hide(row, change);
    yield* changes.writeDown({ site_id, by, note, event_id: event_ids[n]! }, row.comment_no, "rejected", change.at);
  }
  // Only at the end: the comment that was named may be one of the oldest.
  if (found.length < event_ids.length) yield* forgetOldRejected(change);
  return found.length;
}

export const MODERATING = {
  queue: read((_, site_id: string, state: QueueState, after: number | null, limit: number) =>
    queue(site_id, state, after, limit),
  ),
  counts: read((_, site_id: string) => counts(site_id)),
  /** Reports a comment that is there, hidden or not; else nothing happens. */
  report: write((backend, site_id: string, id: string, said: { reason: ReportReason; text: string | null }) =>
    outboxRows.announcing(backend, report(site_id, id, said, backend.now()), (done) =>
      done ? { type: "comment.reported", site_id, comment_id: id } : null,
    ),
  ),
  /** Answers how many were rejected: where that is as many as may be, there may be more. Throws 404 as `decide`, and 400. */
  rejectAll: write(({ now }, wanted: MassRejection) => rejectAll(wanted, now())),
  /** Throws 404 if the site has no such comment. */
  decide: write((backend, decision: CommentDecision & Held) =>
    outboxRows.announcing(backend, decide(decision, backend.now()), (done) => outboxRows.decided(decision, done)),
  ),
};

// Removals: at the author's wish, at the owner's, or with all that a person wrote.

const empty = statement(
  `update comments set text = null, text_hash = null, network = null, state = ?2, modified_at = ?3, rev = rev + 1,
     public_no = case when ?4 = 1 then ?5 else public_no end, own_no = ?5
   where comment_no = ?1`,
);
const emptyThread = statement(
  `update comments set text = null, text_hash = null, network = null, state = 'deleted', modified_at = ?2, rev = rev + 1,
     public_no = case when was_public = 1 then ?3 else public_no end, own_no = ?3
   where thread_no = ?1 and state <> 'deleted'`,
);
const answered = statement<{ n: number }>(
  `select count(*) as n from comments where thread_no = ?1 and comment_no <> ?1 and state = 'public'`,
);
const forgetReports = statement("delete from comment_reports where comment_no = ?");

/** Whether strangers saw it; not if it was rejected, for that is hidden for good. */
const wasSeen = ({ state, was_public }: CommentStanding): boolean =>
  was_public === 1 && (state === "public" || state === "pending");

/** A root that strangers saw and others answered stays as a gap. An answer that waits is not enough, for the gap would betray
 *  it: then the gap comes with the first answer that is approved. */
function* gapOf(row: CommentStanding): Op<"deleted" | "erased"> {
  if (!changes.isRoot(row) || !wasSeen(row)) return "deleted";
  return (yield* answered.get(row.comment_no))!.n > 0 ? "erased" : "deleted";
}

function* takeAway(row: CommentStanding, state: "deleted" | "erased", { at, no }: NumberedChange): Op<void> {
  const seen = changes.isPublic(row) || state === "erased" ? 1 : 0;
  yield* empty.do(row.comment_no, state, at, seen, no);
  yield* forgetReports.do(row.comment_no);
  if (seen && !changes.isRoot(row)) yield* changes.countReply(row.thread_no, no);
}

/** Deleted comments that are remembered, so that their addresses say so; of older ones nothing is left. */
const REMEMBERED = 5000;
const forgetOldest = statement(
  `delete from comments where comment_no in (
     select c.comment_no from comments c where c.site_id = ?1 and c.state = 'deleted'
       and (c.comment_no <> c.thread_no or not exists (
         select 1 from comments o where o.thread_no = c.thread_no and o.state <> 'deleted'))
     order by c.comment_no desc limit 500 offset ${REMEMBERED})`,
);

/** Removes a root with its whole thread: by the owner, or by its author if strangers never saw it, for nobody could see the
 *  answers any more. */
function* takeThread(row: CommentStanding, { at, no }: NumberedChange): Op<void> {
  yield* emptyThread.do(row.thread_no, at, no);
  yield* forgetReportsOfThread.do(row.thread_no);
}
const forgetReportsOfThread = statement(
  "delete from comment_reports where comment_no in (select comment_no from comments where thread_no = ?)",
);

/** Rejected comments that a site keeps, the newest ones: they take no place, so nothing else bounds them. */
const REJECTED_KEPT = 5000;
const oldRejected = statement<Pick<CommentStanding, "id">>(
  `select id from comments where site_id = ? and state = 'rejected' order by comment_no desc limit 500 offset ${REJECTED_KEPT}`,
);

function* forgetOldRejected(change: NumberedChange): Op<void> {
  const { site_id } = change.site;
  yield* forgetOldest.do(site_id);
  for (const { id } of yield* oldRejected.all(site_id)) {
    const row = yield* changes.standingOf(site_id, id);
    if (changes.isRoot(row)) yield* takeThread(row, change);
    else yield* takeAway(row, "deleted", change);
  }
}

function* takeOwn(row: CommentStanding, state: "deleted" | "erased", begun: NumberedChange): Op<void> {
  if (changes.isRoot(row) && row.was_public === 0) yield* takeThread(row, begun);
  else yield* takeAway(row, state, begun);
}

function* remove(removal: Removal, now: number): Op<void> {
  const { site_id, id, by } = removal;
  yield* refuseUnlessHeld(removal, now);
  const begun = yield* changes.begin(site_id, now, by);
  const row = by.kind === "owner" ? yield* changes.threadStandingOf(site_id, id) : yield* changes.ownStanding(removal);
  changes.refuseChanged(row, removal.revs);
  yield* forgetOldest.do(site_id);
  if (by.kind !== "owner") return yield* takeOwn(row, yield* gapOf(row), begun);
  yield* changes.writeDown({ ...removal, note: null }, row.comment_no, "deleted", begun.at);
  if (changes.isRoot(row)) yield* takeThread(row, begun);
  else yield* takeAway(row, "deleted", begun);
}

const ofPerson = statement<Pick<CommentStanding, "id">>(
  // Replies before the root that may take them along.
  "select id from comments where site_id = ? and person_id = ? and text is not null order by comment_no desc",
);

/** A gap stays of each comment that strangers saw, and nothing of the person. */
function* erase(site_id: string, person_id: string, now: number): Op<void> {
  const begun = yield* changes.begin(site_id, now);
  for (const { id } of yield* ofPerson.all(site_id, person_id)) {
    const row = yield* changes.standingOf(site_id, id);
    yield* takeOwn(row, wasSeen(row) ? "erased" : "deleted", begun);
  }
  yield* forgetPerson(site_id, person_id);
}

export const REMOVING = {
  /** Throws 412 `changed`, 404 if it is not theirs. The owner takes a root's replies along. */
  remove: write(({ now }, removal: Removal) => remove(removal, now()), { frees: true }),
  /** All that they wrote, and their name. */
  erase: write(({ now }, site_id: string, person_id: string) => erase(site_id, person_id, now()), { frees: true }),
};

const unname = statement("update comments set person_id = null, canonical = null where site_id = ? and person_id = ?");

const forget = statement("delete from comment_people where site_id = ? and person_id = ?");

function* forgetPerson(site_id: string, person_id: string): Op<void> {
  yield* unname.do(site_id, person_id);
  yield* forget.do(site_id, person_id);
}
