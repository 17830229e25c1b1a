/** Comments on pages, as whoever serves them asks of the store. */
import type { WriteBy } from "./changes.ts";
import type {
  AgentToken,
  AnchorRow,
  AskedThreads,
  Author,
  Carried,
  CarriedRow,
  CommentSettings,
  Feed,
  NoteCounts,
  NoteEvent,
  Place,
  PublicComment,
  Queue,
  QueueState,
  Quote,
  ReportReason,
  StoredComment,
  StoredThread,
  ThreadList,
  View,
  Viewpoint,
  Webhook,
} from "./note-nouns.ts";
import type { CommentsMode, Site } from "../base/types.ts";

export type * from "./note-nouns.ts";

/** What is undefined stays as it is. */
export interface SettingsChange {
  mode?: CommentsMode;
  passcode_hash?: string;
  webhook?: Webhook | null;
}

/** Of a person who writes: under this name if they have none yet. */
export interface Writing {
  site_id: string;
  id: string;
  by: Author;
  text: string;
  /** Key of one try: written again by the same person under it, nothing is added. */
  canonical: string | null;
  /** A visitor's that is public waits all the same where they wrote just this before, or, of a long text, anybody did. */
  visibility: "public" | "pending";
}

export interface NewThread extends Writing {
  page: string;
  version_id: string;
  version_created_at: string;
  quote: Quote | null;
  element: string | null;
  carried: Carried | null;
  place: Place | null;
}

export interface NewReply extends Writing {
  /** Of any comment of the thread. */
  thread_id: string;
  /** Throws `unknown_thread` where it may not see the thread. */
  as: Viewpoint;
}

/** `repeated`: it was there already. */
export interface Written {
  thread: StoredThread;
  comment_id: string;
  repeated: boolean;
}

/** A comment and what stands around it, for whoever may see it. */
export interface Found {
  thread: StoredThread;
  comment: StoredComment;
}

/** `deleted`: strangers saw it once, and it is gone. Null: there is none, or it is none of the viewpoint's. */
export type Lookup = Found | "deleted" | null;

export interface Edit {
  site_id: string;
  id: string;
  by: Pick<Author, "id" | "kind">;
  text: string;
  /** Of the entity tags that were sent; null: of any. Throws `changed` where it is none of them. */
  revs: readonly string[] | null;
  /** Written before this (ISO 8601), a visitor's cannot be changed any more; throws `edit_window_over`. */
  written_after: string;
  /** What is public goes back to wait. */
  waits: boolean;
}

export interface Removal {
  site_id: string;
  id: string;
  by: Author;
  /** As of an edit. */
  revs: readonly string[] | null;
  /** Of its line in the history, where the owner removes it. */
  event_id: string;
}

export type Action = "approve" | "reject" | "resolve" | "reopen";

export interface Decision {
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
  /** False where it was so already: nothing is written down. */
  changed: boolean;
}

export interface Notes {
  settings(site: Pick<Site, "site_id" | "comments_mode">): Promise<CommentSettings>;
  /** Throws as any write of a site does. Serving hears of it. Says the site and its settings as they are then. */
  configure(site_id: string, by: WriteBy, change: SettingsChange): Promise<{ site: Site; settings: CommentSettings }>;

  /** Threads of a page; with `since`, a stamp, those that changed after it, and what is gone. */
  view(site_id: string, page: string, as: Viewpoint, since: number | null): Promise<View>;
  /** The stamp of `view` alone. */
  stamp(site_id: string, page: string, as: Viewpoint): Promise<number>;
  threads(site_id: string, as: Viewpoint, asked: AskedThreads): Promise<ThreadList>;
  /** By the id of its first comment, which may be a gap; null where the viewpoint sees none. */
  thread(site_id: string, id: string, as: Viewpoint): Promise<StoredThread | null>;
  find(site_id: string, id: string, as: Viewpoint): Promise<Lookup>;
  /** Of the whole site where `page` is null. `most`: of a feed with more comments no items are read. */
  feed(site_id: string, page: string | null, from: number, count: number, most?: number): Promise<Feed>;
  queue(site_id: string, state: QueueState, after: number | null, limit: number): Promise<Queue>;
  counts(site_id: string): Promise<NoteCounts>;
  /** Oldest first. */
  history(site_id: string, id: string): Promise<NoteEvent[]>;
  /** Null where they have written nothing yet. */
  person(site_id: string, person_id: string): Promise<{ name: string; created_at: string } | null>;
  /** All that a person wrote, oldest first, whoever sees it; what was rejected is shown to nobody (ruling 16). */
  written(site_id: string, person_id: string): Promise<PublicComment[]>;
  /** Of the visitor that wrote under this key before. */
  byCanonical(site_id: string, by: Pick<Author, "id" | "kind">, canonical: string): Promise<Written | null>;

  /** Throws 409 `page_full`, `thread_full`, `site_full`, 422 `unknown_thread`. */
  start(thread: NewThread): Promise<Written>;
  reply(reply: NewReply): Promise<Written>;
  edit(edit: Edit): Promise<Found>;
  /** Throws 412 `changed`, 404 where it is none of theirs. The owner takes a root's replies along. */
  remove(removal: Removal): Promise<void>;
  /** `at_once`: strangers see it too. */
  rename(site_id: string, person: Author, at_once: boolean): Promise<void>;
  /** All that they wrote, and their name. */
  erase(site_id: string, person_id: string): Promise<void>;
  /** Throws 404 where the site has no such comment. */
  decide(decision: Decision): Promise<Decided>;
  /** Of a comment that is there, hidden or not; else nothing happens. */
  report(site_id: string, id: string, report: { reason: ReportReason; text: string | null }): Promise<boolean>;

  addOwnerCode(site_id: string, by: WriteBy, hash: string, expires_at: number): Promise<void>;
  /** True once for each code, in its time. */
  spendOwnerCode(site_id: string, hash: string): Promise<boolean>;

  addToken(by: WriteBy, token: Omit<AgentToken, "last_used_at" | "created_at"> & { hash: string }): Promise<AgentToken>;
  /** Newest first. */
  tokens(site_id: string): Promise<AgentToken[]>;
  /** False where the site has none of this id. */
  removeToken(site_id: string, by: WriteBy, token_id: string): Promise<boolean>;
  /** Null where it never was one, has ended, or its site is gone. */
  agent(hash: string): Promise<AgentToken | null>;
  noteTokenUse(hash: string): Promise<void>;

  /** All threads of the site that have a quote. Empty where it never had comments: nothing is read then but an index. */
  anchors(site_id: string): Promise<AnchorRow[]>;
  /** What a change of the live version made of them. */
  carry(site_id: string, rows: readonly CarriedRow[]): Promise<void>;
}
