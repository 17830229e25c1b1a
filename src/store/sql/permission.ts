/** Whether a credential that was accepted before a slow step still holds: asked inside the writing transaction. */
import { Refusal } from "../../errors.ts";
import type { WriteBy } from "../changes.ts";
import { refuseUnlessThere, refuseUnlessWritable, unknownSite } from "../refusals.ts";
import type { Site } from "../../types.ts";
import type { Op } from "./db.ts";
import { refuseUnlessHeld } from "./sessions.ts";
import { manages, siteById } from "./sites.ts";

function* holds(by: WriteBy, site: Site): Op<boolean> {
  if ("token_hash" in by) return yield* manages(by.token_hash, site.site_id);
  yield* refuseUnlessHeld(by);
  return site.owner_account_id === by.account_id;
}

interface Asked {
  site_id: string;
  by: WriteBy;
}

function* heldSite({ site_id, by }: Asked, refuse: (site: Site) => void): Op<Site> {
  const site = yield* siteById.get(site_id);
  if (!site) throw unknownSite();
  refuse(site);
  if (yield* holds(by, site)) return site;
  throw new Refusal("unauthorized", "This credential no longer opens the site. Sign in again.");
}

/** The site, or the refusal that the caller would get had they asked only now. */
export const writableSite = (asked: Asked, now: number): Op<Site> =>
  heldSite(asked, (site) => refuseUnlessWritable(site, now));

/** The same for what a frozen site takes too. */
export const settableSite = (asked: Asked, now: number): Op<Site> =>
  heldSite(asked, (site) => refuseUnlessThere(site, now));
