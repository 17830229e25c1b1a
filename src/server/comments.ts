/** Joins comments to serving and the store, and answers their paths on sites' hosts. */
import { Refusal } from "../base/errors.ts";
import type { Page } from "../base/pages.ts";
import { decodePath } from "../base/percent.ts";
import { doubling, type Rates, rateWindows } from "../base/rates.ts";
import type { Site } from "../base/types.ts";
import { feedDocuments } from "../comments/feed.ts";
import type { CommentParts, Ctx, LivePages, Located } from "../comments/context.ts";
import { matchCompanion, matchOnSite } from "../comments/index.ts";
import { createKeptViews } from "../comments/kept-views.ts";
import type { Config } from "../config/index.ts";
import { customerOf, networkOf, type RequestContext } from "../http/context.ts";
import { pathOf } from "../http/exchange.ts";
import { type Limiter, windowLimiter } from "../http/rate-limit.ts";
import type { FairnessKey } from "../run/gate.ts";
import type { SiteServer } from "../serve/site.ts";
import { secretFiles, type Secrets, type Store } from "../store/index.ts";
import type { Quote } from "../store/notes.ts";
import { refusals } from "../store/refusals.ts";
import type { QuoteSearch } from "./quote-search.ts";

interface Joined {
  config: Pick<Config, "base_url" | "sites_domain" | "data_dir" | "webhooks_allow" | "rate_passcode">;
  store: Pick<Store, "notes">;
  sites: Pick<SiteServer, "live">;
  rates: Rates;
  limit: Limiter;
  secrets: Secrets;
  now: () => number;
  quote_search: Pick<QuoteSearch, "find">;
}

/** A quote that the stored page does not hold is accepted as lost: a script may have made the text (COMMENTS, ruling 14). */
async function located(
  { find }: Joined["quote_search"],
  { files, version: { version_id } }: LivePages,
  { file }: Page,
  quote: Quote,
  from: FairnessKey,
): Promise<Located> {
  const found = await find(files.get(file.path)!, quote, from);
  if (found === null) return { carried: "lost", place: null };
  const { start, end, state } = found;
  return { carried: state === "anchored" ? "exact" : "edited", place: { version_id, start, end } };
}

export function commentParts(joined: Joined): CommentParts {
  const { config, store, sites, rates, limit, secrets, now, quote_search } = joined;
  const { comment_people: people, comment_owner: owner, comment_cursor: cursor } = secrets;
  const ring = (name: "comment_visitor" | "comment_grant") => secretFiles.openKeyring(config.data_dir, name, now);
  return {
    config,
    store,
    limit,
    limitWindows: windowLimiter(rates),
    passcode_windows: doubling(rateWindows(config.rate_passcode)!),
    keys: { visitor: ring("comment_visitor"), grant: ring("comment_grant"), owner, people, cursor },
    now,
    livePages: ({ slug }) => sites.live(slug),
    locate: (live, page, quote, from) => located(quote_search, live, page, quote, from),
    documents: feedDocuments,
    views: createKeptViews(),
  };
}

/** On a site's host. */
export type SiteRouteHandler = (context: RequestContext, site: Site) => Promise<Response>;

export interface CommentPaths {
  /** Finds the handler of a path below `/_svc/comments/`. Throws 404 `comments_off` if they are off, 404 if there is nothing, 405. */
  below: SiteRouteHandler;
  /** Finds the handler of a feed next to a page. Null if a file of the site has that name: it is the site's to answer. */
  companion(context: RequestContext, site: Site): Promise<Response | null>;
}

export function createCommentPaths(parts: CommentParts): CommentPaths {
  function contextOf(context: RequestContext, site: Site, params: Ctx["params"]): Ctx {
    const { request, client_address } = context;
    const network = () => networkOf(client_address());
    const from = (): FairnessKey => [customerOf(client_address()), network()];
    return { ...context, site, path: pathOf(request.url), params, parts, network, from, headers: {} };
  }

  return {
    async below(context, site) {
      const { request } = context;
      if (site.comments_mode === "off") throw refusals.commentsOff();
      const atPath = matchOnSite(pathOf(request.url));
      if (atPath === null) throw new Refusal("not_found", "There is nothing at this address.");
      const { row, params } = atPath(request.method);
      return row[2](contextOf(context, site, params));
    },
    async companion(context, site) {
      const { request } = context;
      const { files } = await parts.livePages(site);
      if (files.has(decodePath(pathOf(request.url))!.slice(1))) return null;
      const { row, params } = matchCompanion(request.method);
      return row[2](contextOf(context, site, params));
    },
  };
}
