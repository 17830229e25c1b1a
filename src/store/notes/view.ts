/** A page's threads, or one comment, as a viewpoint sees them. */
import type { Author, FoundComment, Status, StoredComment, StoredThread, Viewpoint, Visibility } from "../notes.ts";
import { type Op, read, statement } from "../operation.ts";
import {
  type CommentRow,
  noteRows,
  type State,
  THREAD_COLUMNS,
  type ThreadRow,
  UNSHOWN_NAME,
  WITH_PERSON,
} from "./rows.ts";

/** `deleted`: strangers saw it once, and it is gone. Null if there is none, or none that the viewpoint may see. */
type Lookup = FoundComment | "deleted" | null;

interface AskedThreads {
  /** Null means all pages. */
  page: string | null;
  /** Null means both. */
  status: Status | null;
  /** Changed at this time or later. */
  since: string | null;
  after: number | null;
  /** At most so many, newest first. */
  limit: number;
}

interface ThreadList {
  threads: StoredThread[];
  /** For `after`; null at the end. */
  next: number | null;
}

interface View {
  /** A number for all that this viewpoint sees there: equal while nothing of it has changed, larger afterwards. */
  stamp: number;
  threads: StoredThread[];
  /** Threads, and what was answered in them, that it saw before and sees no more. */
  gone: string[];
}

/** Parameters of the conditions below, which are asked of the rows `c` (a comment) and `r` (the first of its thread): ?1 (site),
 *  ?2 (1 for the owner) and ?3 (the visitor's person, or the empty string). */
type ViewerValues = readonly [site_id: string, owner: 0 | 1, person_id: string];

export const viewerValues = (site_id: string, as: Viewpoint): ViewerValues => [
  site_id,
  as.kind === "owner" ? 1 : 0,
  as.kind === "visitor" ? as.person_id : "",
];

const isViewersOwn = (row: string) => `(?2 = 1 or ${row}.person_id = ?3)`;

/** A condition: the viewer sees the comment `c`, or the thread whose first comment is `r`. */
const visibilityWhere = (row: "c" | "r"): string =>
  `(${row}.state in ('public', 'erased') or (${row}.state = 'pending' and ${isViewersOwn(row)}))`;

/** The number of the last change that the viewer could see; 0 if they never saw the comment. */
const numberOf = (row: "c" | "r"): string =>
  `case when ${isViewersOwn(row)} then ${row}.own_no when ${row}.was_public = 1 then ${row}.public_no else 0 end`;

/** Columns of a comment `c` with its person `p`, as the viewer of ?2 and ?3 sees it. */
const COMMENT_COLUMNS = `case when ?2 = 1 or c.person_id = ?3 then ${UNSHOWN_NAME} end as unshown_name, c.comment_no, c.id, c.thread_no, c.person_id, c.text, c.state, c.canonical, c.created_at, c.edited_at,
  c.modified_at, c.rev, p.kind, case when ?2 = 1 or c.person_id = ?3 then p.name else p.shown_name end as name`;

/** Null if the author is named no more. */
const authorOf = ({ state, person_id, name, kind }: Pick<CommentRow, "state" | "person_id" | "name" | "kind">) =>
  state === "erased" || person_id === null || name === null ? null : ({ id: person_id, name, kind: kind! } as Author);

/** A reply is public only while its root is: beneath one that waits, or was rejected, it waits with it. */
function visibilityOf(state: State, root_state: State): Visibility {
  if (state === "pending" || state === "rejected") return state;
  return root_state === "public" || root_state === "erased" ? "public" : "pending";
}

function commentOf(row: CommentRow, root_state: State): StoredComment {
  const { id, text, canonical, created_at, edited_at, modified_at } = row;
  const visibility = visibilityOf(row.state, root_state);
  return {
    id,
    by: authorOf(row),
    text,
    visibility,
    canonical,
    created_at,
    edited_at,
    modified_at,
    rev: noteRows.revisionOf(row),
  };
}

/** `comments` begin with the root. */
const threadOf = (row: ThreadRow, comments: readonly CommentRow[]): StoredThread => ({
  id: comments[0]!.id,
  page: row.page,
  status: row.status,
  version_id: row.version_id,
  version_created_at: row.version_created_at,
  quote: noteRows.quoteOf(row),
  carried: row.carried,
  place: noteRows.placeOf(row),
  element: row.element,
  comments: comments.map((comment) => commentOf(comment, comments[0]!.state)),
});

const THREADS = "threads t join comments r on r.comment_no = t.thread_no";
const COMMENTS = `${THREADS} join comments c on c.thread_no = t.thread_no`;
const OF_PAGE = "t.site_id = ?1 and t.page = ?4";

const lastChange = statement<{ stamp: number | null }>(
  `select max(no) as stamp from (
     select max(${numberOf("c")}) as no from ${COMMENTS} where ${OF_PAGE}
     union all
     select max(t.changed_no) from ${THREADS} where ${OF_PAGE} and ${visibilityWhere("r")}) as numbers`,
);

function* stampOf(site_id: string, page: string, as: Viewpoint): Op<number> {
  return (yield* lastChange.get(...viewerValues(site_id, as), page))?.stamp ?? 0;
}

const hasChanged = `(t.changed_no > ?5 or exists (
  select 1 from comments c where c.thread_no = t.thread_no and ${numberOf("c")} > ?5))`;
const ofPage = statement<ThreadRow>(
  `select ${THREAD_COLUMNS} from ${THREADS} where ${OF_PAGE} and ${visibilityWhere("r")} and ${hasChanged} order by t.thread_no`,
);
const commentsOfPage = statement<CommentRow>(
  `select ${COMMENT_COLUMNS} from ${COMMENTS} ${WITH_PERSON}
   where ${OF_PAGE} and ${visibilityWhere("r")} and ${visibilityWhere("c")} and ${hasChanged} order by c.comment_no`,
);
const goneOfPage = statement<{ id: string }>(
  `select c.id from ${COMMENTS}
   where ${OF_PAGE} and not ${visibilityWhere("r")} and ${numberOf("r")} > ?5 and ${numberOf("c")} > 0 order by c.comment_no`,
);

/** Numbers begin at 1, so that all have changed after it. */
const BEFORE_ALL = 0;

function* view(site_id: string, page: string, as: Viewpoint, since: number | null): Op<View> {
  const values = [...viewerValues(site_id, as), page, since ?? BEFORE_ALL] as const;
  const stamp = yield* stampOf(site_id, page, as);
  if (since !== null && stamp <= since) return { stamp, threads: [], gone: [] };
  const threads = together(yield* ofPage.all(...values), yield* commentsOfPage.all(...values));
  const gone = since === null ? [] : yield* goneOfPage.all(...values);
  return { stamp, threads, gone: gone.map(({ id }) => id) };
}

/** `comments` in their order, of these threads and perhaps of others. */
function together(threads: readonly ThreadRow[], comments: readonly CommentRow[]): StoredThread[] {
  const within = Map.groupBy(comments, ({ thread_no }) => thread_no);
  return threads.map((thread) => threadOf(thread, within.get(thread.thread_no)!));
}

const threadRow = statement<ThreadRow>(`select ${THREAD_COLUMNS} from threads t where t.thread_no = ?`);
const seenInThread = statement<CommentRow>(
  `select ${COMMENT_COLUMNS} from comments c ${WITH_PERSON}
   where c.site_id = ?1 and c.thread_no = ?4 and (c.comment_no = ?4 or ${visibilityWhere("c")}) order by c.comment_no`,
);
const allInThread = statement<CommentRow>(
  `select ${COMMENT_COLUMNS} from comments c ${WITH_PERSON}
   where c.site_id = ?1 and c.thread_no = ?4 and (c.comment_no = ?4 or c.state <> 'deleted') order by c.comment_no`,
);

/** A thread with its root, even if the viewer does not see that; `rejected`: with what was rejected. */
export function* readThread(viewer: ViewerValues, thread_no: number, rejected = false): Op<StoredThread> {
  const thread = (yield* threadRow.get(thread_no))!;
  return threadOf(thread, yield* (rejected ? allInThread : seenInThread).all(...viewer, thread_no));
}

/** No row for a comment that the viewer may not see: it must take as long as one that does not exist. */
const one = statement<CommentRow & { root_state: State; was_public: number }>(
  `select ${COMMENT_COLUMNS}, c.was_public, r.state as root_state
   from comments c join comments r on r.comment_no = c.thread_no ${WITH_PERSON} where c.site_id = ?1 and c.id = ?4
   and (c.was_public and c.state in ('deleted', 'erased') or (${visibilityWhere("c")} and ${visibilityWhere("r")}))`,
);

export function* find(site_id: string, id: string, as: Viewpoint): Op<Lookup> {
  const viewer = viewerValues(site_id, as);
  const row = yield* one.get(...viewer, id);
  if (row === null) return null;
  if (row.state === "deleted" || row.state === "erased") return row.was_public ? "deleted" : null;
  return { thread: yield* readThread(viewer, row.thread_no), comment: commentOf(row, row.root_state) };
}

const root = statement<Pick<CommentRow, "thread_no">>(
  `select r.thread_no from comments r where r.site_id = ?1 and r.id = ?4 and r.comment_no = r.thread_no and ${visibilityWhere("r")}`,
);

function* thread(site_id: string, id: string, as: Viewpoint): Op<StoredThread | null> {
  const viewer = viewerValues(site_id, as);
  const row = yield* root.get(...viewer, id);
  return row && (yield* readThread(viewer, row.thread_no));
}

const listed = statement<ThreadRow>(
  `select ${THREAD_COLUMNS} from ${THREADS}
   where t.site_id = ?1 and ${visibilityWhere("r")} and (?4 = '' or t.page = ?4) and (?5 = '' or t.status = ?5)
     and (?6 = 0 or t.thread_no < ?6)
     and (?7 = '' or exists (
       select 1 from comments c where c.thread_no = t.thread_no and ${visibilityWhere("c")} and c.modified_at >= ?7))
   order by t.thread_no desc limit ?8`,
);

/** Characters on one page of a list: a few threads at their limits are as long as hundreds of others. */
const MOST_LISTED = 500_000;

const lengthOf = ({ comments }: StoredThread): number =>
  comments.reduce((sum, { text }) => sum + (text?.length ?? 0), 0);

function* threads(site_id: string, as: Viewpoint, asked: AskedThreads): Op<ThreadList> {
  const viewer = viewerValues(site_id, as);
  const { page, status, since, after, limit } = asked;
  const rows = yield* listed.all(...viewer, page ?? "", status ?? "", after ?? 0, since ?? "", limit + 1);
  const found: StoredThread[] = [];
  let length = 0;
  for (const { thread_no } of rows.slice(0, limit)) {
    const thread = yield* readThread(viewer, thread_no);
    found.push(thread);
    if ((length += lengthOf(thread)) > MOST_LISTED) break;
  }
  return { threads: found, next: rows.length > found.length ? rows[found.length - 1]!.thread_no : null };
}

export const VIEWING = {
  /** Threads of a page; with `since`, a stamp, those that changed after it, and what is gone. */
  view: read((_, site_id: string, page: string, as: Viewpoint, since: number | null) => view(site_id, page, as, since)),
  /** The stamp of `view` alone. */
  stamp: read((_, site_id: string, page: string, as: Viewpoint) => stampOf(site_id, page, as)),
  threads: read((_, site_id: string, as: Viewpoint, asked: AskedThreads) => threads(site_id, as, asked)),
  /** By the id of its first comment, which may be a gap; null if the viewpoint sees none. */
  thread: read((_, site_id: string, id: string, as: Viewpoint) => thread(site_id, id, as)),
  find: read((_, site_id: string, id: string, as: Viewpoint) => find(site_id, id, as)),
};
