/** The nouns of comments: those on the wire are the API's shapes (COMMENTS 2), the others are what the feed is made of. */
import type { TEXT_QUOTE_SELECTOR } from "../api/shapes/annotations.ts";
import type { Infer } from "../api/shapes/builder.ts";
import type { ANCHOR, COMMENT, COMMENT_SETTINGS, THREAD, THREADS_VIEW } from "../api/shapes/comments.ts";
import type { NoteEvent, PublicComment } from "../store/notes.ts";

export type TextQuoteSelector = Infer<typeof TEXT_QUOTE_SELECTOR>;
/** The place of a thread on its page. The hints are for the widget's own view, never for the feed (COMMENTS, ruling 1).
 *  */
export type Anchor = Infer<typeof ANCHOR>;
export type Comment = Infer<typeof COMMENT>;
/** Its first comment began it. */
export type Thread = Infer<typeof THREAD>;
/** The body of `GET threads`. */
export type ThreadsView = Infer<typeof THREADS_VIEW>;
/** The one who asks, as `threads` shows them. */
export type Viewer = ThreadsView["viewer"];
/** The body of `GET settings`. */
export type SettingsView = Omit<Infer<typeof COMMENT_SETTINGS>, "warnings">;

/** The site that a feed is about. */
export interface FeedSite {
  slug: string;
  /** The origin of the site's host: `https://demo.sites.example`. */
  origin: string;
  /** The origin of the host that shows one of the site's versions. */
  versionOrigin(version_id: string): string;
}

/** A collection that is asked for. */
export interface FeedAsked {
  site: FeedSite;
  /** The feed's own address: `https://demo.sites.example/guide.comments.json`, or `…/_svc/comments/feed.json?source=…`.
   *  */
  id: string;
  /** Its items as their addresses alone, as a client of the container may prefer (Annotation Protocol 4.1.1). */
  iris: boolean;
  /** Null: of the whole site. */
  page: string | null;
  /** Items of all its pages. */
  total: number;
  /** Null if the container is empty. */
  modified_at: string | null;
}

export type FeedItem = PublicComment;

/** So many items are a page. */
export const FEED_PAGE = 50;
/** The most items that are in the collection itself; more are on its pages. */
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
  /** The collection: companions, `/comments.json`, `feed.json`. `items`: all of them if there are at most
   *  `FEED_INLINE`, otherwise none. `w3c`: the request named the anno profile. */
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
