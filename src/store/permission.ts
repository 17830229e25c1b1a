/** Whether a credential that was accepted before a slow step still holds: asked inside the writing transaction. */
import { Refusal } from "../base/errors.ts";
import type { Site } from "../base/types.ts";
import type { Op } from "./operation.ts";
import { type Granted, refuseUnlessGranted } from "./people/deploy-tokens.ts";
import { refuseUnlessHeld, type SignedIn } from "./people/sessions.ts";
import { refuseUnlessThere, refuseUnlessWritable, unknownSite } from "./refusals.ts";
import { manages, noteTokenUse, siteById } from "./sites.ts";

/** The credential that was accepted before a slow step; it must still hold when the change commits. */
export type WriteBy = { token_hash: string } | SignedIn | Granted;

function* holds(by: WriteBy, site: Site, now: number): Op<boolean> {
  if ("token_hash" in by) return yield* manages(by.token_hash, site.site_id);
  yield* refuseUnlessOwner(by, now, site);
  return site.owner_account_id === by.account_id;
}

/** Throws if a session or deploy token no longer opens its account, or the site. `site` is left out for a site that is only
 *  made. */
export const refuseUnlessOwner = (by: SignedIn | Granted, now: number, site?: Site): Op<void> =>
  "deploy_hash" in by ? refuseUnlessGranted(by, now, site) : refuseUnlessHeld(by);

interface WrittenSite {
  site_id: string;
  by: WriteBy;
}

function* heldSite({ site_id, by }: WrittenSite, now: number, refuse: (site: Site, now: number) => void): Op<Site> {
  const site = yield* siteById.get(site_id);
  if (!site) throw unknownSite();
  refuse(site, now);
  if (yield* holds(by, site, now)) return site;
  throw new Refusal("unauthorized", "This credential no longer opens the site. Sign in again.");
}

/** The site, or the refusal that the caller would get if they asked only now. */
export const writableSite = (asked: WrittenSite, now: number): Op<Site> => heldSite(asked, now, refuseUnlessWritable);

/** The same for changes that a frozen site takes too. */
export const settableSite = (asked: WrittenSite, now: number): Op<Site> => heldSite(asked, now, refuseUnlessThere);

/** Notes the use of a manage_token; a session's use and a deploy token's are noted as they are found. */
export function* noteUse(by: WriteBy, now: number): Op<void> {
  if ("token_hash" in by) yield* noteTokenUse(by.token_hash, new Date(now).toISOString());
}
