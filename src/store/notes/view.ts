/** A page's threads, or one comment, as a viewpoint sees them. */
import type {
  Author,
  FoundComment,
  Status,
  StoredComment,
  StoredThread,
  ThreadReport,
  Viewpoint,
  Visibility,
} from "../notes.ts";
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
  /** The site's last change then. */
  no: number;
  threads: StoredThread[];
}

interface ChangedView {
  no: number;
  /** Null if they are so many that all may be told as well. */
  threads: StoredThread[] | null;
  /** Threads, and what was answered in them, that it saw before and sees no more. */
  gone: string[];
}

interface PartView extends View {
  /** From 1; the last one where there are not so many. */
  part: number;
  /** At least 1. */
  parts: number;
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

const lastChange = statement<{ stamp: number | null; own: number | null }>(
  `select max(no) as stamp, max(own) as own from (
     select max(${numberOf("c")}) as no, max(case when c.person_id = ?3 then 1 else 0 end) as own from ${COMMENTS} where ${OF_PAGE}
     union all
     select max(t.changed_no), 0 from ${THREADS} where ${OF_PAGE} and ${visibilityWhere("r")}) as numbers`,
);

/** `stamp`: a number for all that this viewpoint sees there: equal while nothing of it has changed, larger afterwards. */
function* standingOf(site_id: string, page: string, as: Viewpoint): Op<{ stamp: number; own: boolean }> {
  const seen = yield* lastChange.get(...viewerValues(site_id, as), page);
  return { stamp: seen?.stamp ?? 0, own: seen?.own === 1 };
}

const changeNo = statement<{ change_no: number }>("select change_no from comment_settings where site_id = ?");

function* changeNumber(site_id: string): Op<number> {
  return (yield* changeNo.get(site_id))?.change_no ?? 0;
}

const hasChanged = `(t.changed_no > ?5 or exists (
  select 1 from comments c where c.thread_no = t.thread_no and ${numberOf("c")} > ?5))`;
const IN_PART = `t.thread_no in (
  select t.thread_no from ${THREADS} where ${OF_PAGE} and ${visibilityWhere("r")} order by t.thread_no limit ?5 offset ?6)`;

/** Threads of a page, and the comments in them. */
const threadsWhere = (condition: string) => ({
  threads: statement<ThreadRow>(
    `select ${THREAD_COLUMNS} from ${THREADS} where ${OF_PAGE} and ${visibilityWhere("r")} and ${condition} order by t.thread_no`,
  ),
  comments: statement<CommentRow>(
    `select ${COMMENT_COLUMNS} from ${COMMENTS} ${WITH_PERSON}
     where ${OF_PAGE} and ${visibilityWhere("r")} and ${visibilityWhere("c")} and ${condition} order by c.comment_no`,
  ),
});
const ALL = threadsWhere("true");
const CHANGED = threadsWhere(hasChanged);
const PART = threadsWhere(IN_PART);

/** Bytes around a text. */
const FRAME = 300;
const sizeOfChanged = statement<{ n: number }>(
  `select coalesce(sum(c.written + ${FRAME}), 0) as n from ${COMMENTS}
   where ${OF_PAGE} and ${visibilityWhere("r")} and ${visibilityWhere("c")} and ${hasChanged}`,
);
/** All threads are kept as they were written out; what changed for one viewer is not. */
const MOST_CHANGED = 64 * 1024;
const countOfPage = statement<{ n: number }>(
  `select count(*) as n from ${THREADS} where ${OF_PAGE} and ${visibilityWhere("r")}`,
);
const goneOfPage = statement<{ id: string }>(
  `select c.id from ${COMMENTS}
   where ${OF_PAGE} and not ${visibilityWhere("r")} and ${numberOf("r")} > ?5 and ${numberOf("c")} > 0 order by c.comment_no`,
);

function* view(site_id: string, page: string, as: Viewpoint): Op<View> {
  const values = [...viewerValues(site_id, as), page] as const;
  const threads = together(yield* ALL.threads.all(...values), yield* ALL.comments.all(...values));
  return { no: yield* changeNumber(site_id), threads };
}

function* changedView(site_id: string, page: string, as: Viewpoint, since: number): Op<ChangedView> {
  const values = [...viewerValues(site_id, as), page, since] as const;
  const no = yield* changeNumber(site_id);
  const gone = (yield* goneOfPage.all(...values)).map(({ id }) => id);
  if ((yield* sizeOfChanged.get(...values))!.n > MOST_CHANGED) return { no, threads: null, gone };
  return { no, threads: together(yield* CHANGED.threads.all(...values), yield* CHANGED.comments.all(...values)), gone };
}

function* partView(site_id: string, page: string, as: Viewpoint, asked: number, size: number): Op<PartView> {
  const viewer = [...viewerValues(site_id, as), page] as const;
  const parts = Math.max(1, Math.ceil((yield* countOfPage.get(...viewer))!.n / size));
  const part = Math.min(asked, parts);
  const values = [...viewer, size, (part - 1) * size] as const;
  const threads = together(yield* PART.threads.all(...values), yield* PART.comments.all(...values));
  return { no: yield* changeNumber(site_id), part, parts, threads };
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
   and (c.was_public = 1 and c.state in ('deleted', 'erased') or (${visibilityWhere("c")} and ${visibilityWhere("r")}))`,
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

/** More of a thread are not shown. */
const SHOWN_REPORTS = 100;
const reportsInThread = statement<ThreadReport>(
  `select c.id as comment_id, x.reason, x.text, x.created_at
   from comments r join comments c on c.thread_no = r.comment_no join comment_reports x on x.comment_no = c.comment_no
   where r.site_id = ? and r.id = ? and c.state in ('public', 'pending')
   order by row_number() over (partition by c.comment_no order by x.report_no desc), x.report_no desc limit ${SHOWN_REPORTS}`,
);

function* reportsIn(site_id: string, thread_ids: readonly string[]): Op<ThreadReport[]> {
  const found: ThreadReport[] = [];
  for (const id of thread_ids) found.push(...(yield* reportsInThread.all(site_id, id)));
  return found;
}

export const VIEWING = {
  /** All threads of a page. */
  view: read((_, site_id: string, page: string, as: Viewpoint) => view(site_id, page, as)),
  /** Those that changed after `since`, a stamp, and what is gone; where that is much, what is gone alone. */
  changedView: read((_, site_id: string, page: string, as: Viewpoint, since: number) =>
    changedView(site_id, page, as, since),
  ),
  /** One part of `view`, of `size` threads. */
  partView: read((_, site_id: string, page: string, as: Viewpoint, part: number, size: number) =>
    partView(site_id, page, as, part, size),
  ),
  /** The stamp of what they see, and whether anything there is their own. It goes through all comments of the page. */
  standing: read((_, site_id: string, page: string, as: Viewpoint) => standingOf(site_id, page, as)),
  /** Another one after each change of the site's comments, whoever sees it: one look at a key. */
  changeNumber: read((_, site_id: string) => changeNumber(site_id)),
  threads: read((_, site_id: string, as: Viewpoint, asked: AskedThreads) => threads(site_id, as, asked)),
  /** By the id of its first comment, which may be a gap; null if the viewpoint sees none. */
  thread: read((_, site_id: string, id: string, as: Viewpoint) => thread(site_id, id, as)),
  /** Reports that wait for the owner, of comments in these threads; the newest one of each comment first, so that many
   *  of one hide none of another. */
  reportsIn: read((_, site_id: string, thread_ids: readonly string[]) => reportsIn(site_id, thread_ids)),
  find: read((_, site_id: string, id: string, as: Viewpoint) => find(site_id, id, as)),
};
