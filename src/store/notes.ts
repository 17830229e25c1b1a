/** The nouns of comments as the store keeps them: threads and what is written in them, people, settings, and what is
 *  decided. Every `…_at` is ISO 8601 unless it says otherwise. */
import type { CommentsMode } from "../base/types.ts";

export type AuthorKind = "visitor" | "owner" | "agent";
/** A `rejected` comment is shown in the queue of rejected ones alone. */
export type Visibility = "public" | "pending" | "rejected";
export type Status = "open" | "resolved";
/** How a thread's passage was found in the live version. */
export type Carried = "exact" | "edited" | "lost";

export interface Author {
  /** `p_…`, of an agent `a_…`. */
  id: string;
  name: string;
  kind: AuthorKind;
}

/** A passage in the normalised text of a page. */
export interface Quote {
  exact: string;
  prefix: string;
  suffix: string;
}

/** UTF-16 units of the normalised text of the thread's page in that version. */
export interface QuotePlace {
  version_id: string;
  start: number;
  end: number;
}

/** The one who looks. A visitor sees what waits of their own; the owner, and an agent that may, sees all that waits. */
export type Viewpoint = { kind: "public" } | { kind: "visitor"; person_id: string } | { kind: "owner" };

export interface StoredComment {
  id: string;
  /** Null if it is erased. */
  by: Author | null;
  text: string | null;
  visibility: Visibility;
  /** The author's own name for it, an IRI; null if they gave none. */
  canonical: string | null;
  created_at: string;
  edited_at: string | null;
  /** The last change of any kind. */
  modified_at: string;
  /** Another one after each change that the viewpoint sees: its entity tag is `"a<rev>"`. */
  rev: string;
}

export interface StoredThread {
  /** The id of its first comment too. */
  id: string;
  /** `/guide.html`. */
  page: string;
  status: Status;
  /** The version that it was written on. */
  version_id: string;
  /** When that was deployed. It may be gone since. */
  version_created_at: string;
  /** Null means the whole page. */
  quote: Quote | null;
  carried: Carried | null;
  /** The place where it was last found; null if it never was, or has no quote. */
  place: QuotePlace | null;
  /** An id or a tag path, as a browser sent it. */
  element: string | null;
  /** In the order of writing, those that the viewpoint may see: the first is the root. An erased one has neither author nor
   *  text. */
  comments: StoredComment[];
}

export interface View {
  /** A number for all that this viewpoint sees there: equal while nothing of it has changed, larger afterwards. */
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
  /** The author's own name for it, an IRI; null if they gave none. */
  canonical: string | null;
  created_at: string;
  /** Edits, approvals, and of a root what is decided of its thread. */
  modified_at: string;
  page: string;
  version_id: string;
  version_created_at: string;
  quote: Quote | null;
  status: Status;
  /** How many public replies a root has; 0 for a reply. */
  replies: number;
}

export interface Feed {
  total: number;
  /** The time of the newest change; null if the feed is empty. */
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
  /** The mode that they had when they were last on; null if they never were. */
  last_mode: Exclude<CommentsMode, "off"> | null;
  passcode_hash: string | null;
  /** Grants of an older one are void. */
  passcode_epoch: number;
  webhook: Webhook | null;
}

export type AgentScope = "read" | "reply" | "resolve" | "see_pending";

export interface AgentToken {
  token_id: string;
  site_id: string;
  /** Shown as the author of what is written with it. */
  name: string;
  scopes: AgentScope[];
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

/** A thread's passage, to be carried to another version. */
export interface AnchorRow {
  id: string;
  page: string;
  status: Status;
  quote: Quote;
  carried: Carried;
  /** The place where it was last found; null if it never was. */
  place: QuotePlace | null;
}

/** `place` is null if it was not found there; then the last one stays. */
export interface CarriedRow {
  id: string;
  carried: Carried;
  place: QuotePlace | null;
}

/** Members that are undefined stay as they are. */
export interface SettingsChange {
  mode?: CommentsMode;
  passcode_hash?: string;
  webhook?: Webhook | null;
}

/** Words of a person, who gets this name if they have none yet. */
export interface Writing {
  site_id: string;
  id: string;
  by: Author;
  text: string;
  /** Key of one try: written again by the same person under it, nothing is added. */
  canonical: string | null;
  /** A visitor's `public` comment waits all the same if they wrote just this before, or, for a long text, if anybody did. */
  visibility: "public" | "pending";
}

export interface NewThread extends Writing {
  page: string;
  version_id: string;
  version_created_at: string;
  quote: Quote | null;
  element: string | null;
  carried: Carried | null;
  place: QuotePlace | null;
}

export interface NewReply extends Writing {
  /** The id of any comment of the thread. */
  thread_id: string;
  /** Throws `unknown_thread` if this viewpoint may not see the thread. */
  as: Viewpoint;
}

/** `repeated`: it was there already. */
export interface Written {
  thread: StoredThread;
  comment_id: string;
  repeated: boolean;
}

/** A comment and its thread, for a viewpoint that may see it. */
export interface FoundComment {
  thread: StoredThread;
  comment: StoredComment;
}

/** `deleted`: strangers saw it once, and it is gone. Null if there is none, or none that the viewpoint may see. */
export type Lookup = FoundComment | "deleted" | null;

export interface Edit {
  site_id: string;
  id: string;
  by: Pick<Author, "id" | "kind">;
  text: string;
  /** The entity tags that were sent; null means any. Throws `changed` if the comment has none of them. */
  revs: readonly string[] | null;
  /** Written before this (ISO 8601), a visitor's cannot be changed any more; throws `edit_window_over`. */
  written_after: string;
  /** A public comment goes back to wait. */
  waits: boolean;
}

export interface Removal {
  site_id: string;
  id: string;
  by: Author;
  /** As of an edit. */
  revs: readonly string[] | null;
  /** The id of its line in the history, if the owner removes it. */
  event_id: string;
}

export type Action = "approve" | "reject" | "resolve" | "reopen";

export interface CommentDecision {
  site_id: string;
  id: string;
  action: Action;
  by: Author;
  note: string | null;
  /** The id that its line in the history gets: `e_…`. */
  event_id: string;
}

export interface Decided {
  thread: StoredThread;
  /** False if it was so already: nothing is written down. */
  changed: boolean;
}
