/** Comments that go: at their author's wish, at the owner's, or with all that somebody wrote. */
import type { Removal } from "../notes.ts";
import { type Op, statement, write } from "../operation.ts";
import {
  begin,
  type CommentStanding,
  countReply,
  isPublic,
  isRoot,
  type NumberedChange,
  ownStanding,
  refuseChanged,
  standingOf,
  threadStandingOf,
  writeDown,
} from "./changes.ts";
import { forgetPerson } from "./people.ts";

const empty = statement(
  `update comments set text = null, text_hash = null, state = ?2, modified_at = ?3, rev = rev + 1,
     public_no = case when ?4 = 1 then ?5 else public_no end, own_no = ?5
   where comment_no = ?1`,
);
const emptyThread = statement(
  `update comments set text = null, text_hash = null, state = 'deleted', modified_at = ?2, rev = rev + 1,
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
  if (!isRoot(row) || !wasSeen(row)) return "deleted";
  return (yield* answered.get(row.comment_no))!.n > 0 ? "erased" : "deleted";
}

function* takeAway(row: CommentStanding, state: "deleted" | "erased", { at, no }: NumberedChange): Op<void> {
  const seen = isPublic(row) || state === "erased" ? 1 : 0;
  yield* empty.do(row.comment_no, state, at, seen, no);
  yield* forgetReports.do(row.comment_no);
  if (seen && !isRoot(row)) yield* countReply(row.thread_no, no);
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

function* takeOwn(row: CommentStanding, state: "deleted" | "erased", begun: NumberedChange): Op<void> {
  if (isRoot(row) && row.was_public === 0) yield* takeThread(row, begun);
  else yield* takeAway(row, state, begun);
}

function* remove(removal: Removal, now: number): Op<void> {
  const { site_id, id, by } = removal;
  const begun = yield* begin(site_id, now);
  const row = by.kind === "owner" ? yield* threadStandingOf(site_id, id) : yield* ownStanding(removal);
  refuseChanged(row, removal.revs);
  yield* forgetOldest.do(site_id);
  if (by.kind !== "owner") return yield* takeOwn(row, yield* gapOf(row), begun);
  yield* writeDown({ ...removal, note: null }, row.comment_no, "deleted", begun.at);
  if (isRoot(row)) yield* takeThread(row, begun);
  else yield* takeAway(row, "deleted", begun);
}

const ofPerson = statement<Pick<CommentStanding, "id">>(
  // Replies before the root that may take them along.
  "select id from comments where site_id = ? and person_id = ? and text is not null order by comment_no desc",
);

/** A gap stays of each comment that strangers saw, and nothing of the person. */
function* erase(site_id: string, person_id: string, now: number): Op<void> {
  const begun = yield* begin(site_id, now);
  for (const { id } of yield* ofPerson.all(site_id, person_id)) {
    const row = yield* standingOf(site_id, id);
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
