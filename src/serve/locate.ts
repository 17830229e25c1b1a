/** From a site's host to what is shown there: the row of the slug, whether visitors may see the site at all, the version.
 *  Pages and the paths that the service keeps on a site's host ask here alike. */
import { isShown, siteState } from "../site-state.ts";
import type { Site } from "../types.ts";
import type { LoadedVersion, Row } from "./kept.ts";
import { type Policy, policyOf } from "./policy.ts";
import { disabled, expired, unknownHost, unknownVersion } from "./refusals.ts";
import { type Rows, setLive } from "./rows.ts";
import { dressOf, type LoadedVersions } from "./versions.ts";

/** Of `<slug>.<sites_domain>`, or `<version_id>--<slug>.<sites_domain>`. */
export interface SiteHost {
  slug: string;
  version_id: string | null;
}

/** What stands behind a site's host. */
export interface Hosted {
  row: Row;
  site: Site;
  version: LoadedVersion;
  policy: Policy;
}

/** Throws the refusal that visitors get: 404, 410, 451. Never awaits where all is kept. */
export type Locate = (host: SiteHost) => Hosted | Promise<Hosted>;

/** A version's own host has no comments (CONTRACT 2). */
const NO_DRESS = "";

interface Parts {
  now: () => number;
  base_url: string;
  contact: string | null;
}

export function createLocate(rows: Rows, versions: LoadedVersions, parts: Parts): Locate {
  function hostedBy(row: Row, { version_id }: SiteHost): Hosted | Promise<Hosted> {
    const site = shownSite(row, parts);
    const policy = policyOf(site, version_id !== null);
    const version = version_id === null ? row.live : versions.ready(site, version_id, NO_DRESS);
    if (version) return { row, site, version, policy };
    const dress = version_id === null ? dressOf(site) : NO_DRESS;
    return versions.read(site, version_id ?? site.live_version_id, dress).then((read) => {
      if (read === null) throw unknownVersion();
      if (version_id === null) setLive(row, read);
      return { row, site, version: read, policy };
    });
  }

  return (host) => {
    const row = rows.ready(host.slug);
    if (row === undefined) return rows.read(host.slug).then((read) => hostedBy(read, host));
    row.used = true;
    return hostedBy(row, host);
  };
}

/** The site, if visitors may see it: asked of the clock each time, not of the sweep. */
function shownSite({ site, tombstone }: Row, parts: Parts): Site {
  if (site === null) throw tombstone?.reason === "expired" ? expired() : unknownHost();
  const state = siteState(site, parts.now());
  if (isShown(state)) return site;
  throw state === "expired" ? expired() : disabled(site.disabled_reason, parts);
}
