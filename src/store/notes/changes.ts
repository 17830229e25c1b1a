/** The base of every change of comments: a site that takes it, its number, who makes it, its line in the history; and the places of passages, which
 *  change with the version. */
import { Refusal } from "../../base/errors.ts";
import type { Site } from "../../base/types.ts";
import type { AnchorRow, Author, AuthorKind, CarriedRow, EventAction, NoteEvent } from "../notes.ts";
import { type Op, read, statement, write } from "../operation.ts";
import { refusals, refuseUnlessCommentable } from "../refusals.ts";
import { siteRows } from "../sites.ts";
import { noteRows, type Revised, type State, type ThreadRow, UNSHOWN_NAME, WITH_PERSON } from "./rows.ts";

/** One change: when, and its number among those of the site. */
export interface NumberedChange {
  site: Site;
  at: string;
  no: number;
}

const count = statement<{ change_no: number }>(
  "update comment_settings set change_no = change_no + 1 where site_id = ? returning change_no",
);

const ownerEnded = (): Refusal =>
  new Refusal("unauthorized", "The owner ended your hour here: open the comments anew from the dashboard.");

/** Throws the refusal that the caller would get if they asked only now. */
function* begin(site_id: string, now: number, by: Pick<Author, "owner_epoch"> = {}): Op<NumberedChange> {
  const site = yield* siteRows.byId.get(site_id);
  if (site === null) throw refusals.unknownSite();
  refuseUnlessCommentable(site, now);
  // The head of the request may have come minutes before its body.
  if (by.owner_epoch !== undefined && by.owner_epoch !== site.owner_epoch) throw ownerEnded();
  return { site, at: new Date(now).toISOString(), no: yield* nextNumber(site_id) };
}

/** There is a row as soon as comments were on once. */
function* nextNumber(site_id: string): Op<number> {
  return (yield* count.get(site_id))!.change_no;
}

export interface CommentStanding extends Revised {
  comment_no: number;
  id: string;
  thread_no: number;
  person_id: string | null;
  state: State;
  was_public: 0 | 1;
  created_at: string;
  root_state: State;
}

const standing = statement<CommentStanding>(
  `select c.comment_no, c.id, c.thread_no, c.person_id, c.state, c.was_public, c.created_at, c.rev,
     ${UNSHOWN_NAME} as unshown_name, r.state as root_state
   from comments c join comments r on r.comment_no = c.thread_no ${WITH_PERSON} where c.site_id = ? and c.id = ?`,
);

const isRoot = ({ comment_no, thread_no }: Pick<CommentStanding, "comment_no" | "thread_no">): boolean =>
  comment_no === thread_no;

/** Throws 404 if the site has none, or none any more. */
function* standingOf(site_id: string, id: string): Op<CommentStanding> {
  const row = yield* threadStandingOf(site_id, id);
  if (row.state === "erased") throw refusals.unknownComment();
  return row;
}

/** For what is done with a thread as a whole: its first comment may be a gap. */
function* threadStandingOf(site_id: string, id: string): Op<CommentStanding> {
  const row = yield* standing.get(site_id, id);
  if (row === null || row.state === "deleted" || (row.state === "erased" && !isRoot(row)))
    throw refusals.unknownComment();
  return row;
}

const isShown = (state: State): boolean => state === "public" || state === "erased";

/** Whether strangers see it now. */
const isPublic = ({ state, root_state }: Pick<CommentStanding, "state" | "root_state">): boolean =>
  isShown(state) && isShown(root_state);

const showInRoot = statement(`update comments set rev = rev + 1, public_no = ?2, own_no = ?2 where comment_no = ?1`);

/** The root's annotation counts the public replies. */
const countReply = (thread_no: number, no: number): Op<void> => showInRoot.do(thread_no, no);

/** The comment, if it is the person's own and was not rejected: a rejected one is none for its author either. */
function* ownStanding({ site_id, id, by }: OwnComment): Op<CommentStanding> {
  const row = yield* standingOf(site_id, id);
  if (row.person_id !== by.id || row.state === "rejected") throw refusals.unknownComment();
  return row;
}
interface OwnComment {
  site_id: string;
  id: string;
  by: Pick<Author, "id">;
}

/** Throws if the comment has changed from what its author or the owner saw. */
function refuseChanged(row: CommentStanding, expected: readonly string[] | null): void {
  if (expected === null || expected.includes(noteRows.revisionOf(row))) return;
  throw new Refusal("changed", "This comment has changed meanwhile. Reload it, then try again.");
}

const insert = statement(
  `insert into comment_events (id, site_id, comment_no, action, by_id, by_name, by_kind, note, created_at)
   values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);

interface HistoryLine {
  event_id: string;
  site_id: string;
  by: Author;
  note: string | null;
}

/** Lines that a comment keeps, and a site of all its comments: turning one back and forth fills no disk. */
const MOST_EVENTS = { of_comment: 100, of_site: 5000 };
const forgetOldest = statement(
  `delete from comment_events where event_no in (
     select event_no from comment_events where comment_no = ?1 order by event_no desc limit 10 offset ${MOST_EVENTS.of_comment})`,
);
const forgetOldestOfSite = statement(
  `delete from comment_events where event_no in (
     select event_no from comment_events where site_id = ?1 order by event_no desc limit 10 offset ${MOST_EVENTS.of_site})`,
);

/** Writes down what was decided of a comment, and by whom: a line never changes. */
function* writeDown(line: HistoryLine, comment_no: number, action: EventAction, at: string): Op<void> {
  const { event_id, site_id, by, note } = line;
  yield* insert.do(event_id, site_id, comment_no, action, by.id, by.name, by.kind, note, at);
  yield* forgetOldest.do(comment_no);
  yield* forgetOldestOfSite.do(site_id);
}

/** The steps of every change of a comment. */
export const changes = {
  begin,
  nextNumber,
  isRoot,
  standingOf,
  threadStandingOf,
  isPublic,
  countReply,
  ownStanding,
  refuseChanged,
  writeDown,
};

interface EventRow {
  id: string;
  comment_id: string;
  action: EventAction;
  by_id: string;
  by_name: string;
  by_kind: AuthorKind;
  note: string | null;
  created_at: string;
}

const ofComment = statement<EventRow>(
  `select e.id, c.id as comment_id, e.action, e.by_id, e.by_name, e.by_kind, e.note, e.created_at
   from comment_events e join comments c on c.comment_no = e.comment_no
   where c.site_id = ? and c.id = ? order by e.event_no`,
);

function* history(site_id: string, id: string): Op<NoteEvent[]> {
  const rows = yield* ofComment.all(site_id, id);
  return rows.map(({ by_id, by_name, by_kind, ...rest }) => ({
    ...rest,
    by: { id: by_id, name: by_name, kind: by_kind },
  }));
}

export const HISTORY = {
  /** Oldest first. */
  history: read((_, site_id: string, id: string) => history(site_id, id)),
};

// The passages of a site's threads, to be carried from one version to the next.

const quoted = statement<ThreadRow & { id: string }>(
  `select r.id, t.page, t.status, t.exact, t.prefix, t.suffix, t.carried, t.found_version_id, t.found_start, t.found_end
   from threads t join comments r on r.comment_no = t.thread_no
   where t.site_id = ? and t.exact is not null and r.state in ('public', 'pending', 'erased') order by t.thread_no`,
);

function* anchorsOf(site_id: string): Op<AnchorRow[]> {
  const rows = yield* quoted.all(site_id);
  return rows.map((row) => ({
    id: row.id,
    page: row.page,
    status: row.status,
    quote: noteRows.quoteOf(row)!,
    carried: row.carried!,
    place: noteRows.placeOf(row),
  }));
}

// A thread that stays where it was has not changed for anybody.
const setPlace = statement(
  `update threads set
     changed_no = case when carried is not distinct from ?3 and found_start is not distinct from coalesce(?5, found_start)
       and found_end is not distinct from coalesce(?6, found_end) then changed_no else ?7 end,
     carried = ?3, found_version_id = coalesce(?4, found_version_id),
     found_start = coalesce(?5, found_start), found_end = coalesce(?6, found_end)
   where site_id = ?1 and thread_no = (select comment_no from comments where id = ?2 and site_id = ?1)`,
);

/** Within the transaction that moves the live version, or after it. */
function* carryAnchors(site_id: string, rows: readonly CarriedRow[]): Op<void> {
  if (rows.length === 0) return;
  const no = yield* changes.nextNumber(site_id);
  const values = rows.map(({ id, carried, place }) => [
    site_id,
    id,
    carried,
    place?.version_id ?? null,
    place?.start ?? null,
    place?.end ?? null,
    no,
  ]);
  yield* setPlace.each(values, "text text text text int8 int8 int8");
}

export const ANCHORS = {
  /** All threads of the site that have a quote. Empty if it never had comments: nothing is read then but an index. */
  anchors: read((_, site_id: string) => anchorsOf(site_id)),
  /** Stores the places that passages have after a change of the live version. */
  carry: write((_, site_id: string, rows: readonly CarriedRow[]) => carryAnchors(site_id, rows)),
};
