/** The context of a handler of comments, on a site's host and on the API's. */
import type { FairnessKey } from "../run/gate.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Limiter, WindowLimiter } from "../http/rate-limit.ts";
import type { WriteBy } from "../store/permission.ts";
import type { Carried, QuotePlace, Quote } from "../store/notes.ts";
import type { Notes } from "../store/notes/index.ts";
import type { RateWindow } from "../base/rates.ts";
import type { StoredManifest } from "../store/versions.ts";
import type { Page, Pages } from "../base/pages.ts";
import type { Site, Version } from "../base/types.ts";
import type { FeedDocuments } from "./types.ts";
import type { KeptViews } from "./kept-views.ts";
import type { Keys } from "./keys.ts";

/** The live version of a site. */
export interface LivePages extends Pages {
  files: StoredManifest;
  version: Version;
}

/** The place of a quote on the stored page. */
export interface Located {
  carried: Carried;
  place: QuotePlace | null;
}

export interface CommentParts {
  config: { base_url: string; sites_domain: string; webhooks_allow: readonly string[] | null };
  store: { notes: Notes };
  limit: Limiter;
  limitWindows: WindowLimiter;
  /** The share that one block of addresses has of a site's windows of comments. */
  site_share: readonly RateWindow[];
  /** Limits on wrong passcodes of one client. */
  passcode_windows: readonly RateWindow[];
  keys: Keys;
  /** A secret of a site's owner as the store may have it. */
  encrypted(secret: string, site_id: string): string;
  now: () => number;
  /** Throws the refusal that a page of the site would be answered with. */
  livePages(site: Site): Promise<LivePages>;
  /** Finds a quote on a page, off the serving thread. */
  locate(live: LivePages, page: Page, quote: Quote, from: FairnessKey): Promise<Located>;
  documents: FeedDocuments;
  views: KeptViews;
}

export interface Ctx {
  request: Request;
  exchange: Exchange;
  site: Site;
  /** The path of the request, percent-encoded. */
  path: string;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  parts: CommentParts;
  /** The client's network: an IPv4 address or an IPv6 /64. */
  network(): string;
  /** The block of addresses that shares go by: an IPv4 /24 or an IPv6 /48. */
  block(): string;
  /** The client for fair queues: the provider's customer, then the network. */
  from(): FairnessKey;
  /** The site's origin, as the client asked for it. */
  origin: string;
  /** Headers of the answer, whatever it will be. */
  headers: Record<string, string>;
}

/** The context on the API's host, where the caller may manage the site. */
export interface OwnerCtx {
  request: Request;
  exchange: Exchange;
  site: Site;
  /** The credential; it is checked again inside the transaction. */
  by: WriteBy;
  /** A manage_token never deletes. */
  session: boolean;
  /** The provider's customer that asks. */
  customer: string;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  parts: CommentParts;
}

/** Returns JSON, a whole answer, or null for 204. */
export type OwnerHandler = (ctx: OwnerCtx) => Promise<object | Response | null>;
