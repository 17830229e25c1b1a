/** Whose a site is: another account's, one that is gone and one that never was are the same to whoever asks (WEB 1.5). */
import { siteState } from "../../base/site-state.ts";
import type { Site } from "../../base/types.ts";
import { noSuchSite, type SignedIn } from "../who.ts";

/** The account's site of that id; null where it has none. */
export async function ownSiteOf({ caller, parts }: SignedIn, site_id: string): Promise<Site | null> {
  const site = await parts.store.sites.byId(site_id);
  return site?.owner_account_id === caller.account_id && siteState(site, parts.now()) !== "expired" ? site : null;
}

/** The site whose page is asked for. */
export async function ownSite(ctx: SignedIn): Promise<Site> {
  const site = await ownSiteOf(ctx, ctx.params.id!);
  if (site === null) throw noSuchSite();
  return site;
}

export const nameOf = ({ label, slug }: Pick<Site, "label" | "slug">): string => label ?? slug;
export const pathOfSite = (site_id: string): string => `/dashboard/sites/${site_id}`;
