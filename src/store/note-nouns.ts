/** The nouns of comments as the store keeps them: threads and what is written in them, people, settings, and what is
 *  decided. Every `…_at` is ISO 8601 unless it says otherwise. */
import type { CommentsMode } from "../base/types.ts";

export type Kind = "visitor" | "owner" | "agent";
/** `rejected` is shown to nobody but in the queue of what was. */
export type Visibility = "public" | "pending" | "rejected";
export type Status = "open" | "resolved";
/** How a thread's passage stands in the live version. */
export type Carried = "exact" | "edited" | "lost";

export interface Author {
  /** `p_…`, of an agent `a_…`. */
  id: string;
  name: string;
  kind: Kind;
}

/** A passage in the normalised text of a page. */
export interface Quote {
  exact: string;
  prefix: string;
  suffix: string;
}

/** UTF-16 units of the normalised text of the thread's page in that version. */
export interface Place {
  version_id: string;
  start: number;
  end: number;
}

/** Who looks. A visitor sees what waits of their own; the owner, and an agent that may, sees all that waits. */
export type Viewpoint = { kind: "public" } | { kind: "visitor"; person_id: string } | { kind: "owner" };

export interface StoredComment {
  id: string;
  /** Null where it is erased. */
  by: Author | null;
  text: string | null;
  visibility: Visibility;
  /** The author's own name for it, an IRI; null where they gave none. */
  canonical: string | null;
  created_at: string;
  edited_at: string | null;
  /** The last change of any kind. */
  modified_at: string;
  /** Another one after each change that the viewpoint sees: its entity tag is `"a<rev>"`. */
  rev: string;
}

export interface StoredThread {
  /** Of its first comment too. */
  id: string;
  /** `/guide.html`. */
  page: string;
  status: Status;
  /** What it was written on. */
  version_id: string;
  /** When that was deployed. It may be gone since. */
  version_created_at: string;
  /** Null: the whole page. */
  quote: Quote | null;
  carried: Carried | null;
  /** Where it was last found; null where it never was, or has no quote. */
  place: Place | null;
  /** An id or a tag path, as a browser told it. */
  element: string | null;
  /** In the order of writing, those that the viewpoint may see: the first is the root. An erased one has neither author nor
   *  text. */
  comments: StoredComment[];
}

export interface View {
  /** Of all that this viewpoint sees there: equal while nothing of it has changed, larger afterwards. */
  stamp: number;
  threads: StoredThread[];
  /** Threads, and what was answered in them, that it saw before and sees no more. */
  gone: string[];
}

/** An item of a feed: a comment that everybody may see, with what its annotation says of its thread. */
export interface PublicComment {
  id: string;
  thread_id: string;
  by: Author;
  text: string;
  /** The author's own name for it, an IRI; null where they gave none. */
  canonical: string | null;
  created_at: string;
  /** Edits, approvals, and of a root what is decided of its thread. */
  modified_at: string;
  page: string;
  version_id: string;
  version_created_at: string;
  quote: Quote | null;
  status: Status;
  /** Of a root: how many public replies. */
  replies: number;
}

export interface Feed {
  total: number;
  /** Of the newest change; null where it is empty. */
  modified_at: string | null;
  /** Oldest first. */
  items: PublicComment[];
}

export interface ThreadList {
  threads: StoredThread[];
  /** For `after`; null at the end. */
  next: number | null;
}

export interface AskedThreads {
  /** Null: of all pages. */
  page: string | null;
  /** Null: both. */
  status: Status | null;
  /** Changed at this time or later. */
  since: string | null;
  after: number | null;
  /** At most so many, newest first. */
  limit: number;
}

export type QueueState = "pending" | "reported" | "rejected";
export type ReportReason = "spam" | "abuse" | "privacy" | "other";

export interface QueueItem {
  id: string;
  thread_id: string;
  page: string;
  text: string;
  by: Author;
  created_at: string;
  visibility: Visibility;
  reports: { reason: ReportReason; text: string | null; created_at: string }[];
}

export interface Queue {
  items: QueueItem[];
  next: number | null;
}

/** Threads that are open and resolved, and comments in each queue. */
export type NoteCounts = Record<Status | QueueState, number>;

export type WebhookEvent =
  "thread.created" | "reply.created" | "thread.resolved" | "thread.reopened" | "comment.reported";

export interface Webhook {
  url: string;
  events: WebhookEvent[];
  secret: string;
}

export interface CommentSettings {
  mode: CommentsMode;
  /** The mode that they had when they were last on; null where they never were. */
  last_mode: Exclude<CommentsMode, "off"> | null;
  passcode_hash: string | null;
  /** Grants of an older one are void. */
  passcode_epoch: number;
  webhook: Webhook | null;
}

export type Scope = "read" | "reply" | "resolve" | "see_pending";

export interface AgentToken {
  token_id: string;
  site_id: string;
  /** Shown as the author of what is written with it. */
  name: string;
  scopes: Scope[];
  created_at: string;
  last_used_at: string | null;
  /** Epoch milliseconds. */
  expires_at: number;
}

export type EventAction = "approved" | "rejected" | "resolved" | "reopened" | "deleted";

/** A line of a comment's history. */
export interface NoteEvent {
  id: string;
  comment_id: string;
  action: EventAction;
  by: Author;
  note: string | null;
  created_at: string;
}

/** A thread's passage, for whoever carries it to another version. */
export interface AnchorRow {
  id: string;
  page: string;
  status: Status;
  quote: Quote;
  carried: Carried;
  /** Where it was last found; null where it never was. */
  place: Place | null;
}

/** `place` null: not found there, and the last one stays. */
export interface CarriedRow {
  id: string;
  carried: Carried;
  place: Place | null;
}
