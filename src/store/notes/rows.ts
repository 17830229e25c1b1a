/** Rows of comments and threads, and what follows from a row alone. */
import { createHash } from "node:crypto";
import type { AuthorKind, Carried, Quote, Status, StoredThread, Visibility } from "../notes.ts";

/** The name of a person `p` that they and the owner alone see; null if all see the same. */
export const UNSHOWN_NAME = "case when p.name <> p.shown_name then p.name end";

export const WITH_PERSON = "left join comment_people p on p.site_id = c.site_id and p.person_id = c.person_id";

export type State = Visibility | "deleted" | "erased";

export interface Revised {
  rev: number;
  /** A name that strangers do not see; null if they see the same. */
  unshown_name: string | null;
}

const NAME_DIGITS = 8;

/** The revision has a digest of a name that only some see, for them alone: a number that grew with it would betray it. */
function revisionOf({ rev, unshown_name }: Revised): string {
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

const quoteOf = ({ exact, prefix, suffix }: QuoteColumns): Quote | null =>
  exact === null ? null : { exact, prefix: prefix ?? "", suffix: suffix ?? "" };

type PlaceColumns = Pick<ThreadRow, "found_version_id" | "found_start" | "found_end">;

const placeOf = ({ found_version_id, found_start, found_end }: PlaceColumns): StoredThread["place"] =>
  found_version_id === null ? null : { version_id: found_version_id, start: found_start!, end: found_end! };

/** Bytes that a text takes in the longer of the two forms in which it is written out: a quotation mark is six in HTML, a
 *  control character six in JSON. */
const writtenBytes = (text: string): number =>
  Math.max(Buffer.byteLength(Bun.escapeHTML(text)), Buffer.byteLength(JSON.stringify(text)) - 2);

/** Nouns made of columns, and the values of some. */
export const noteRows = {
  writtenBytes,
  revisionOf,
  quoteOf,
  placeOf,
};

/** A condition: everybody sees the comment `c` in the thread of `r`. */
export const IS_PUBLIC = "c.state = 'public' and r.state in ('public', 'erased')";
