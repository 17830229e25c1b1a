/** Rows of comments as the interface has them, and who sees them. */
import { createHash } from "node:crypto";
import type {
  Author,
  Carried,
  AuthorKind,
  Quote,
  Status,
  StoredComment,
  StoredThread,
  Viewpoint,
  Visibility,
} from "../notes.ts";

/** The name of a person `p` that they and the owner alone see; null if all see the same. */
export const UNSHOWN_NAME = "case when p.name <> p.shown_name then p.name end";

/** Columns of a comment `c` with its person `p`, as the viewer of ?2 and ?3 sees it. */
export const COMMENT_COLUMNS = `case when ?2 = 1 or c.person_id = ?3 then ${UNSHOWN_NAME} end as unshown_name, c.comment_no, c.id, c.thread_no, c.person_id, c.text, c.state, c.canonical, c.created_at, c.edited_at,
  c.modified_at, c.rev, p.kind, case when ?2 = 1 or c.person_id = ?3 then p.name else p.shown_name end as name`;
export const WITH_PERSON = "left join comment_people p on p.site_id = c.site_id and p.person_id = c.person_id";

export type State = Visibility | "deleted" | "erased";

export interface Revised {
  rev: number;
  /** A name that strangers do not see; null if they see the same. */
  unshown_name: string | null;
}

const NAME_DIGITS = 8;

/** The revision has a digest of a name that only some see, for them alone: a number that grew with it would betray it. */
export function revisionOf({ rev, unshown_name }: Revised): string {
  if (unshown_name === null) return String(rev);
  return `${rev}.${createHash("sha256").update(unshown_name).digest("hex").slice(0, NAME_DIGITS)}`;
}

export interface CommentRow extends Revised {
  comment_no: number;
  id: string;
  thread_no: number;
  person_id: string | null;
  text: string | null;
  state: State;
  created_at: string;
  canonical: string | null;
  edited_at: string | null;
  modified_at: string;
  kind: AuthorKind | null;
  name: string | null;
}

export const THREAD_COLUMNS = `t.thread_no, t.page, t.status, t.version_id, t.version_created_at, t.exact, t.prefix,
  t.suffix, t.element, t.carried, t.found_version_id, t.found_start, t.found_end`;

export interface ThreadRow {
  thread_no: number;
  page: string;
  status: Status;
  version_id: string;
  version_created_at: string;
  exact: string | null;
  prefix: string | null;
  suffix: string | null;
  element: string | null;
  carried: Carried | null;
  found_version_id: string | null;
  found_start: number | null;
  found_end: number | null;
}

type QuoteColumns = Pick<ThreadRow, "exact" | "prefix" | "suffix">;

export const quoteOf = ({ exact, prefix, suffix }: QuoteColumns): Quote | null =>
  exact === null ? null : { exact, prefix: prefix ?? "", suffix: suffix ?? "" };

type PlaceColumns = Pick<ThreadRow, "found_version_id" | "found_start" | "found_end">;

export const placeOf = ({ found_version_id, found_start, found_end }: PlaceColumns): StoredThread["place"] =>
  found_version_id === null ? null : { version_id: found_version_id, start: found_start!, end: found_end! };

/** Null if the author is named no more. */
const authorOf = ({ state, person_id, name, kind }: Pick<CommentRow, "state" | "person_id" | "name" | "kind">) =>
  state === "erased" || person_id === null || name === null ? null : ({ id: person_id, name, kind: kind! } as Author);

/** A reply is public only while its root is: beneath one that waits, or was rejected, it waits with it. */
function visibilityOf(state: State, root_state: State): Visibility {
  if (state === "pending" || state === "rejected") return state;
  return root_state === "public" || root_state === "erased" ? "public" : "pending";
}

export function commentOf(row: CommentRow, root_state: State): StoredComment {
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
    rev: revisionOf(row),
  };
}

/** `comments` begin with the root. */
export const threadOf = (row: ThreadRow, comments: readonly CommentRow[]): StoredThread => ({
  id: comments[0]!.id,
  page: row.page,
  status: row.status,
  version_id: row.version_id,
  version_created_at: row.version_created_at,
  quote: quoteOf(row),
  carried: row.carried,
  place: placeOf(row),
  element: row.element,
  comments: comments.map((comment) => commentOf(comment, comments[0]!.state)),
});

/** Parameters of the conditions below, which are asked of the rows `c` (a comment) and `r` (the first of its thread): ?1 (site),
 *  ?2 (1 for the owner) and ?3 (the visitor's person, or the empty string). */
export type ViewerValues = readonly [site_id: string, owner: 0 | 1, person_id: string];

export const viewerValues = (site_id: string, as: Viewpoint): ViewerValues => [
  site_id,
  as.kind === "owner" ? 1 : 0,
  as.kind === "visitor" ? as.person_id : "",
];

const isViewersOwn = (row: string) => `(?2 = 1 or ${row}.person_id = ?3)`;

/** A condition: the viewer sees the comment `c`, or the thread whose first comment is `r`. */
export const visibilityWhere = (row: "c" | "r"): string =>
  `(${row}.state in ('public', 'erased') or (${row}.state = 'pending' and ${isViewersOwn(row)}))`;

/** The number of the last change that the viewer could see; 0 if they never saw the comment. */
export const numberOf = (row: "c" | "r"): string =>
  `case when ${isViewersOwn(row)} then ${row}.own_no when ${row}.was_public = 1 then ${row}.public_no else 0 end`;

/** A condition: everybody sees the comment `c` in the thread of `r`. */
export const IS_PUBLIC = "c.state = 'public' and r.state in ('public', 'erased')";
