/** Whether a credential that was accepted before a slow step still holds: asked inside the writing transaction. */
import { Refusal } from "../base/errors.ts";
import type { Site } from "../base/types.ts";
import type { Maker } from "./notes.ts";
import type { Op } from "./operation.ts";
import { type Granted, grants } from "./people/deploy-tokens.ts";
import { sessionRows, type SignedIn } from "./people/sessions.ts";
import { refusals, refuseUnlessThere, refuseUnlessWritable } from "./refusals.ts";
import { manageTokens, siteRows } from "./sites.ts";

/** The credential that was accepted before a slow step; it must still hold when the change commits. */
export type WriteBy = { token_hash: string } | SignedIn | Granted;

/** The credential that was accepted before the body was read, in a change that others may make by a cookie or an agent's token. */
export interface Held {
  held?: WriteBy;
}

function* holds(by: WriteBy, site: Site, now: number): Op<boolean> {
  if ("token_hash" in by) return yield* manageTokens.manages(by.token_hash, site.site_id);
  yield* refuseUnlessOwner(by, now, site);
  return site.owner_account_id === by.account_id;
}

/** Throws if a session or deploy token no longer opens its account, or the site. `site` is left out for a site that is only
 *  made. */
const refuseUnlessOwner = (by: SignedIn | Granted, now: number, site?: Site): Op<void> =>
  "deploy_hash" in by ? grants.refuseUnlessGranted(by, now, site) : sessionRows.refuseUnlessHeld(by);

interface WrittenSite {
  site_id: string;
  by: WriteBy;
}

function* heldSite({ site_id, by }: WrittenSite, now: number, refuse: (site: Site, now: number) => void): Op<Site> {
  const site = yield* siteRows.byId.get(site_id);
  if (!site) throw refusals.unknownSite();
  refuse(site, now);
  if (yield* holds(by, site, now)) return site;
  throw new Refusal("unauthorized", "This credential no longer opens the site. Sign in again.");
}

/** The site, or the refusal that the caller would get if they asked only now. */
const writableSite = (asked: WrittenSite, now: number): Op<Site> => heldSite(asked, now, refuseUnlessWritable);

/** The same for changes that a frozen site takes too. */
const settableSite = (asked: WrittenSite, now: number): Op<Site> => heldSite(asked, now, refuseUnlessThere);

/** The kind of credential that makes something for a site. */
function* makerOf(by: WriteBy): Op<Maker> {
  if (!("token_hash" in by)) return "account";
  return (yield* manageTokens.isGivers(by.token_hash)) ? "giver" : "manage";
}

/** Notes the use of a manage_token; a session's use and a deploy token's are noted as they are found. */
function* noteUse(by: WriteBy, now: number): Op<void> {
  if ("token_hash" in by) yield* manageTokens.noteUse(by.token_hash, new Date(now).toISOString());
}

/** The actor of a change in the audit log, as the log's lines name it (CONTRACT 7). */
function actorOf(by: WriteBy): { actor: string; account_id?: string } {
  if ("token_hash" in by) return { actor: "manage_token" };
  return { actor: "deploy_hash" in by ? by.token_id : by.account_id, account_id: by.account_id };
}

/** The rights of a caller, checked again in the transaction that writes. */
export const permission = {
  actorOf,
  refuseUnlessOwner,
  writableSite,
  settableSite,
  makerOf,
  noteUse,
};
