/** Whether a credential that was accepted before a slow step still holds: asked inside the writing transaction. */
import { Refusal } from "../../base/errors.ts";
import type { Granted, WriteBy } from "../changes.ts";
import type { SignedIn } from "../people.ts";
import { refuseUnlessThere, refuseUnlessWritable, unknownSite } from "../refusals.ts";
import type { Site } from "../../base/types.ts";
import type { Op } from "./db.ts";
import { refuseUnlessGranted } from "./deploy-tokens.ts";
import { refuseUnlessHeld } from "./sessions.ts";
import { manages, noteTokenUse, siteById } from "./sites.ts";

function* holds(by: WriteBy, site: Site, now: number): Op<boolean> {
  if ("token_hash" in by) return yield* manages(by.token_hash, site.site_id);
  yield* refuseUnlessOwner(by, now, site);
  return site.owner_account_id === by.account_id;
}

/** Throws where what stands for an account does so no longer. `site`: left out for one that is only made. */
export const refuseUnlessOwner = (by: SignedIn | Granted, now: number, site?: Site): Op<void> =>
  "deploy_hash" in by ? refuseUnlessGranted(by, now, site) : refuseUnlessHeld(by);

interface Asked {
  site_id: string;
  by: WriteBy;
}

function* heldSite({ site_id, by }: Asked, now: number, refuse: (site: Site, now: number) => void): Op<Site> {
  const site = yield* siteById.get(site_id);
  if (!site) throw unknownSite();
  refuse(site, now);
  if (yield* holds(by, site, now)) return site;
  throw new Refusal("unauthorized", "This credential no longer opens the site. Sign in again.");
}

/** The site, or the refusal that the caller would get had they asked only now. */
export const writableSite = (asked: Asked, now: number): Op<Site> => heldSite(asked, now, refuseUnlessWritable);

/** The same for what a frozen site takes too. */
export const settableSite = (asked: Asked, now: number): Op<Site> => heldSite(asked, now, refuseUnlessThere);

/** Of a manage_token; a session's use and a deploy token's are noted as they are found. */
export function* noteUse(by: WriteBy, now: number): Op<void> {
  if ("token_hash" in by) yield* noteTokenUse(by.token_hash, new Date(now).toISOString());
}
