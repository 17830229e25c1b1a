/** A request on a site's host, top to bottom: 1 what is shown there, if anything (locate), 2 the path's answer (by-path,
 *  resolve), 3 the response (respond). With everything in the cache nothing awaits. */
import type { Exchange } from "../http/exchange.ts";
import { shownByRule } from "../rules/shown.ts";
import { effectiveSpa } from "../base/site-state.ts";
import type { ServingStore } from "../store/serving.ts";
import type { StoredFile, StoredManifest } from "../store/versions.ts";
import type { Site, Spa, Version } from "../base/types.ts";
import { answerFrom, type Serving } from "./answering.ts";
import { createBodies } from "./bodies.ts";
import { type Budget, createBudget } from "./budget.ts";
import { createAnswers } from "./by-path.ts";
import type { Code } from "../http/codings.ts";
import { createEncoder } from "./encode.ts";
import { createExplain, type Explain } from "./explain/index.ts";
import { createForms } from "./forms.ts";
import { createManifests, type Manifests } from "./manifests.ts";
import { createLocate, type Locate, type SiteHost } from "./locate.ts";
import { ownNotFound } from "./not-found.ts";
import { isForbiddenWorker } from "./policy.ts";
import { unknownVersion } from "./refusals.ts";
import { createRespond } from "./respond.ts";
import { createRows } from "./rows.ts";
import { createShortcuts, type Shortcut, type Shortcuts } from "./shortcuts.ts";
import { asksForPart } from "./skew/asked.ts";
import { createSkew } from "./skew/index.ts";
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
  explain: Explain;
}

interface Live {
  site: Site;
  version: Version;
  files: StoredManifest;
  spa: Spa;
  /** The file that a rule shows at a path, percent-encoded. */
  ruled(path: string): StoredFile | null;
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
  /** How long former versions give their files; null: not at all. */
  skew: number | null;
  /** One gave a file. */
  skewed(): void;
}

/** Their shares of the cache: what has one pushes out its like, and never what else is answered. */
const MANIFESTS = 1 / 8;
const SKEW = 1 / 32;

interface Caches {
  budget: Budget;
  manifests: Manifests;
  shortcuts: Shortcuts;
}

const createCaches = ({ store, cache_bytes }: SiteServerParts): Caches => ({
  budget: createBudget(cache_bytes * (1 - MANIFESTS - SKEW)),
  manifests: createManifests(store, createBudget(cache_bytes * MANIFESTS)),
  shortcuts: createShortcuts(),
});

function servingOver(parts: SiteServerParts, { budget, manifests, shortcuts }: Caches): Serving {
  const { store, cache_bytes, now, skew: lasts_ms } = parts;
  const { blobs } = store;
  const bodies = createBodies(createForms({ blobs, budget, encoder: createEncoder(parts.code) }));
  return {
    bodies,
    blobs,
    answers: createAnswers({ bodies, budget, manifests, shortcuts }),
    respond: createRespond(bodies, { blobs, budget }),
    shortcuts,
    skew: createSkew({ store, bodies, budget: createBudget(cache_bytes * SKEW), now, lasts_ms }),
    sites_domain: parts.sites_domain,
    skewed: parts.skewed,
  };
}

export function createSiteServer(parts: SiteServerParts): SiteServer {
  const { store } = parts;
  const caches = createCaches(parts);
  const { budget, manifests, shortcuts } = caches;
  const versions = createVersions({ store, ...caches });
  const serving = servingOver(parts, caches);
  const { bodies, respond } = serving;
  const locate = createLocate(createRows(store, budget, versions), versions, parts);

  function again(request: Request, host: string | null, exchange: Exchange): Response | Promise<Response> | null {
    const found = shortcuts.find(request.url, host);
    if (found === undefined || !holds(found, request, parts)) return null;
    const { answer, policy } = found;
    if (isForbiddenWorker(request, policy)) return null;
    // A former version may have it.
    if (answer.kind !== "file" && answer.bare_at !== found.generation && asksForPart(request)) return null;
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
    explain: createExplain({ locate, serving, contact: parts.contact }),
  };
}

async function readLive(locate: Locate, manifests: Manifests, slug: string): Promise<Live> {
  const { site, version } = await locate({ slug, version_id: null });
  const files = await manifests.of(version);
  if (files === null) throw unknownVersion();
  const ruled = shownByRule(files, version.rules.redirects);
  return { site, version: version.version, files, spa: effectiveSpa(site, version.version), ruled };
}

/** Whether a shortcut still leads to what the long way would find. */
function holds({ slug, generation, end }: Shortcut, { method }: Request, { store, now }: SiteServerParts): boolean {
  return generation === store.generation.current(slug) && now() < end && (method === "GET" || method === "HEAD");
}
