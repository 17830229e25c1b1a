/** A request on a site's host, top to bottom: 1 the row of the slug (manifests), 2 is the site there at all, 3 the path's
 *  answer (answers, resolve), 4 the response (respond). With everything in the cache nothing awaits. */
import { type Exchange, pathOf, queryOf } from "../http/exchange.ts";
import { effectiveSpa, siteState } from "../site-state.ts";
import type { ServingStore } from "../store/serving.ts";
import type { Site } from "../types.ts";
import type { FileAnswer, RedirectAnswer, UnmatchedAnswer } from "./responses.ts";
import { createAnswers } from "./answers.ts";
import { createBodies } from "./bodies.ts";
import { createBudget } from "./budget.ts";
import { createEncoder } from "./encode.ts";
import { createManifests, type LoadedVersion, type Row } from "./manifests.ts";
import { ownNotFound } from "./not-found.ts";
import { type Policy, policyOf, robotsHeader } from "./policy.ts";
import { disabled, expired, methodNotAllowed, notFound, unknownHost, unknownVersion } from "./refusals.ts";
import { createRespond } from "./respond.ts";
import { createShortcuts, type Shortcut } from "./shortcuts.ts";
import { createWarm, type Warm } from "./warm.ts";

/** Of `<slug>.<sites_domain>`, or `<version_id>--<slug>.<sites_domain>`. */
export interface SiteHost {
  slug: string;
  version_id: string | null;
}

export interface SiteServer {
  /** Throws a Refusal for every answer that is not the site's own. */
  handle(request: Request, host: SiteHost, exchange: Exchange): Response | Promise<Response>;
  /** The answer to a request whose way is known already, by its URL and Host; null: ask `handle`. */
  again(request: Request, host: string | null, exchange: Exchange): Response | Promise<Response> | null;
  warm: Warm;
}

export interface SiteServerParts {
  store: ServingStore;
  now: () => number;
  base_url: string;
  /** Where to appeal against a takedown. */
  contact: string | null;
  /** True from when the server is to stop: nothing is made ahead any more. */
  ending(): boolean;
  /** What rows, manifests and bodies may take together. */
  cache_bytes: number;
}

export function createSiteServer(parts: SiteServerParts): SiteServer {
  const { store } = parts;
  const budget = createBudget(parts.cache_bytes);
  const manifests = createManifests(store, budget);
  const bodies = createBodies(store.blobs, budget, createEncoder());
  const answerFor = createAnswers(bodies, budget);
  const respond = createRespond(bodies, store.blobs);
  const shortcuts = createShortcuts();

  function again(request: Request, host: string | null, exchange: Exchange): Response | Promise<Response> | null {
    const found = shortcuts.find(request.url, host);
    if (found === undefined || !holds(found, request)) return null;
    const { row, version, answer, policy } = found;
    row.used = version.used = answer.used = true;
    return respond(request, answer, policy, exchange);
  }

  /** Whether it still leads to what the long way would find. */
  function holds({ row, version }: Shortcut, { method }: Request): boolean {
    if (row.generation !== store.generation.current(row.site!.slug) || row.live !== version) return false;
    const state = siteState(row.site!, parts.now());
    return (state === "live" || state === "frozen") && (method === "GET" || method === "HEAD");
  }

  function handle(request: Request, host: SiteHost, exchange: Exchange): Response | Promise<Response> {
    const row = manifests.row(host.slug);
    if (row === undefined) return manifests.readRow(host.slug).then((read) => visit(request, host, read, exchange));
    row.used = true;
    return visit(request, host, row, exchange);
  }

  function visit(request: Request, host: SiteHost, row: Row, exchange: Exchange): Response | Promise<Response> {
    const site = presentSite(row, parts);
    const { version_id } = host;
    const version = version_id === null ? row.live : manifests.version(site.site_id, version_id);
    if (version) return answer(request, row, site, version, policyOf(site, version_id !== null), exchange);
    return manifests.readVersion(site.site_id, version_id ?? site.live_version_id).then((read) => {
      if (read === null) throw unknownVersion();
      if (version_id === null) manifests.setLive(row, read);
      return answer(request, row, site, read, policyOf(site, version_id !== null), exchange);
    });
  }

  function answer(request: Request, row: Row, site: Site, version: LoadedVersion, policy: Policy, exchange: Exchange) {
    if (request.method !== "GET" && request.method !== "HEAD") throw methodNotAllowed(policy);
    const found = answerFor(version, pathOf(request.url));
    if (found.kind === "file") {
      if (row.live === version) remember(request, { row, version, answer: found, policy });
      return respond(request, found, policy, exchange);
    }
    if (found.kind === "redirect") return redirect(request, found, policy);
    const shell = shellFor(request, site, version, found);
    if (shell !== null) return respond(request, shell, policy, exchange);
    if (found.page === null) throw notFound(policy);
    return ownNotFound(bodies, request, found, found.page, policy, exchange);
  }

  /** Only what people ask for again: a query is seldom the same twice. */
  function remember(request: Request, shortcut: Omit<Shortcut, "host">): void {
    const host = request.headers.get("host");
    if (host !== null && !request.url.includes("?")) shortcuts.add(request.url, { host, ...shortcut });
  }

  return { handle, again, warm: createWarm(manifests, bodies, parts.ending) };
}

/** The site, if it is to be shown at all: asked of the clock each time, not of the sweep. */
function presentSite({ site, tombstone }: Row, parts: SiteServerParts): Site {
  if (site === null) throw tombstone?.reason === "expired" ? expired() : unknownHost();
  const state = siteState(site, parts.now());
  if (state === "expired") throw expired();
  if (state === "disabled") throw disabled(site.disabled_reason, parts);
  return site;
}

/** The shell of a single-page app answers navigations; clients that do not say what they ask for get it too. */
function shellFor(request: Request, site: Site, { version }: LoadedVersion, found: UnmatchedAnswer): FileAnswer | null {
  if (found.shell === null || !effectiveSpa(site, version).enabled) return null;
  const destination = request.headers.get("sec-fetch-dest");
  return destination === null || destination === "document" || destination === "iframe" ? found.shell : null;
}

function redirect(request: Request, { location }: RedirectAnswer, policy: Policy): Response {
  return new Response(null, {
    status: 308,
    headers: {
      location: location + queryOf(request.url),
      "cache-control": policy.cache_control,
      "x-content-type-options": "nosniff",
      ...robotsHeader(policy),
    },
  });
}
