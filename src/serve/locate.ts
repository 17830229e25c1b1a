/** From a site's host to what is shown there: the row of the slug, whether visitors may see the site at all, the version.
 *  Pages and the paths that the service keeps on a site's host ask here alike. */
import { isShown, siteState } from "../site-state.ts";
import type { PreviewAddresses, ShownPreview } from "../store/serving.ts";
import type { Site } from "../types.ts";
import type { LoadedVersion, Row } from "./kept.ts";
import { type Policy, policyOf } from "./policy.ts";
import { disabled, expired, unknownHost, unknownVersion } from "./refusals.ts";
import { type Rows, setLive } from "./rows.ts";
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
  store: { previews: PreviewAddresses };
  now: () => number;
  base_url: string;
  contact: string | null;
}

export function createLocate(rows: Rows, versions: LoadedVersions, parts: Parts): Locate {
  function live(row: Row, site: Site): Hosted | Promise<Hosted> {
    const policy = policyOf(site, "live");
    const label = site.live_version_id;
    if (row.live) return { row, site, version: row.live, policy, label };
    return versions.read(site, label, dressOf(site)).then((read) => {
      if (read === null) throw unknownVersion();
      setLive(row, read);
      return { row, site, version: read, policy, label };
    });
  }

  function beside(row: Row, site: Site, host: SiteHost, previews: readonly ShownPreview[]): Hosted | Promise<Hosted> {
    const { version_id, ...which } = shownAt(host, previews, parts.now());
    const policy = policyOf(site, which.name === null ? "version" : "preview");
    const label = which.name ?? version_id;
    const ready = versions.ready(site, version_id, NO_DRESS, which);
    if (ready) return { row, site, version: ready, policy, label };
    return versions.read(site, version_id, NO_DRESS, which).then((version) => {
      if (version === null) throw unknownVersion();
      return { row, site, version, policy, label };
    });
  }

  function hostedBy(row: Row, host: SiteHost): Hosted | Promise<Hosted> {
    const site = shownSite(row, parts);
    if (isLiveHost(host)) return live(row, site);
    if (row.previews !== null) return beside(row, site, host, row.previews);
    return parts.store.previews
      .shown(site.site_id)
      .then((previews) => beside(row, site, host, (row.previews = previews)));
  }

  return (host) => {
    const row = rows.ready(host.slug);
    if (row === undefined) return rows.read(host.slug).then((read) => hostedBy(read, host));
    row.used = true;
    return hostedBy(row, host);
  };
}

/** Asked of the clock each time, as the site's own end is. */
function shownAt(host: SiteHost, previews: readonly ShownPreview[], now: number): Beside & { version_id: string } {
  const named = previews.find(({ name, expires_at }) => name === host.preview && expires_at > now);
  const version_id = host.version_id ?? named?.version_id;
  if (version_id === undefined) throw unknownHost();
  const of_version = previews.filter((preview) => preview.version_id === version_id);
  const only = of_version[0]?.only ?? null;
  if (only !== null && !of_version.some(({ expires_at }) => expires_at > now)) throw unknownVersion();
  return { version_id, only, name: host.preview ?? null };
}

/** The site, if visitors may see it: asked of the clock each time, not of the sweep. */
function shownSite({ site, tombstone }: Row, parts: Parts): Site {
  if (site === null) throw tombstone?.reason === "expired" ? expired() : unknownHost();
  const state = siteState(site, parts.now());
  if (isShown(state)) return site;
  throw state === "expired" ? expired() : disabled(site.disabled_reason, parts);
}
