/** The paths on every site's host where the service answers, whatever the site holds: those below /_svc/; and the feeds of
 *  comments, where the site holds no file of that name. They are there as long as the site is: whoever asks on the host of
 *  one that visitors cannot see gets what a page would get. */
import { answerLoader, answerWidget, LOADER_PATH, WIDGET_PATH } from "../comments/scripts.ts";
import type { Code } from "../http/codings.ts";
import type { RequestReader } from "../http/context.ts";
import { type Exchange, pathOf } from "../http/exchange.ts";
import { matcher, type Method } from "../http/match.ts";
import { isService, reservedFor } from "../base/reserved-paths.ts";
import type { ServiceAnswer } from "../serve/explain.ts";
import { isLiveHost, type SiteHost } from "../serve/locate.ts";
import { confine } from "../serve/policy.ts";
import type { SiteServer } from "../serve/site.ts";
import { refusals } from "../store/refusals.ts";
import { type CommentPaths, type SiteRouteHandler } from "./comments.ts";
import { decodePath } from "../base/percent.ts";

type OwnPath = readonly [method: Method, path: string, handler: SiteRouteHandler];

interface Handlers {
  requests: Pick<RequestReader, "contextOf">;
  takeReport: SiteRouteHandler;
  code: Code;
  comments: CommentPaths;
  sites: Pick<SiteServer, "shown" | "handle">;
}

const tableOf = ({ takeReport, code }: Pick<Handlers, "takeReport" | "code">): readonly OwnPath[] => [
  ["POST", "/_svc/report", takeReport],
  ["GET", LOADER_PATH, (context) => answerLoader(context, code)],
  ["GET", WIDGET_PATH, (context) => answerWidget(context, code)],
];

/** The answer to a path of the service. `handler` throws 405. */
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
    exchange.held = site.quarantine !== null;
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
): Promise<Response> {
  const site = await sites.shown(host);
  exchange.held = site.quarantine !== null;
  if (site.quarantine !== null && of_comments && !isRead(request)) throw refusals.commentsOff();
  return confine(site, await handler()(requests.contextOf(request, exchange), site));
}

/** Whether a feed may be at this path. */
function isCompanionPath(path: string): boolean {
  if (!path.endsWith("comments.json")) return false;
  const name = decodePath(path);
  return name !== null && reservedFor(name.slice(1)) === "comments";
}
