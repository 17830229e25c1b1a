/** The nouns of comments as the store keeps them: threads and their comments, people, settings and decisions. Every `…_at` is ISO 8601 unless it says otherwise. */
import type { CommentsMode } from "../base/types.ts";

export type AuthorKind = "visitor" | "owner" | "agent";
/** A `rejected` comment is shown in the queue of rejected ones alone. */
export type Visibility = "public" | "pending" | "rejected";
export type Status = "open" | "resolved";
/** How a thread's passage was found in the live version. */
export type Carried = "exact" | "edited" | "lost";

export interface Author {
  /** `p_…`; an agent has `a_…`. */
  id: string;
  name: string;
  kind: AuthorKind;
  /** The site's epoch, for an owner by a cookie: it must still be this one when the change commits. */
  owner_epoch?: number;
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

/** The reader of a thread. A visitor also sees their own comments that wait; the owner, and an agent with that scope, sees
 *  all that wait. */
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

export type QueueState = "pending" | "reported" | "rejected";
export type ReportReason = "spam" | "abuse" | "privacy" | "other";

export interface ThreadReport {
  comment_id: string;
  reason: ReportReason;
  text: string | null;
  created_at: string;
}

export interface QueueItem {
  id: string;
  thread_id: string;
  page: string;
  text: string;
  by: Author;
  created_at: string;
  visibility: Visibility;
  reports: Omit<ThreadReport, "comment_id">[];
}

/** Threads that are open and resolved, and comments in each queue. `begun`: open threads whose first comment waits for nobody. */
export type NoteCounts = Record<Status | QueueState | "begun", number>;

export type WebhookEvent =
  "thread.created" | "reply.created" | "thread.resolved" | "thread.reopened" | "comment.reported";

export interface Webhook {
  url: string;
  events: WebhookEvent[];
  /** The key of its deliveries' signatures, encrypted: the store never has it as it is. */
  secret: string;
}

/** How it goes with a webhook, as its site's owner is told. */
export interface WebhookState {
  last_delivered_at: string | null;
  /** Null while its receiver takes what it is sent. */
  failing_since: string | null;
  last_error: string | null;
  /** Its receiver answered 410. */
  ended_at: string | null;
  /** Letters that were given up, and those that came when no more could wait. */
  lost: number;
  waiting: number;
}

export type LetterOutcome = "waiting" | "delivered" | "failed" | "given_up";

/** One of the last letters of a site. */
export interface ListedDelivery {
  id: string;
  type: WebhookEvent;
  /** When it was last tried or sent again. */
  at: string;
  outcome: LetterOutcome;
  /** Null without an answer. */
  status: number | null;
  tries: number;
}

export interface CommentSettings {
  mode: CommentsMode;
  /** The mode that they had when they were last on; null if they never were. */
  last_mode: Exclude<CommentsMode, "off"> | null;
  passcode_hash: string | null;
  /** Grants of an older epoch are void. */
  passcode_epoch: number;
  webhook: Webhook | null;
  /** The credential that set or removed it last. */
  webhook_by: Maker;
}

/** The credential that made something which acts for a site's owner: a manage_token of a deploy without an account (`giver`),
 *  one that a deploy gave to an account (`manage`), or a session (`account`). A revocation goes by it (RELIABILITY A25). */
export type Maker = "giver" | "manage" | "account";

/** The things that act for a site's owner without a session. */
export interface StandingAccess {
  agent_tokens: number;
  owner_codes: number;
  /** The host that events go to; null without a webhook. */
  webhook: string | null;
}

export interface OpenOwnerCode {
  made_by: Maker;
  /** Epoch milliseconds. */
  expires_at: number;
}

/** The content of a cookie that an owner's code gives. */
export interface SpentOwnerCode {
  /** The site's, as the cookie carries it. */
  owner_epoch: number;
  made_by: Maker;
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
  made_by: Maker;
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
  /** Keyed hash of the provider's customer that sets the webhook. */
  customer?: string;
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
  /** Keyed hash of the block of addresses that a visitor writes from; null for owners and agents. */
  network: string | null;
  /** No more than so many of this network wait for the owner. */
  most_waiting: number;
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
