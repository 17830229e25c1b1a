/** Whose a site is: claimed, attached, renamed and deleted by its account. Each change is one transaction, so that a
 *  site always has an owner or an expiry. */
import type { Database } from "bun:sqlite";
import { Refusal } from "../../errors.ts";
import { siteState } from "../../site-state.ts";
import type { Site } from "../../types.ts";
import { auditWriter } from "./audit.ts";
import type { Commit } from "./commit.ts";
import { unknownSite } from "./permission.ts";
import { sessionWriter, type SignedIn } from "./sessions.ts";
import { knownToken, tokenWriter } from "./sites.ts";
import { siteRemover } from "./sweep.ts";

export interface Claim {
  site_id: string;
  claim_hash: string;
  by: SignedIn;
}

export interface Attach {
  site_id: string;
  manage_hash: string;
}
export type NotAttached = "not_found" | "invalid_token" | "already_yours" | "already_owned";

/** What is undefined stays as it is. */
export interface SiteChange {
  label?: string | null;
  spa_override?: 0 | 1 | null;
}

export interface Ownership {
  /** Throws `invalid_claim`, `unknown_site` or `already_owned`. */
  claim(claim: Claim): Promise<Site>;
  /** One answer for each, in their order; null: attached. */
  attach(items: readonly Attach[], by: SignedIn): Promise<(NotAttached | null)[]>;
  /** Newest first. */
  list(account_id: string): Promise<Site[]>;
  /** Throws `unknown_site` for a site that is not the account's. */
  change(site_id: string, change: SiteChange, by: SignedIn): Promise<Site>;
  /** One answer for each, in their order; null: deleted. */
  remove(site_ids: readonly string[], by: SignedIn): Promise<("not_found" | "not_owned" | null)[]>;
}

/** Says the same of a site that never was and of a token that is none (CONTRACT.md 4.4). */
const invalidClaim = (): Refusal => new Refusal("invalid_claim", "Invalid claim");

const statements = (db: Database) => ({
  byId: db.prepare<Site, [string]>("select * from sites where site_id = ?"),
  own: db.prepare<Site, [string, string]>(
    "update sites set owner_account_id = ?, expires_at = null where site_id = ? returning *",
  ),
});

function claimer(db: Database, now: () => number) {
  const { byId, own } = statements(db);
  const find = knownToken(db);
  const sessions = sessionWriter(db);
  return db.transaction(({ site_id, claim_hash, by }: Claim): Site => {
    sessions.refuseUnlessHeld(by);
    const token = find(claim_hash);
    if (!token || token.kind !== "claim" || token.site_id !== site_id) throw invalidClaim();
    const site = token.gone ? null : byId.get(site_id);
    if (!site || siteState(site, now()) === "expired") throw unknownSite();
    if (site.owner_account_id === by.account_id) return site;
    if (site.owner_account_id !== null) {
      throw new Refusal("already_owned", "This site already belongs to another account.");
    }
    return own.get(by.account_id, site_id)!;
  });
}

function attacher(db: Database, now: () => number) {
  const { byId, own } = statements(db);
  const tokens = tokenWriter(db);
  const sessions = sessionWriter(db);
  const attach = ({ site_id, manage_hash }: Attach, account_id: string): NotAttached | null => {
    const site = byId.get(site_id);
    if (!site || siteState(site, now()) === "expired") return "not_found";
    if (!tokens.manages(manage_hash, site_id)) return "invalid_token";
    if (site.owner_account_id === account_id) return "already_yours";
    if (site.owner_account_id !== null) return "already_owned";
    tokens.used(manage_hash, new Date(now()).toISOString());
    own.get(account_id, site_id);
    return null;
  };
  return db.transaction((items: readonly Attach[], by: SignedIn) => {
    sessions.refuseUnlessHeld(by);
    return items.map((item) => attach(item, by.account_id));
  });
}

function changer(db: Database) {
  const { byId } = statements(db);
  const set = db.prepare<Site, [string | null, number | null, string]>(
    "update sites set label = ?, spa_override = ? where site_id = ? returning *",
  );
  const sessions = sessionWriter(db);
  return db.transaction((site_id: string, change: SiteChange, by: SignedIn): Site => {
    sessions.refuseUnlessHeld(by);
    const site = byId.get(site_id);
    if (!site || site.owner_account_id !== by.account_id) throw unknownSite();
    const { label = site.label, spa_override = site.spa_override } = change;
    return set.get(label, spa_override, site_id)!;
  });
}

function remover(db: Database, now: () => number) {
  const { byId } = statements(db);
  const sessions = sessionWriter(db);
  const remove = siteRemover(db);
  const audit = auditWriter(db);
  return db.transaction((site_ids: readonly string[], by: SignedIn) => {
    sessions.refuseUnlessHeld(by);
    const { account_id } = by;
    const at = new Date(now()).toISOString();
    return site_ids.map((site_id) => {
      const site = byId.get(site_id);
      if (!site || siteState(site, now()) === "expired") return "not_found";
      if (site.owner_account_id !== account_id) return "not_owned";
      remove(site_id, "deleted", at);
      audit({ at, actor: account_id, action: "delete", site_id, account_id });
      return null;
    });
  });
}

export function ownershipStore(db: Database, { seen, deletion }: Commit, now: () => number): Ownership {
  const list = db.prepare<Site, [string]>(
    "select * from sites where owner_account_id = ? order by created_at desc, site_id",
  );
  const claim = claimer(db, now);
  const attach = attacher(db, now);
  const change = changer(db);
  const remove = remover(db, now);
  return {
    claim: async (wanted) => seen(() => claim.immediate(wanted)),
    attach: async (items, by) => seen(() => attach.immediate(items, by)),
    list: async (account_id) => list.all(account_id),
    change: async (site_id, wanted, by) => seen(() => change.immediate(site_id, wanted, by)),
    remove: async (site_ids, by) => deletion(() => remove.immediate(site_ids, by)),
  };
}
