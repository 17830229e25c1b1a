/** What every change of comments stands on: a site that takes it, its number, and who makes it. */
import { Refusal } from "../../../base/errors.ts";
import type { Author } from "../../notes.ts";
import { refuseUnlessCommentable, unknownComment, unknownSite } from "../../refusals.ts";
import type { Site } from "../../../base/types.ts";
import { type Op, statement } from "../db.ts";
import { siteById } from "../sites.ts";
import { type Revised, revisionOf, type State, UNSHOWN_NAME, WITH_PERSON } from "./rows.ts";

/** One change: when, and its number among those of the site. */
export interface Change {
  site: Site;
  at: string;
  no: number;
}

const count = statement<{ change_no: number }>(
  "update comment_settings set change_no = change_no + 1 where site_id = ? returning change_no",
);

/** Throws what whoever asked would be told had they asked only now. */
export function* begin(site_id: string, now: number): Op<Change> {
  const site = yield* siteById.get(site_id);
  if (site === null) throw unknownSite();
  refuseUnlessCommentable(site, now);
  return { site, at: new Date(now).toISOString(), no: yield* nextNumber(site_id) };
}

/** There is a row as soon as comments were on once. */
export function* nextNumber(site_id: string): Op<number> {
  return (yield* count.get(site_id))!.change_no;
}

export interface Standing extends Revised {
  comment_no: number;
  id: string;
  thread_no: number;
  person_id: string | null;
  state: State;
  was_public: 0 | 1;
  created_at: string;
  root_state: State;
}

const standing = statement<Standing>(
  `select c.comment_no, c.id, c.thread_no, c.person_id, c.state, c.was_public, c.created_at, c.rev,
     ${UNSHOWN_NAME} as unshown_name, r.state as root_state
   from comments c join comments r on r.comment_no = c.thread_no ${WITH_PERSON} where c.site_id = ? and c.id = ?`,
);

export const isRoot = ({ comment_no, thread_no }: Pick<Standing, "comment_no" | "thread_no">): boolean =>
  comment_no === thread_no;

/** Throws 404 where the site has none, or none any more. */
export function* standingOf(site_id: string, id: string): Op<Standing> {
  const row = yield* threadStandingOf(site_id, id);
  if (row.state === "erased") throw unknownComment();
  return row;
}

/** Of what is done with a thread as a whole: its first comment may be a gap. */
export function* threadStandingOf(site_id: string, id: string): Op<Standing> {
  const row = yield* standing.get(site_id, id);
  if (row === null || row.state === "deleted" || (row.state === "erased" && !isRoot(row))) throw unknownComment();
  return row;
}

const isShown = (state: State): boolean => state === "public" || state === "erased";

/** Whether strangers see it now. */
export const isPublic = ({ state, root_state }: Pick<Standing, "state" | "root_state">): boolean =>
  isShown(state) && isShown(root_state);

const showInRoot = statement(`update comments set rev = rev + 1, public_no = ?2, own_no = ?2 where comment_no = ?1`);

/** The root's annotation counts the public replies. */
export const countReply = (thread_no: number, no: number): Op<void> => showInRoot.do(thread_no, no);

/** Of whom it is the own, and no rejected one: that is none for its author either. */
export function* ownStanding({ site_id, id, by }: Own): Op<Standing> {
  const row = yield* standingOf(site_id, id);
  if (row.person_id !== by.id || row.state === "rejected") throw unknownComment();
  return row;
}
interface Own {
  site_id: string;
  id: string;
  by: Pick<Author, "id">;
}

/** As its author and the owner know it. */
export function refuseChanged(row: Standing, expected: readonly string[] | null): void {
  if (expected === null || expected.includes(revisionOf(row))) return;
  throw new Refusal("changed", "This comment has changed meanwhile. Reload it, then try again.");
}
