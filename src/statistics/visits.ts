/** Visits, as they are counted of a site's answers (BEYOND 11): without a cookie, a script or a byte in the page. What must be asked of
 *  a request while it is there is noted; all else is found out later, many visits behind one another, which takes half the
 *  time. */
import { decodePath } from "../base/percent.ts";
import { reservedFor } from "../base/reserved-paths.ts";
import { dayOf, LONGEST_PATH } from "../base/statistics.ts";
import { networkOf, type RequestReader } from "../http/context.ts";
import { type CountedSite, type Exchange, pathOf, wantsHtml } from "../http/exchange.ts";

/** A navigation to a page, or to one that is missing. */
export interface NotedVisit {
  site: CountedSite;
  day: number;
  missed: boolean;
  url: string;
  host: string | null;
  agent: string | null;
  referrer: string | null;
  /** Null if nobody is to be told from others. */
  address: string | null;
}

export type NoteVisit = (request: Request, exchange: Exchange, site: CountedSite, status: number) => void;

interface NoteParts {
  requests: Pick<RequestReader, "clientAddressOf">;
  now: () => number;
  take(visit: NotedVisit): void;
}

/** A page that the browser fetches in case somebody will want it. */
const AHEAD = /prefetch|prerender/i;

function isNavigation(request: Request): boolean {
  const destination = request.headers.get("sec-fetch-dest");
  if (destination !== null) return destination === "document" && request.method === "GET";
  return request.method === "GET" && wantsHtml(request);
}

const saysAhead = (purpose: string | null): boolean => purpose !== null && AHEAD.test(purpose);
const isAhead = ({ headers }: Request): boolean =>
  saysAhead(headers.get("sec-purpose")) || saysAhead(headers.get("purpose"));

/** By Global Privacy Control, or the older Do Not Track. */
const wantsNoHash = ({ headers }: Request): boolean => headers.get("sec-gpc") === "1" || headers.get("dnt") === "1";

/** For pages and missing ones alone: where the request is no navigation it looks no further than at one header. */
export const createNoteVisit =
  ({ requests, now, take }: NoteParts): NoteVisit =>
  (request, exchange, site, status) => {
    const missed = status === 404;
    if (!missed && status !== 200 && status !== 304) return;
    if (!isNavigation(request) || isAhead(request)) return;
    const { url, headers } = request;
    const [host, agent, referrer] = [headers.get("host"), headers.get("user-agent"), headers.get("referer")];
    // To ask for the address is dearer than all else together.
    const address = missed || wantsNoHash(request) ? null : requests.clientAddressOf(request, exchange);
    take({ site, day: dayOf(now()), missed, url, host, agent, referrer, address });
  };

/** The names under which a visit counts. */
interface JudgedVisit {
  path: string;
  /** Another site's host. */
  referrer: string | null;
  /** From a page of the site itself. */
  internal: boolean;
  /** Tells one visitor from another; null where nobody is to be told. */
  who: string | null;
}

const BOT = /bot|crawl|spider|slurp|headless|preview|monitor|curl|wget|python|java\/|go-http|okhttp|axios|node|\+http/i;
/** Characters of these headers that are looked at. */
const LONGEST_AGENT = 1024;
const LONGEST_REFERRER = 512;
const REFERRER = /^https?:\/\/(?:[^/?#@]*@)?((?:[a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?)(?=[/?#]|$)/i;

/** The host alone, in lower case; null if there is none. */
const hostIn = (referrer: string | null): string | null =>
  referrer === null ? null : (REFERRER.exec(referrer.slice(0, LONGEST_REFERRER))?.[1]!.toLowerCase() ?? null);

/** Null for a path that has no name. */
function nameOf(url: string): string | null {
  const path = decodePath(pathOf(url));
  if (path === null || path.length <= LONGEST_PATH) return path;
  return path.slice(0, LONGEST_PATH).toWellFormed();
}

/** The host that was asked, and those of the site's versions, previews and domains. */
function isOwn(referrer: string, { site, host }: NotedVisit, sites_domain: string): boolean {
  if (referrer === host?.toLowerCase()) return true;
  const own = `${site.slug}.${sites_domain}`;
  if (referrer === own || referrer.endsWith(`--${own}`)) return true;
  const name = referrer.replace(/:\d+$/, "");
  return site.domains.some((domain) => domain === name);
}

/** A client that has left has no address. */
const whoOf = ({ site, address }: NotedVisit, agent: string): string | null =>
  address === null || address === "-" ? null : `${site.site_id}\n${networkOf(address)}\n${agent}`;

/** Null for a path that does not count: one that the service keeps for itself, or a feed of comments. */
export function judgeVisit(visit: NotedVisit, sites_domain: string): JudgedVisit | "bot" | null {
  const path = nameOf(visit.url);
  if (path === null || (visit.missed && reservedFor(path.slice(1)) !== null)) return null;
  const agent = visit.agent?.slice(0, LONGEST_AGENT) ?? "";
  if (agent === "" || BOT.test(agent)) return "bot";
  const host = hostIn(visit.referrer);
  const internal = host !== null && isOwn(host, visit, sites_domain);
  return { path, referrer: internal ? null : host, internal, who: whoOf(visit, agent) };
}
