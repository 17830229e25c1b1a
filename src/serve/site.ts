/** A request on a site's host, top to bottom: 1 what is shown there, if anything (locate), 2 the path's answer (by-path,
 *  resolve), 3 the response (respond). With everything in the cache nothing awaits. */
import { type Exchange, pathOf, queryOf } from "../http/exchange.ts";
import { effectiveSpa, endOf } from "../site-state.ts";
import type { Blobs, ServingStore, StoredManifest } from "../store/serving.ts";
import type { Site, Spa, Version } from "../types.ts";
import { createBodies, type Bodies } from "./bodies.ts";
import { type Budget, createBudget } from "./budget.ts";
import { withQuery } from "../rules/target.ts";
import { type AnswerFor, type Asked, createAnswers } from "./by-path.ts";
import type { Code } from "../http/coder.ts";
import { createEncoder } from "./encode.ts";
import { createForms } from "./forms.ts";
import type { Answer, FileAnswer, LoadedVersion, RedirectAnswer, UnmatchedAnswer } from "./kept.ts";
import { createManifests, type Manifests } from "./manifests.ts";
import { createLocate, type Hosted, type Locate, type SiteHost } from "./locate.ts";
import { ownNotFound } from "./not-found.ts";
import { isForbiddenWorker, type Policy, policyHeaders } from "./policy.ts";
import { methodNotAllowed, notFound, noWorker, unknownVersion } from "./refusals.ts";
import { createRespond, type Respond } from "./respond.ts";
import { createRows } from "./rows.ts";
import { createShortcuts, type Shortcut, type Shortcuts } from "./shortcuts.ts";
import { createVersions } from "./versions.ts";
import { createWarm, type Warm } from "./warm.ts";

export interface SiteServer {
  /** Throws a Refusal for every answer that is not the site's own. */
  handle(request: Request, host: SiteHost, exchange: Exchange): Response | Promise<Response>;
  /** The answer to a request whose way is known already, by its URL and Host; null: ask `handle`. */
  again(request: Request, host: string | null, exchange: Exchange): Response | Promise<Response> | null;
  /** The site of a host, as far as visitors may see it: throws the refusal that a page of it would get. */
  shown(host: SiteHost): Promise<Site>;
  /** What its addresses mean now. */
  live(slug: string): Promise<Live>;
  warm: Warm;
}

interface Live {
  site: Site;
  version: Version;
  files: StoredManifest;
  spa: Spa;
}

interface SiteServerParts {
  store: ServingStore;
  now: () => number;
  base_url: string;
  sites_domain: string;
  /** Where to appeal against a takedown. */
  contact: string | null;
  /** True from when the server is to stop: nothing is made ahead any more. */
  ending(): boolean;
  code: Code;
  /** What rows, manifests and bodies may take together. */
  cache_bytes: number;
}

/** What a request goes through once it is known what stands behind the host. */
interface Serving {
  bodies: Bodies;
  blobs: Pick<Blobs, "open">;
  budget: Pick<Budget, "keep">;
  answerFor: AnswerFor;
  respond: Respond;
  shortcuts: Shortcuts;
  sites_domain: string;
}

/** Their share of the cache: they push out each other, and never what was answered from them. */
const MANIFESTS = 1 / 8;

export function createSiteServer(parts: SiteServerParts): SiteServer {
  const { store } = parts;
  const { blobs } = store;
  const budget = createBudget(parts.cache_bytes * (1 - MANIFESTS));
  const manifests = createManifests(store, createBudget(parts.cache_bytes * MANIFESTS));
  const versions = createVersions(store, budget, manifests);
  const bodies = createBodies(createForms({ blobs, budget, encoder: createEncoder(parts.code) }));
  const respond = createRespond(bodies, { blobs, budget });
  const shortcuts = createShortcuts();
  const answerFor = createAnswers(bodies, budget, manifests);
  const serving = { bodies, blobs, budget, answerFor, respond, shortcuts, sites_domain: parts.sites_domain };
  const locate = createLocate(createRows(store, budget, versions), versions, parts);

  function again(request: Request, host: string | null, exchange: Exchange): Response | Promise<Response> | null {
    const found = shortcuts.find(request.url, host);
    if (found === undefined || !holds(found, request, parts)) return null;
    const { answer, policy } = found;
    if (isForbiddenWorker(request, policy)) return null;
    answer.used = true;
    if (answer.kind === "file") return respond(request, answer, policy, exchange);
    return ownNotFound(serving, request, answer, policy, exchange);
  }

  function handle(request: Request, host: SiteHost, exchange: Exchange): Response | Promise<Response> {
    const hosted = locate(host);
    if (!(hosted instanceof Promise)) return answerFrom(hosted, request, exchange, serving);
    return hosted.then((found) => answerFrom(found, request, exchange, serving));
  }

  return {
    handle,
    again,
    shown: async (host) => (await locate(host)).site,
    live: (slug) => readLive(locate, manifests, slug),
    warm: createWarm(versions, manifests, bodies, parts.ending),
  };
}

async function readLive(locate: Locate, manifests: Manifests, slug: string): Promise<Live> {
  const { site, version } = await locate({ slug, version_id: null });
  const files = await manifests.of(version);
  if (files === null) throw unknownVersion();
  return { site, version: version.version, files, spa: effectiveSpa(site, version.version) };
}

/** Whether a shortcut still leads to what the long way would find. */
function holds({ slug, generation, end }: Shortcut, { method }: Request, { store, now }: SiteServerParts): boolean {
  return generation === store.generation.current(slug) && now() < end && (method === "GET" || method === "HEAD");
}

function answerFrom(
  hosted: Hosted,
  request: Request,
  exchange: Exchange,
  serving: Serving,
): Response | Promise<Response> {
  exchange.held = hosted.site.quarantine !== null;
  if (request.method !== "GET" && request.method !== "HEAD") throw methodNotAllowed(hosted.policy);
  if (isForbiddenWorker(request, hosted.policy)) throw noWorker(hosted.policy);
  const answer = serving.answerFor(hosted.version, pathOf(request.url), () => askedOf(hosted, request, serving));
  if (!(answer instanceof Promise)) return send(hosted, answer, request, exchange, serving);
  return answer.then((read) => send(hosted, read, request, exchange, serving));
}

function send(
  hosted: Hosted,
  answer: Answer,
  request: Request,
  exchange: Exchange,
  serving: Serving,
): Response | Promise<Response> {
  const { respond, shortcuts } = serving;
  const { version, policy } = hosted;
  if (answer.kind === "file") {
    remember(request, hosted, answer, shortcuts);
    return respond(request, answer, policy, exchange);
  }
  if (answer.kind === "redirect") return redirect(request, answer, policy);
  const shell = shellFor(request, hosted.site, version, answer);
  if (shell !== null) return respond(request, shell, policy, exchange);
  if (answer.page === null) throw notFound(policy);
  if (!mayShow(answer, hosted.site, version)) remember(request, hosted, answer, shortcuts);
  return ownNotFound(serving, request, answer, policy, exchange);
}

/** What the version's rules may look at beside the path. */
function askedOf({ site, label }: Hosted, request: Request, { sites_domain }: Serving): Asked {
  const live = `${site.slug}.${sites_domain.replace(/:\d+$/, "")}`;
  return {
    hosts: { live, version: `${label}--${live}` },
    owned: site.owner_account_id !== null,
    navigates: navigates(request),
  };
}

/** Only what people ask for again: the live version, without a query, which is seldom the same twice. */
function remember(
  request: Request,
  { row, site, version, policy }: Hosted,
  answer: Shortcut["answer"],
  shortcuts: Shortcuts,
): void {
  if (row.live !== version) return;
  // What hangs on more than the path is found the long way.
  if (version.rules.redirects !== null && version.answers.get(pathOf(request.url)) !== answer) return;
  const { url } = request;
  const { slug } = site;
  if (!url.includes("?")) shortcuts.add(url, { slug, generation: row.generation, end: endOf(site), answer, policy });
}

/** The shell of a single-page app answers navigations; clients that do not say what they ask for get it too. */
function shellFor(request: Request, site: Site, version: LoadedVersion, found: UnmatchedAnswer): FileAnswer | null {
  if (!mayShow(found, site, version)) return null;
  return navigates(request) ? found.shell : null;
}

function navigates(request: Request): boolean {
  const destination = request.headers.get("sec-fetch-dest");
  return destination === null || destination === "document" || destination === "iframe";
}

/** Whether navigations get the shell there. */
const mayShow = ({ shell }: UnmatchedAnswer, site: Site, { version }: LoadedVersion): boolean =>
  shell !== null && effectiveSpa(site, version).enabled;

/** Temporary ones are asked for each time. */
const isLasting = (status: number): boolean => status === 301 || status === 308;

function redirect(request: Request, { status, location, by_use }: RedirectAnswer, policy: Policy): Response {
  return new Response(null, {
    status,
    headers: {
      location: withQuery(location, queryOf(request.url)),
      "cache-control": isLasting(status) ? policy.cache_control : "no-store",
      "x-content-type-options": "nosniff",
      ...(by_use && { vary: "Sec-Fetch-Dest" }),
      ...policyHeaders(policy),
    },
  });
}
