/** From a site's host to what is shown there: the row of the slug, whether visitors may see the site at all, the version.
 *  Pages and the paths that the service keeps on a site's host ask here alike. */
import { isShown, siteState } from "../base/site-state.ts";
import type { Previews, ShownPreview } from "../store/previews.ts";
import type { Site } from "../base/types.ts";
import type { LoadedVersion, Row } from "./kept.ts";
import { type Policy, policyOf } from "./policy.ts";
import { disabled, expired, unknownHost, unknownVersion } from "./refusals.ts";
import type { Rows } from "./rows.ts";
import { type Beside, dressOf, type LoadedVersions } from "./versions.ts";

/** Of `<slug>.<sites_domain>`, `<version_id>--<slug>.<sites_domain>` or `<preview>--<slug>.<sites_domain>`. */
export interface SiteHost {
  slug: string;
  version_id: string | null;
  preview?: string;
}

/** Not a version's own, and no preview's. */
export const isLiveHost = ({ version_id, preview }: SiteHost): boolean => version_id === null && preview === undefined;

/** What stands behind a site's host. */
export interface Hosted {
  row: Row;
  site: Site;
  version: LoadedVersion;
  policy: Policy;
  /** What the host of a version or a preview has before the two hyphens; of the live one, its version's. */
  label: string;
}

/** Throws the refusal that visitors get: 404, 410, 451. Never awaits where all is kept. */
export type Locate = (host: SiteHost) => Hosted | Promise<Hosted>;

/** A version's own host has no comments (CONTRACT 2). */
const NO_DRESS = "";

interface Parts {
  store: { previews: Pick<Previews, "shown"> };
  now: () => number;
  base_url: string;
  contact: string | null;
}

/** `named`: the row says that it is there; any other id may be a stranger's guess. */
interface Reading extends Omit<Hosted, "version"> {
  read: Promise<LoadedVersion | null>;
  named: boolean;
}

/** What a row names may be removed before it is read, as what is shown moves on: then the row is read again, so often. */
const ATTEMPTS = 5;

export function createLocate(rows: Rows, versions: LoadedVersions, parts: Parts): Locate {
  /** `left`: how often the row may still be read. */
  async function fresh(host: SiteHost, left: number): Promise<Hosted> {
    if (left === 0) throw unknownVersion();
    return hostedBy(await rows.read(host.slug), host, left - 1);
  }

  function whole(found: Hosted | Reading, host: SiteHost, left: number): Hosted | Promise<Hosted> {
    if ("version" in found) return found;
    const { read, named, ...hosted } = found;
    return read.then((version) => (version === null ? fresh(host, named ? left : 0) : { ...hosted, version }));
  }

  function hostedBy(row: Row, host: SiteHost, left: number): Hosted | Promise<Hosted> {
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

function live(row: Row, site: Site, versions: LoadedVersions, rows: Rows): Hosted | Reading {
  const policy = policyOf(site, "live");
  const label = site.live_version_id;
  if (row.live) return { row, site, version: row.live, policy, label };
  const read = versions.read(site, label, dressOf(site)).then((version) => {
    if (version !== null) rows.setLive(row, version);
    return version;
  });
  return { row, site, policy, label, read, named: true };
}

function beside(row: Row, site: Site, shown: ShownAt, versions: LoadedVersions): Hosted | Reading {
  const { version_id, named, ...which } = shown;
  const policy = policyOf(site, which.name === null ? "version" : "preview");
  const label = which.name ?? version_id;
  const version = versions.ready(site, version_id, NO_DRESS, which);
  if (version) return { row, site, version, policy, label };
  return { row, site, policy, label, read: versions.read(site, version_id, NO_DRESS, which), named };
}

interface ShownAt extends Beside {
  version_id: string;
  named: boolean;
}

/** Asked of the clock each time, as the site's own end is. */
function shownAt(host: SiteHost, previews: readonly ShownPreview[], now: number): ShownAt {
  const named = previews.find(({ name, expires_at }) => name === host.preview && expires_at > now);
  const version_id = host.version_id ?? named?.version_id;
  if (version_id === undefined) throw unknownHost();
  const of_version = previews.filter((preview) => preview.version_id === version_id);
  const only = of_version[0]?.only ?? null;
  if (only !== null && !of_version.some(({ expires_at }) => expires_at > now)) throw unknownVersion();
  return { version_id, only, name: host.preview ?? null, named: of_version.length > 0 };
}

/** The site, if visitors may see it: asked of the clock each time, not of the sweep. */
function shownSite({ site, tombstone }: Row, parts: Parts): Site {
  if (site === null) throw tombstone?.reason === "expired" ? expired() : unknownHost();
  const state = siteState(site, parts.now());
  if (isShown(state)) return site;
  throw state === "expired" ? expired() : disabled(site.disabled_reason, parts);
}
