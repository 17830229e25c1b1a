/** The state of a site right now. Serving, routes and the store all ask here, so that they cannot disagree. */
import type { Site, Spa, SpaRule, Version } from "./types.ts";

/** `expired` beats `disabled`: what is gone for good is not coming back with an appeal (CONTRACT 7). */
export type SiteState = "live" | "frozen" | "disabled" | "expired";

/** The time at which a site expires; an owned site never does. */
export const endOf = ({ owner_account_id, expires_at }: Pick<Site, "expires_at" | "owner_account_id">): number =>
  owner_account_id === null && expires_at !== null ? expires_at : Infinity;

/** A site is expired from the very millisecond it names, whether or not the sweep has run. */
export function siteState(
  site: Pick<Site, "expires_at" | "owner_account_id" | "disabled_reason" | "frozen">,
  now: number,
): SiteState {
  if (endOf(site) <= now) return "expired";
  if (site.disabled_reason !== null) return "disabled";
  return site.frozen ? "frozen" : "live";
}

/** Whether visitors see its pages: a frozen site is shown. */
export const isShown = (state: SiteState): boolean => state === "live" || state === "frozen";

/** The sentences that a quarantine is for; empty if there is none. */
export const quarantineOf = ({ quarantine }: Pick<Site, "quarantine">): string[] =>
  quarantine === null ? [] : (JSON.parse(quarantine) as string[]);

/** How unknown paths are answered: the owner's setting beats what was detected. The setting is the site's, so it counts for
 *  every version. */
export const effectiveSpa = (
  site: Pick<Site, "spa_override">,
  version: Pick<Version, "spa_enabled" | "spa_rule">,
): Spa =>
  site.spa_override === null
    ? { enabled: version.spa_enabled === 1, rule: version.spa_rule }
    : { enabled: site.spa_override === 1, rule: "setting" };

/** The document that answers unknown paths of a single-page app: `200.html`, which is meant for that (PIPELINE 2, rule 3),
 *  unless the upload's own configuration names the index. */
export const fallbackPath = (rule: SpaRule, has: (path: string) => boolean): string =>
  rule !== "config" && has("200.html") ? "200.html" : "index.html";
