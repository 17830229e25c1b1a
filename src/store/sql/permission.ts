/** Whether a credential that was accepted before a slow step still holds: asked inside the writing transaction. */
import type { Database } from "bun:sqlite";
import { Refusal } from "../../errors.ts";
import { siteState } from "../../site-state.ts";
import type { Site } from "../../types.ts";
import { sessionWriter, type SignedIn } from "./sessions.ts";
import { tokenWriter } from "./sites.ts";

export type WriteBy = { token_hash: string } | SignedIn;

export const unknownSite = (): Refusal =>
  new Refusal("unknown_site", "This site is gone. Deploy it afresh to get a new one.", {
    next_actions: [
      {
        action: "deploy",
        description: "Deploy the folder as a new site.",
        command: "svc",
        method: "POST",
        url: "/sites",
      },
    ],
  });

/** A site that is not live takes no deploy and no rollback (CONTRACT.md 7). Shared by routes and the transaction. */
export function refuseUnlessWritable(site: Site, now: number): void {
  const state = siteState(site, now);
  if (state === "expired") throw unknownSite();
  if (state === "disabled") {
    throw new Refusal("site_disabled", `This site was disabled by the operator: ${site.disabled_reason}`);
  }
  if (state === "frozen") {
    throw new Refusal(
      "site_frozen",
      "This site is frozen by the operator: it is served, but takes no changes for now.",
    );
  }
}

/** The site, or the refusal that the caller would get had they asked only now. */
export function mayStillWrite(db: Database) {
  const siteById = db.prepare<Site, [string]>("select * from sites where site_id = ?");
  const tokens = tokenWriter(db);
  const sessions = sessionWriter(db);
  const holds = (by: WriteBy, site: Site): boolean => {
    if ("token_hash" in by) return tokens.manages(by.token_hash, site.site_id);
    sessions.refuseUnlessHeld(by);
    return site.owner_account_id === by.account_id;
  };
  return ({ site_id, by }: { site_id: string; by: WriteBy }, now: number): Site => {
    const site = siteById.get(site_id);
    if (!site) throw unknownSite();
    refuseUnlessWritable(site, now);
    if (!holds(by, site)) throw new Refusal("unauthorized", "This credential no longer opens the site. Sign in again.");
    return site;
  };
}
