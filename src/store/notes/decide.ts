/** Decisions of owners and agents: each is one transaction with its line in the history, and done twice is done once. */
import type { Action, Decided, CommentDecision, EventAction } from "../notes.ts";
import { type Op, statement, write } from "../operation.ts";
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
import { type State, viewerValues } from "./rows.ts";
import { readThread } from "./view.ts";

const setState = statement(
  `update comments set state = ?2, modified_at = ?3, rev = rev + 1,
     was_public = case when ?4 = 1 then 1 else was_public end,
     public_no = case when ?4 = 1 or ?5 = 1 then ?6 else public_no end, own_no = ?6
   where comment_no = ?1`,
);
// What was answered while it waited is seen from now on.
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

export const DECIDING = {
  /** Throws 404 if the site has no such comment. */
  decide: write((backend, decision: CommentDecision) =>
    announcing(backend, decide(decision, backend.now()), (done) => decided(decision, done)),
  ),
};
