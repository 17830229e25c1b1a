/** The paths on every site's host where the service answers, whatever the site holds: those below /_svc/; and the feeds of
 *  comments, where the site holds no file of that name. They are there as long as the site is: whoever asks on the host of
 *  one that visitors cannot see gets what a page would get. */
import { SCRIPTS } from "../comments/scripts.ts";
import { answerRedirect } from "../http/answers.ts";
import type { Code } from "../http/codings.ts";
import { blockOf, customerOf, networkOf, type RequestContext, type RequestReader } from "../http/context.ts";
import { type Exchange, pathOf } from "../http/exchange.ts";
import { matcher, type Method } from "../http/match.ts";
import { isService, reservedFor } from "../base/reserved-paths.ts";
import type { ServiceAnswer } from "../serve/explain.ts";
import { isLiveHost, type SiteHost } from "../serve/locate.ts";
import { confine } from "../serve/policy.ts";
import { refuseUnlessAdmitted } from "../serve/refusals.ts";
import type { SiteServer } from "../serve/site.ts";
import { refusals } from "../store/refusals.ts";
import { decodePath } from "../base/percent.ts";
import { Refusal } from "../base/errors.ts";
import type { Page } from "../base/pages.ts";
import { doubling, type Rates, rateWindows, type RateWindow } from "../base/rates.ts";
import type { Site } from "../base/types.ts";
import { feedDocuments } from "../comments/feed.ts";
import type { CommentParts, Ctx, LivePages, Located } from "../comments/context.ts";
import { matchCompanion, matchOnSite } from "../comments/index.ts";
import { createKeptViews } from "../comments/kept-views.ts";
import type { Config } from "../config/index.ts";
import { type Limiter, windowLimiter } from "../http/rate-limit.ts";
import type { FairnessKey } from "../run/gate.ts";
import { secretFiles, type Secrets, type Store } from "../store/index.ts";
import type { Quote } from "../store/notes.ts";
import { ENTRANCE, openEntrance } from "./door.ts";
import type { QuoteSearch } from "./quote-search.ts";

type OwnPath = readonly [method: Method, path: string, handler: SiteRouteHandler];

interface Handlers {
  requests: Pick<RequestReader, "contextOf">;
  takeReport: SiteRouteHandler;
  code: Code;
  comments: CommentPaths;
  sites: Pick<SiteServer, "shown" | "handle" | "leadsOn">;
}

const tableOf = ({ takeReport, code }: Pick<Handlers, "takeReport" | "code">): readonly OwnPath[] => [
  ["POST", "/_svc/report", takeReport],
  ["POST", ENTRANCE, openEntrance],
  // The address that a wrong password leaves in the bar.
  ["GET", ENTRANCE, async ({ exchange }) => answerRedirect("/", exchange)],
  ...SCRIPTS.map(([path, answer]): OwnPath => ["GET", path, (context) => answer(context, code)]),
];

/** The answer to a path of the service. `handler` throws 405. Comments are at the site's present name alone: reports and scripts
 *  answer on its former ones too, for pages that are still open there (BEYOND 17). */
interface ServiceRoute {
  handler: () => SiteRouteHandler;
  of_comments: boolean;
}

const isRead = ({ method }: Request): boolean => method === "GET" || method === "HEAD";

type ServicePathRequest = [request: Request, host: SiteHost, exchange: Exchange];

export function createOwnPaths(handlers: Handlers) {
  const find = createFind(handlers);
  return {
    /** Null where the path is the site's to answer. */
    find,
    answer(...asked: ServicePathRequest): Promise<Response> | null {
      const own = find(...asked);
      return own && own.answer().then((answer) => answer ?? handlers.sites.handle(...asked));
    },
  };
}

function createFind(handlers: Handlers): (...asked: ServicePathRequest) => ServiceAnswer | null {
  const { comments, sites, requests } = handlers;
  const match = matcher(tableOf(handlers));

  /** Comments are the live version's, not those of a version's own host or a preview's. */
  function routeFor(path: string, request: Request, host: SiteHost): ServiceRoute | null {
    const atPath = match(path);
    if (atPath !== null) return { handler: () => atPath(request.method).row[2], of_comments: false };
    if (!isLiveHost(host) || !path.startsWith("/_svc/comments/")) return null;
    return { handler: () => comments.below, of_comments: true };
  }

  async function companion(...[request, host, exchange]: ServicePathRequest): Promise<Response | null> {
    const site = await sites.shown(host);
    if (site.slug !== host.slug || (await sites.leadsOn(request, host)) !== null) return null;
    exchange.held = site.quarantine !== null;
    refuseUnlessAdmitted(site, exchange);
    const answer = await comments.companion(requests.contextOf(request, exchange), site);
    return answer === null ? null : confine(site, answer);
  }

  return (request, host, exchange) => {
    const path = pathOf(request.url);
    if (isCompanionPath(path)) {
      return isLiveHost(host) ? { by: "feed", answer: () => companion(request, host, exchange) } : null;
    }
    if (!isService(path.slice(1))) return null;
    const route = routeFor(path, request, host);
    return route && { by: "reserved", answer: () => answerServicePath(handlers, route, [request, host, exchange]) };
  };
}

/** A page in quarantine may send what was typed into it nowhere: its owner would read it in a comment, too. */
async function answerServicePath(
  { sites, requests }: Handlers,
  { handler, of_comments }: ServiceRoute,
  [request, host, exchange]: ServicePathRequest,
): Promise<Response | null> {
  const site = await sites.shown(host);
  const is_former = site.slug !== host.slug;
  if (is_former && (of_comments || pathOf(request.url) === ENTRANCE)) return null;
  exchange.held = site.quarantine !== null;
  if (!is_former) refuseUnlessAdmitted(site, exchange); // reports and scripts say nothing of the site
  if (site.quarantine !== null && of_comments && !isRead(request)) throw refusals.commentsOff();
  return confine(site, await handler()(requests.contextOf(request, exchange), site));
}

/** Whether a feed may be at this path. */
function isCompanionPath(path: string): boolean {
  if (!path.endsWith("comments.json")) return false;
  const name = decodePath(path);
  return name !== null && reservedFor(name.slice(1)) === "comments";
}

// Joins comments to serving and the store, and answers their paths on sites' hosts.

interface Joined {
  config: Pick<
    Config,
    "base_url" | "sites_domain" | "data_dir" | "webhooks_allow" | "rate_passcode" | "rate_comment_site"
  >;
  store: Pick<Store, "notes">;
  sites: Pick<SiteServer, "live">;
  rates: Rates;
  limit: Limiter;
  secrets: Secrets;
  now: () => number;
  quote_search: Pick<QuoteSearch, "find">;
}

/** One network has a quarter of what a site takes (RELIABILITY A26). */
const shareOf = (windows: readonly RateWindow[]): RateWindow[] =>
  windows.map(({ count, window_ms }) => ({ count: Math.ceil(count / 4), window_ms }));

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
    site_share: shareOf(rateWindows(config.rate_comment_site)!),
    passcode_windows: doubling(rateWindows(config.rate_passcode)!),
    keys: { visitor: ring("comment_visitor"), grant: ring("comment_grant"), owner, people, cursor },
    encrypted: (secret, site_id) => secretFiles.encrypt(secrets.webhook, secret, site_id),
    now,
    livePages: ({ slug }) => sites.live(slug),
    locate: (live, page, quote, from) => located(quote_search, live, page, quote, from),
    documents: feedDocuments,
    views: createKeptViews(now),
  };
}

/** On a site's host. */
type SiteRouteHandler = (context: RequestContext, site: Site) => Promise<Response>;

interface CommentPaths {
  /** Finds the handler of a path below `/_svc/comments/`. Throws 404 `comments_off` if they are off, 404 if there is nothing, 405. */
  below: SiteRouteHandler;
  /** Finds the handler of a feed next to a page. Null if a file of the site has that name: it is the site's to answer. */
  companion(context: RequestContext, site: Site): Promise<Response | null>;
}

export function createCommentPaths(parts: CommentParts): CommentPaths {
  function contextOf(context: RequestContext, site: Site, params: Ctx["params"]): Ctx {
    const { request, client_address } = context;
    const network = () => networkOf(client_address());
    const block = () => blockOf(client_address());
    const from = (): FairnessKey => [customerOf(client_address()), network()];
    return { ...context, site, path: pathOf(request.url), params, parts, network, block, from, headers: {} };
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
