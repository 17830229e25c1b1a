/** A response out of a stored version. Answers a request on a site's host in three steps: 1 finds the site and the
 *  version that the host shows (locate), 2 finds the answer of the path (by-path, answer), 3 makes the response
 *  (respond). With everything in the cache it never awaits. */

import { effectiveSpa } from "../base/site-state.ts";
import type { ErrorCode } from "../base/errors.ts";
import type { Site, Spa, Version } from "../base/types.ts";
import type { Code } from "../http/codings.ts";
import type { Exchange } from "../http/exchange.ts";
import type { HostTraffic } from "../run/bulletin.ts";
import { shownByRule } from "../rules/answer.ts";
import type { ServingStore } from "../store/serving.ts";
import type { StoredFile, StoredManifest } from "../store/versions.ts";
import { answerFrom, type AnswerParts, unmatched } from "./answer.ts";
import { type Bodies, createBodies, createBodyMaker } from "./bodies.ts";
import { createAnswers } from "./by-path.ts";
import { createEncoder, isCoded } from "./encode.ts";
import { createExplain, type Explain } from "./explain.ts";
import { type ByteBudgetCache, createByteBudgetCache } from "./cache.ts";
import {
  createDomainAt,
  createLocate,
  createPrivateAt,
  createRows,
  type DomainAt,
  type Hosted,
  isLiveHost,
  isMoved,
  type Locate,
  type Moved,
  primaryFor,
  type PrivateAt,
  type SiteHost,
} from "./locate.ts";
import { movedAnswer } from "./moved.ts";
import { createRespond } from "./respond.ts";
import { isForbiddenWorker } from "./policy.ts";
import { createNotFound, refuseUnlessAdmitted, unknownVersion } from "./refusals.ts";
import { createShortcuts, type Shortcut, type Shortcuts } from "./shortcuts.ts";
import { asksForPart, createSkew } from "./skew.ts";
import {
  commentsVariantOf,
  createManifests,
  createVersions,
  type LoadedVersions,
  type Manifests,
  type SiteKey,
} from "./versions.ts";

export interface SiteServer {
  /** Throws a Refusal for every answer that is not the site's own. */
  handle(request: Request, host: SiteHost, exchange: Exchange): Response | Promise<Response>;
  /** The answer to a request whose URL and Host were answered before. Null: call `handle`. */
  answerFromShortcut(request: Request, host: string | null, exchange: Exchange): Response | Promise<Response> | null;
  /** The site of a host, or the one that a former name leads to. Throws the refusal that a page of it would get if visitors may not see the site. */
  shown(host: SiteHost): Promise<Site>;
  /** The live version of a site, with its files and its rule for unknown paths. */
  live(slug: string): Promise<Live>;
  privateAt: PrivateAt;
  domainAt: DomainAt;
  /** The answer that leads to the site's primary domain; null if the request is answered where it is. */
  leadsOn(request: Request, host: SiteHost): Promise<Response | null>;
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
  /** The operator's address for an appeal against a takedown. */
  contact: string | null;
  /** True once the server is to stop. Then nothing is made ahead any more. */
  ending(): boolean;
  code: Code;
  /** The bytes that rows, manifests and bodies may take together. */
  cache_bytes: number;
  /** How many milliseconds a former version still gives its files. Null: it gives none. */
  skew: number | null;
  /** Counts a file that came from a former version. */
  skewed(): void;
  /** Counts an answer of ours that is an error. */
  refused(code: ErrorCode): void;
  trafficOf(host: string): HostTraffic;
}

/** Shares of the cache. Manifests push out only other manifests, and files of former versions only each other. */
const MANIFESTS = 1 / 8;
const SKEW = 1 / 32;

interface Caches {
  budget: ByteBudgetCache;
  manifests: Manifests;
  shortcuts: Shortcuts;
}

const createCaches = ({ store, cache_bytes, trafficOf }: SiteServerParts): Caches => ({
  budget: createByteBudgetCache(cache_bytes * (1 - MANIFESTS - SKEW)),
  manifests: createManifests(store, createByteBudgetCache(cache_bytes * MANIFESTS)),
  shortcuts: createShortcuts(trafficOf),
});

function servingOver(parts: SiteServerParts, { budget, manifests, shortcuts }: Caches): AnswerParts {
  const { store, cache_bytes, now, skew: lasts_ms } = parts;
  const { blobs } = store;
  const bodies = createBodies(createBodyMaker({ blobs, budget, encoder: createEncoder(parts.code) }));
  return {
    bodies,
    blobs,
    answers: createAnswers({ bodies, budget, manifests, shortcuts }),
    respond: createRespond(bodies, { blobs, budget }),
    shortcuts,
    skew: createSkew({ store, bodies, budget: createByteBudgetCache(cache_bytes * SKEW), now, lasts_ms }),
    sites_domain: parts.sites_domain,
    skewed: parts.skewed,
    notFound: createNotFound(parts.refused),
  };
}

export function createSiteServer(parts: SiteServerParts): SiteServer {
  const { store } = parts;
  const caches = createCaches(parts);
  const { budget, manifests, shortcuts } = caches;
  const versions = createVersions({ store, ...caches });
  const serving = servingOver(parts, caches);
  const { bodies, respond } = serving;
  const rows = createRows(store, budget, versions);
  const locate = createLocate(rows, versions, parts);

  function answerFromShortcut(
    request: Request,
    host: string | null,
    exchange: Exchange,
  ): Response | Promise<Response> | null {
    const found = shortcuts.find(request.url, host);
    if (found === undefined || !holds(found, request, parts)) return null;
    const { answer, policy, traffic, insists, counted } = found;
    if (isForbiddenWorker(request, policy)) return null;
    // A former version may have the file.
    if (answer.kind !== "file" && answer.no_former_file_at_generation !== found.generation && asksForPart(request))
      return null;
    answer.used = true;
    exchange.traffic = traffic;
    exchange.insists = insists;
    exchange.counted = counted;
    if (answer.kind === "file") return respond(request, answer, policy, exchange);
    return unmatched(answer, policy, request, exchange, serving);
  }

  function answerAt(found: Hosted | Moved, request: Request, host: SiteHost, exchange: Exchange) {
    if (isMoved(found)) return movedAnswer(request, host, found, parts);
    const primary = primaryFor(found, request, host);
    if (primary !== null) return movedAnswer(request, host, { moved_to: host.slug, primary }, parts);
    refuseUnlessAdmitted(found.site, exchange);
    return answerFrom(found, request, exchange, serving);
  }

  function handle(request: Request, host: SiteHost, exchange: Exchange): Response | Promise<Response> {
    const found = locate(host);
    if (!(found instanceof Promise)) return answerAt(found, request, host, exchange);
    return found.then((read) => answerAt(read, request, host, exchange));
  }

  return {
    handle,
    answerFromShortcut,
    domainAt: createDomainAt(rows),
    leadsOn: (request, host) => leadsOn(locate, request, host, parts),
    shown: async (host) => (await locate(host)).site,
    live: (slug) => readLive(locate, manifests, slug),
    privateAt: createPrivateAt(rows, parts.now),
    warm: createWarm(versions, manifests, bodies, parts.ending),
    explain: createExplain({ locate, serving, ...parts }),
  };
}

async function leadsOn(
  locate: Locate,
  request: Request,
  host: SiteHost,
  parts: SiteServerParts,
): Promise<Response | null> {
  if (!isLiveHost(host)) return null;
  const found = await locate(host);
  const primary = isMoved(found) ? null : primaryFor(found, request, host);
  return primary === null ? null : movedAnswer(request, host, { moved_to: host.slug, primary }, parts);
}

async function readLive(locate: Locate, manifests: Manifests, slug: string): Promise<Live> {
  const located = await locate({ slug, version_id: null });
  if (isMoved(located)) return readLive(locate, manifests, located.moved_to);
  const { site, version } = located;
  const files = await manifests.of(version);
  if (files === null) throw unknownVersion();
  const ruled = shownByRule(files, version.rules.redirects);
  return { site, version: version.version, files, spa: effectiveSpa(site, version.version), ruled };
}

/** True if a shortcut still leads to the answer that `handle` would find. */
function holds({ slug, generation, end }: Shortcut, { method }: Request, { store, now }: SiteServerParts): boolean {
  return store.generation.holds(slug, generation) && now() < end && (method === "GET" || method === "HEAD");
}

type Warmed = SiteKey & Pick<Site, "comments_mode" | "comments_changes">;

/** Compresses the files of a new version before anybody asks for them, one after the other, so that no request waits. */
type Warm = (site: Warmed, version_id: string) => Promise<void>;

/** If more versions than this wait, a new one is not compressed ahead: the first reader of a file waits for it. */
const LONGEST_LINE = 20;

/** Makes Brotli only, which every browser takes. Other codings are made when a client asks for them. */
function createWarm(versions: LoadedVersions, manifests: Manifests, bodies: Bodies, ending: () => boolean): Warm {
  let last = Promise.resolve();
  let in_line = 0;

  async function warmVersion(site: Warmed, version_id: string): Promise<void> {
    const version = ending() ? null : await versions.read(site, version_id, commentsVariantOf(site));
    const manifest = version && (await manifests.of(version));
    if (version === null || manifest === null) return;
    for (const file of indexFirst([...manifest.values()])) {
      if (ending()) return;
      if (!isCoded(file.media_type)) continue;
      await bodies.warm(bodies.of(version, file), "br");
    }
  }

  return async (site, version_id) => {
    if (in_line >= LONGEST_LINE) return;
    in_line++;
    const before = last;
    const turn = before.then(() => warmVersion(site, version_id)).finally(() => in_line--);
    // A version that cannot be read must not stop those after it.
    last = turn.catch(() => {});
    await turn;
  };
}

const indexFirst = (files: StoredFile[]): StoredFile[] =>
  files.sort((a, b) => Number(b.path === "index.html") - Number(a.path === "index.html"));
