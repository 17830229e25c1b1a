/** An author's second thoughts. */
import { Refusal } from "../../../base/errors.ts";
import type { Edit, Found } from "../../notes.ts";
import { type Op, statement } from "../db.ts";
import { begin, countReply, isPublic, isRoot, ownStanding, refuseChanged } from "./changes.ts";
import { hashOf, isRepeated } from "./repeated.ts";
import { refuseFullTextIn } from "./room.ts";
import { find } from "./view.ts";

const editWindowOver = (): Refusal =>
  new Refusal("edit_window_over", "A comment can be changed for 15 minutes. Delete it, or write another one.");

const change = statement(
  `update comments set text = ?2, text_hash = ?7, state = ?3, edited_at = ?4, modified_at = ?4, rev = rev + 1,
     public_no = case when ?5 = 1 then ?6 else public_no end, own_no = ?6
   where comment_no = ?1`,
);

export function* edit(wanted: Edit, now: number): Op<Found> {
  const { site_id, by, text } = wanted;
  const begun = yield* begin(site_id, now);
  const row = yield* ownStanding(wanted);
  if (by.kind === "visitor" && row.created_at < wanted.written_after) throw editWindowOver();
  refuseChanged(row, wanted.revs);
  yield* refuseFullTextIn(wanted, row.thread_no, row.comment_no);
  const again = by.kind === "visitor" && (yield* isRepeated(site_id, by.id, text, row.comment_no));
  const waits = wanted.waits || again;
  const state = waits ? "pending" : row.state;
  yield* change.do(row.comment_no, text, state, begun.at, isPublic(row) ? 1 : 0, begun.no, hashOf(text));
  if (waits && isPublic(row) && !isRoot(row)) yield* countReply(row.thread_no, begun.no);
  const as = by.kind === "visitor" ? ({ kind: "visitor", person_id: by.id } as const) : ({ kind: "owner" } as const);
  return (yield* find(site_id, wanted.id, as)) as Found;
}
