/** The nouns of comments as the wire has them (COMMENTS 2): what routes answer, and what the feed is made of. */
import type { Author, Carried, NoteEvent, PublicComment, Status, Visibility } from "../store/notes.ts";
import type { CommentsMode } from "../base/types.ts";

export interface TextQuoteSelector {
  type: "TextQuoteSelector";
  exact: string;
  prefix: string;
  suffix: string;
}

/** Where a thread is. The hints are for the widget's own view, never for the feed (COMMENTS, ruling 1). */
export interface Anchor {
  /** The page's address on the site's host. */
  source: string;
  /** Left out where the whole page is meant. */
  selector?: [TextQuoteSelector];
  carried: Carried | null;
  /** What it was written on. */
  version_id: string;
  hints?: {
    /** UTF-16 units of the normalised text of the page in `version_id`: where it was last found. */
    position?: { start: number; end: number; version_id: string };
    /** An id or a tag path. */
    element?: string;
  };
}

export interface Comment {
  id: string;
  by: Author | null;
  text: string | null;
  visibility: Visibility;
  created_at: string;
  edited_at: string | null;
  /** Whether whoever asks wrote it. */
  mine: boolean;
  /** Its entity tag, for If-Match. */
  etag: string;
  deleted?: true;
}

export interface Thread {
  id: string;
  /** `/guide.html`. */
  page: string;
  status: Status;
  visibility: Visibility;
  anchor: Anchor;
  /** The first is the root. */
  comments: Comment[];
}

/** Whoever asks, as `threads` tells them. */
export interface Viewer {
  id: string | null;
  name: string | null;
  owner: boolean;
  can_post: boolean;
}

/** The body of `GET threads`. */
export interface ThreadsView {
  cursor: string;
  mode: CommentsMode;
  page: string;
  viewer: Viewer;
  threads: Thread[];
  gone: string[];
  /** Seconds. */
  poll_s: number;
}

/** `GET settings`. */
export interface Settings {
  mode: CommentsMode;
  /** The mode that they had when they were last on; null where they never were. */
  last_mode: Exclude<CommentsMode, "off"> | null;
  passcode_set: boolean;
  webhook: { url: string; events: string[] } | null;
}

/** What a feed is made for. */
export interface FeedSite {
  slug: string;
  /** Of the site's host: `https://demo.sites.example`. */
  origin: string;
  /** Of the host of one of its versions. */
  versionOrigin(version_id: string): string;
}

/** A collection that is asked for. */
export interface FeedAsked {
  site: FeedSite;
  /** Where it is told: `https://demo.sites.example/guide.comments.json`, or `…/_svc/comments/feed.json?source=…`. */
  id: string;
  /** Its items as their addresses alone, as a client of the container may prefer (Annotation Protocol 4.1.1). */
  iris: boolean;
  /** Null: of the whole site. */
  page: string | null;
  /** Items of all its pages. */
  total: number;
  /** Null where it is empty. */
  modified_at: string | null;
}

export type FeedItem = PublicComment;

/** So many items are a page. */
export const FEED_PAGE = 50;
/** Up to so many stand in the collection itself. */
export const FEED_INLINE = 100;

/** A document with its own address. */
export interface Identified {
  id: string;
  [member: string]: unknown;
}

/** The documents of COMMENTS 1, without their headers. */
export interface FeedDocuments {
  /** `GET c_…`, and an item of a collection or of `me/export`. */
  annotation(site: FeedSite, item: FeedItem): object;
  /** Companions, `/comments.json`, `feed.json`. `items`: all of them, where there are at most `FEED_INLINE`, else none.
   *  `w3c`: the request named the anno profile. */
  collection(asked: FeedAsked, items: readonly FeedItem[], w3c: boolean): Identified;
  /** Page `n`, from 0; `items`: its own. There is no page of no items. */
  page(asked: FeedAsked, n: number, items: readonly FeedItem[]): Identified;
  /** `GET /_svc/comments/`; its `first` and `last` are those of `feed`. */
  container(asked: FeedAsked, feed: string): Identified;
  /** `GET me/export`: all that somebody wrote. */
  exported(site: FeedSite, name: string, items: readonly FeedItem[]): Identified;
  /** `c_…/history`, for the owner alone. */
  history(site: FeedSite, comment_id: string, events: readonly NoteEvent[]): Identified;
}
