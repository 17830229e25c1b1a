/** Finds what a site's host shows: the row of the slug, whether visitors may see the site, and the version. Pages ask here,
 *  and so do the service's own paths on a site's host. */

import { isShown, siteState } from "../base/site-state.ts";
import { pathOf } from "../http/exchange.ts";
import type { Site } from "../base/types.ts";
import type { Previews, ShownPreview } from "../store/previews.ts";
import type { ServingStore } from "../store/serving.ts";
import type { ByteBudgetCache, LoadedVersion, SiteRow } from "./cache.ts";
import { type Policy, policyOf } from "./policy.ts";
import { disabled, expired, unknownHost, unknownVersion, WithheldVersion } from "./refusals.ts";
import { type BesideLive, commentsVariantOf, type LoadedVersions } from "./versions.ts";

/** A host of the form `<slug>.<sites_domain>`, `<version_id>--<slug>.<sites_domain>` or `<preview>--<slug>.<sites_domain>`. */
export interface SiteHost {
  slug: string;
  version_id: string | null;
  preview?: string;
  /** The name, where it is a domain of the site's own: its live host (BEYOND 10). */
  domain?: string;
  /** Browsers are told to insist on https there. */
  hsts?: boolean;
}

/** True for the host of the live version: it names no version and no preview. */
export const isLiveHost = ({ version_id, preview }: SiteHost): boolean => version_id === null && preview === undefined;

/** The site and the version that a host shows. */
export interface Hosted {
  row: SiteRow;
  site: Site;
  version: LoadedVersion;
  policy: Policy;
  /** The part of the host before the two hyphens. For the live host it is the id of the live version. */
  label: string;
}

/** The site that a host led to before it was renamed. */
export interface Moved {
  /** Its present name. */
  moved_to: string;
  /** The domain to which its live host leads. */
  primary: string | null;
  site: Site;
}
type Located = Hosted | Moved;

export const isMoved = (located: Located): located is Moved => "moved_to" in located;

/** Throws the refusal that visitors get: 404, 410 or 451. Does not await if everything is in the cache. */
export type Locate = (host: SiteHost) => Located | Promise<Located>;

/** A version's own host has no comments (CONTRACT 2). */
const NO_COMMENTS_VARIANT = "";

interface LocateParts {
  store: { previews: Pick<Previews, "shown"> };
  now: () => number;
  base_url: string;
  contact: string | null;
}

/** `named` is true if the row says that the version exists. Any other id may be a stranger's guess. */
interface Reading extends Omit<Hosted, "version" | "policy"> {
  policyFor(version: LoadedVersion): Policy;
  read: Promise<LoadedVersion | null>;
  named: boolean;
}

/** A version may be removed after its row was read, because the site moved on. Then the row is read again, at most so often. */
const ATTEMPTS = 5;

export function createLocate(rows: Rows, versions: LoadedVersions, parts: LocateParts): Locate {
  /** Reads the row. `left` is how often that may still happen. */
  async function fresh(host: SiteHost, left: number): Promise<Located> {
    if (left === 0) throw unknownVersion();
    return hostedBy(await rows.read(host.slug), host, left - 1);
  }

  function whole(found: Hosted | Reading, host: SiteHost, left: number): Located | Promise<Located> {
    if ("version" in found) return found;
    const { read, named, policyFor, ...hosted } = found;
    return read.then((version) =>
      version === null ? fresh(host, named ? left : 0) : { ...hosted, version, policy: policyFor(version) },
    );
  }

  /** A state of the site is a former name's, too; nothing else of it is looked at. */
  function moved({ moved_to, primary, ...row }: SiteRow, left: number): Moved | Promise<Moved> {
    if (!moved_to) {
      const site = shownSite(row, parts);
      return { moved_to: site.slug, primary, site };
    }
    if (left === 0) throw unknownHost();
    const next = rows.ready(moved_to);
    return next === undefined ? rows.read(moved_to).then((read) => moved(read, left - 1)) : moved(next, left - 1);
  }

  function hostedBy(row: SiteRow, host: SiteHost, left: number): Located | Promise<Located> {
    if (row.moved_to) return moved(row, ATTEMPTS);
    const site = shownSite(row, parts);
    if (isLiveHost(host)) return whole(live(row, site, versions, rows), host, left);
    const at = (previews: readonly ShownPreview[]) =>
      whole(beside(row, site, shownAt(host, previews, parts.now()), versions), host, left);
    if (row.previews !== null) return at(row.previews);
    return parts.store.previews.shown(site.site_id).then((previews) => at((row.previews = previews)));
  }

  return (host) => {
    const row = rows.ready(host.slug);
    if (row === undefined) return fresh(host, ATTEMPTS);
    row.used = true;
    return hostedBy(row, host, ATTEMPTS);
  };
}

/** The domain to which a request for a page is sent on, because its host is another one of the site (BEYOND 10); null if it is answered
 *  where it is. Paths of the service, and challenges for certificates, are answered on every host. */
export function primaryFor(
  { row: { primary } }: Pick<Hosted, "row">,
  { method, url }: Request,
  host: SiteHost,
): string | null {
  if (primary === null || host.domain === primary || !isLiveHost(host)) return null;
  if (method !== "GET" && method !== "HEAD") return null;
  const path = pathOf(url);
  return path.startsWith("/_svc/") || path.startsWith("/.well-known/acme-challenge/") ? null : primary;
}

/** Finds the site whose domain a name is. */
export type DomainAt = (domain: string) => SiteHost | null | Promise<SiteHost | null>;

export const createDomainAt =
  (rows: Pick<Rows, "ready" | "read">): DomainAt =>
  (domain) => {
    const hostOf = ({ domain: found }: SiteRow): SiteHost | null =>
      found && { slug: found.slug, version_id: null, domain, hsts: found.hsts === 1 };
    const row = rows.ready(domain);
    return row === undefined ? rows.read(domain).then(hostOf) : hostOf(row);
  };

/** The site of a host whose visitors need a password; null for every other host. A former name says nothing of its site, and an
 *  address without a site or one that nobody may see has an answer of its own. */
export type PrivateAt = (host: SiteHost) => Site | null | Promise<Site | null>;

export function createPrivateAt(rows: Pick<Rows, "ready" | "read">, now: () => number): PrivateAt {
  const privateOf = ({ site }: SiteRow): Site | null =>
    site !== null && site.access_hash !== null && isShown(siteState(site, now())) ? site : null;
  return ({ slug }) => {
    const row = rows.ready(slug);
    return row === undefined ? rows.read(slug).then(privateOf) : privateOf(row);
  };
}

function live(row: SiteRow, site: Site, versions: LoadedVersions, rows: Rows): Hosted | Reading {
  const policy = policyOf(site, "live");
  const label = site.live_version_id;
  if (row.live) return { row, site, version: row.live, policy, label };
  const read = versions.read(site, label, commentsVariantOf(site)).then((version) => {
    if (version !== null) rows.setLive(row, version);
    return version;
  });
  return { row, site, policyFor: () => policy, label, read, named: true };
}

function beside(row: SiteRow, site: Site, shown: ShownAt, versions: LoadedVersions): Hosted | Reading {
  const { version_id, named, running, ...which } = shown;
  // No cache may keep what is withheld with the next deploy.
  const policyFor = ({ version: { withhold } }: LoadedVersion) =>
    policyOf(site, which.name === null && withhold === 0 ? "version" : "preview");
  const label = which.name ?? version_id;
  const version = versions.ready(site, version_id, NO_COMMENTS_VARIANT, which);
  const opened = (found: LoadedVersion): LoadedVersion => {
    if (found.version.withhold === 1 && !running && version_id !== site.live_version_id) throw new WithheldVersion();
    return found;
  };
  if (version) return { row, site, version: opened(version), policy: policyFor(version), label };
  const read = versions.read(site, version_id, NO_COMMENTS_VARIANT, which).then((found) => found && opened(found));
  return { row, site, policyFor, label, read, named };
}

interface ShownAt extends BesideLive {
  version_id: string;
  named: boolean;
  /** A preview that has not ended shows it. */
  running: boolean;
}

/** Compares each preview's end with the clock on every request, as with the site's own end. */
function shownAt(host: SiteHost, previews: readonly ShownPreview[], now: number): ShownAt {
  const named = previews.find(({ name, expires_at }) => name === host.preview && expires_at > now);
  const version_id = host.version_id ?? named?.version_id;
  if (version_id === undefined) throw unknownHost();
  const of_version = previews.filter((preview) => preview.version_id === version_id);
  const only = of_version[0]?.only ?? null;
  const running = of_version.some(({ expires_at }) => expires_at > now);
  if (only !== null && !running) throw unknownVersion();
  return { version_id, only, name: host.preview ?? null, named: of_version.length > 0, running };
}

/** The site, if visitors may see it. It is compared with the clock on every request and does not wait for the sweep. */
function shownSite({ site, tombstone }: Pick<SiteRow, "site" | "tombstone">, parts: LocateParts): Site {
  const now = parts.now();
  if (site === null) throw tombstone?.reason === "expired" ? expired(tombstone.gone_at, now) : unknownHost();
  const state = siteState(site, now);
  if (isShown(state)) return site;
  throw state === "expired"
    ? expired(new Date(site.expires_at!).toISOString(), now)
    : disabled(site.disabled_reason, parts);
}

/** Site rows by slug. A request needs the row before it can look for a version. */
interface Rows {
  /** The row if it is in the cache and still true. Never awaits. */
  ready(slug: string): SiteRow | undefined;
  read(slug: string): Promise<SiteRow>;
  /** Sets the live version of a row, also if the version was pushed out and read again. */
  setLive(row: SiteRow, version: LoadedVersion): void;
}

const ROW_COST = 800;
const NO_SITE = {
  ...{ site: null, moved_to: null, tombstone: null, domain: null, primary: null, live: null, previews: null },
  ...{ domains: [] as readonly string[], cost: ROW_COST, used: false },
};

export function createRows(store: ServingStore, budget: ByteBudgetCache, versions: LoadedVersions): Rows {
  const { keep, setLive, known } = createKept(budget);

  async function read(slug: string): Promise<SiteRow> {
    const kept = known(slug);
    if (kept === undefined || store.generation.orHeld === undefined) return readNow(slug);
    return (await store.generation.orHeld(slug, kept.generation, readNow(slug))) ?? kept;
  }

  async function readNow(slug: string, left = ATTEMPTS): Promise<SiteRow> {
    // The counter is read first: if it were read after the row, an old row would pass for a new one.
    const generation = store.generation.current(slug);
    if (slug.includes(".")) return readDomain(slug, generation);
    const site = await store.sites.bySlug(slug);
    const moved_to = site === null ? await store.sites.movedTo(slug) : null;
    const tombstone = site === null && moved_to === null ? await store.sites.tombstone(slug) : null;
    const live = site === null ? null : await versions.read(site, site.live_version_id, commentsVariantOf(site));
    if (site !== null && live === null) return readAgain(site, left);
    const own = site?.owner_account_id ? await store.domains.activeOf(site.site_id) : [];
    const primary = own.find(({ is_primary }) => is_primary === 1)?.domain ?? null;
    const domains = own.length === 0 ? NO_SITE.domains : own.map(({ domain }) => domain);
    return keep({ ...NO_SITE, slug, generation, site, primary, domains, moved_to, tombstone, live });
  }

  /** No slug has a dot. */
  async function readDomain(domain: string, generation: number): Promise<SiteRow> {
    return keep({ ...NO_SITE, slug: domain, generation, domain: await store.domains.at(domain) });
  }

  /** A site may be removed or moved on between the two reads, before the counter tells. One that goes on without a live version is broken. */
  function readAgain(site: Site, left: number): Promise<SiteRow> {
    if (left > 1) return readNow(site.slug, left - 1);
    throw new Error(`site ${site.site_id} points at version ${site.live_version_id}, which is not stored`);
  }

  function ready(slug: string): SiteRow | undefined {
    const kept = known(slug);
    return kept !== undefined && store.generation.holds(slug, kept.generation) ? kept : undefined;
  }

  return { ready, read, setLive };
}

/** Keeps one row for each slug. */
function createKept(budget: ByteBudgetCache) {
  const rows = new Map<string, SiteRow>();

  /** The version stays in the cache, so it must not refer to the row any more. */
  function drop(this: SiteRow): void {
    rows.delete(this.slug);
    if (this.live?.row === this) this.live.row = null;
  }
  function setLive(row: SiteRow, version: LoadedVersion): void {
    row.live = version;
    if (rows.get(row.slug) === row) version.row = row; // it may have been pushed out meanwhile
  }
  function keep(read: Omit<SiteRow, "drop">): SiteRow {
    const row = { ...read, drop };
    const before = rows.get(row.slug);
    if (before !== undefined) {
      budget.release(before);
      before.drop();
    }
    rows.set(row.slug, row);
    if (row.live !== null) setLive(row, row.live);
    budget.keep(row);
    return row;
  }

  return { keep, setLive, known: (slug: string) => rows.get(slug) };
}
