/** Ownership: a site is claimed, attached, renamed and deleted by its account. Each change is one transaction, so that a site
 *  always has an owner or an expiry. */
import { Refusal } from "../base/errors.ts";
import { siteState } from "../base/site-state.ts";
import type { Site, Version } from "../base/types.ts";
import { accountSites, type AskedSites, type SitePlace } from "./account-sites.ts";
import { audit, auditRepeated } from "./audit.ts";
import type { StandingAccess } from "./notes.ts";
import { accessRows } from "./notes/settings.ts";
import { answering, change, type Op, read, statement, steps } from "./operation.ts";
import { sessionRows, type SignedIn } from "./people/sessions.ts";
import { permission, type WriteBy } from "./permission.ts";
import { refusals } from "./refusals.ts";
import { manageTokens, siteRows } from "./sites.ts";

interface Claim {
  site_id: string;
  claim_hash: string;
  by: SignedIn;
  /** Ends the access of the one who gave the site away. */
  revoke_manage_tokens?: boolean;
}

/** The things that a revocation ends: manage_tokens, and what acts for the owner without a session (RELIABILITY A25). */
export interface EndedAccess extends StandingAccess {
  manage_tokens: number;
}

interface Claimed {
  site: Site;
  /** False if the account had it already. */
  changed: boolean;
  /** Null if the claim revoked nothing. */
  ended: EndedAccess | null;
}

interface Attach {
  site_id: string;
  manage_hash: string;
}
export type NotAttached = "not_found" | "invalid_token" | "already_yours" | "already_owned";
type NotRemoved = "not_found" | "not_owned";

/** Members that are undefined stay as they are. */
export interface SiteChange {
  label?: string | null;
  spa_override?: 0 | 1 | null;
}

/** The settings of a site (BEYOND 0). Members that are undefined stay as they are. */
export interface SiteSettingsChange {
  skew?: 0 | 1;
  stats?: 0 | 1;
}

/** The same for a site that never was and for a token that is none (CONTRACT 4.4). */
const invalidClaim = (): Refusal => new Refusal("invalid_claim", "Invalid claim");

const setOwner = statement<Site>(
  "update sites set owner_account_id = ?, expires_at = null, network = null where site_id = ? returning *",
);

function* own(site_id: string, account_id: string, action: "claim" | "attach", now: number): Op<Site> {
  yield* audit({ at: new Date(now).toISOString(), actor: account_id, action, site_id, account_id });
  return (yield* setOwner.get(account_id, site_id))!;
}

/** The site that a claim_token is of. `account_id`: of the one who asks; null without a session. */
function* siteOfClaim(site_id: string, claim_hash: string, account_id: string | null, now: number): Op<Site> {
  const token = yield* manageTokens.known(claim_hash);
  if (!token || token.kind !== "claim" || token.site_id !== site_id) throw invalidClaim();
  const site = token.gone ? null : yield* siteRows.byId.get(site_id);
  if (!site || siteState(site, now) === "expired") throw refusals.unknownSite();
  if (site.owner_account_id !== null && site.owner_account_id !== account_id) {
    throw new Refusal("already_owned", "This site already belongs to another account.");
  }
  return site;
}

/** The site, if the account may claim it with this token. */
function* claimable({ site_id, claim_hash, by }: Claim, now: number): Op<Site> {
  yield* sessionRows.refuseUnlessHeld(by);
  return yield* siteOfClaim(site_id, claim_hash, by.account_id, now);
}

/** A question before a claim: of which site the token is. */
interface ClaimLook {
  site_id: string;
  claim_hash: string;
  account_id: string | null;
}

const live = statement<Pick<Version, "title" | "files" | "bytes">>(
  "select title, files, bytes from versions where site_id = ? and version_id = ?",
);

function* look({ site_id, claim_hash, account_id }: ClaimLook, now: number) {
  const { slug, expires_at, live_version_id } = yield* siteOfClaim(site_id, claim_hash, account_id, now);
  const { title, files, bytes } = (yield* live.get(site_id, live_version_id))!;
  return { slug, title, files, bytes, expires_at };
}

function* claim(wanted: Claim, now: number): Op<Claimed> {
  const site = yield* claimable(wanted, now);
  const { site_id, by } = wanted;
  // Claimed again by its owner it ends them too: the answer to the first time may have been lost.
  const ended = wanted.revoke_manage_tokens ? yield* endAccess(site_id, "givers", by, now) : null;
  if (site.owner_account_id !== null) return { site, changed: false, ended };
  return { site: yield* own(site_id, by.account_id, "claim", now), changed: true, ended };
}

/** Finds out, for a claim, what it ends if it revokes. */
function* claimEnds(wanted: Claim, now: number): Op<EndedAccess> {
  const { site_id } = yield* claimable(wanted, now);
  const manage_tokens = yield* manageTokens.countGivers(site_id);
  return { manage_tokens, ...(yield* accessRows.standing(site_id, "givers", now)) };
}

/** The audit's line: `2 of them, 1 agent token, the webhook to hooks.example`. */
function endedWords({ manage_tokens, agent_tokens, owner_codes, webhook }: EndedAccess): string {
  return [
    `${manage_tokens} of them`,
    agent_tokens > 0 && `${agent_tokens} agent token${agent_tokens === 1 ? "" : "s"}`,
    owner_codes > 0 && `${owner_codes} owner code${owner_codes === 1 ? "" : "s"}`,
    webhook !== null && `the webhook to ${webhook}`,
  ]
    .filter((part) => part !== false)
    .join(", ");
}

function* endAccess(site_id: string, which: "all" | "givers", by: SignedIn, now: number): Op<EndedAccess> {
  const manage_tokens = yield* manageTokens.revoke(site_id, which);
  const ended = { manage_tokens, ...(yield* accessRows.end(site_id, which, now)) };
  const reason = endedWords(ended);
  if (reason === "0 of them") return ended;
  const { account_id } = by;
  const at = new Date(now).toISOString();
  yield* audit({ at, actor: account_id, action: "revoke-tokens", site_id, account_id, reason });
  return ended;
}

function* revoke(site_id: string, by: SignedIn, now: number): Op<{ slug: string; revoked: number }> {
  yield* sessionRows.refuseUnlessHeld(by);
  const site = yield* siteRows.byId.get(site_id);
  if (!site || site.owner_account_id !== by.account_id) throw refusals.unknownSite();
  const { manage_tokens } = yield* endAccess(site_id, "all", by, now);
  return { slug: site.slug, revoked: manage_tokens };
}

function* attachOne({ site_id, manage_hash }: Attach, account_id: string, now: number): Op<NotAttached | null> {
  const site = yield* siteRows.byId.get(site_id);
  if (!site || siteState(site, now) === "expired") return "not_found";
  // A claim may have ended the token: the account has the site all the same.
  if (site.owner_account_id === account_id) return "already_yours";
  if (!(yield* manageTokens.manages(manage_hash, site_id))) return "invalid_token";
  if (site.owner_account_id !== null) return "already_owned";
  yield* manageTokens.noteUse(manage_hash, new Date(now).toISOString());
  yield* own(site_id, account_id, "attach", now);
  return null;
}

function* attach(items: readonly Attach[], by: SignedIn, now: number): Op<(NotAttached | null)[]> {
  yield* sessionRows.refuseUnlessHeld(by);
  const answers: (NotAttached | null)[] = [];
  for (const item of items) answers.push(yield* attachOne(item, by.account_id, now));
  return answers;
}

const setProperties = statement<Site>("update sites set label = ?, spa_override = ? where site_id = ? returning *");

function* changeSite(site_id: string, wanted: SiteChange, by: SignedIn): Op<Site> {
  yield* sessionRows.refuseUnlessHeld(by);
  const site = yield* siteRows.byId.get(site_id);
  if (!site || site.owner_account_id !== by.account_id) throw refusals.unknownSite();
  const { label = site.label, spa_override = site.spa_override } = wanted;
  return (yield* setProperties.get(label, spa_override, site_id))!;
}

const setSettings = statement<Site>("update sites set skew = ?, stats = ? where site_id = ? returning *");

/** They are the site's, not a version's, and a claim keeps them (BEYOND 0). */
function* changeSettings(site_id: string, wanted: SiteSettingsChange, by: WriteBy, now: number): Op<Site> {
  const site = yield* permission.writableSite({ site_id, by }, now);
  if ("token_hash" in by && site.owner_account_id !== null) throw refusals.ownersAlone();
  const { skew = site.skew, stats = site.stats } = wanted;
  return (yield* setSettings.get(skew, stats, site_id))!;
}

interface AccessChange {
  site_id: string;
  by: WriteBy;
  /** argon2id; null: anybody may see the site. */
  hash: string | null;
}

const setAccess = statement<Site>(
  `update sites set access_hash = ?, access_set_at = ?, access_epoch = access_epoch + 1
   where site_id = ? returning *`,
);

/** The same password again is a new one: what was granted before has ended. A frozen site takes a password, and keeps it. */
function* changeAccess({ site_id, by, hash }: AccessChange, now: number): Op<Site> {
  const held = hash === null ? permission.writableSite : permission.settableSite;
  const site = yield* held({ site_id, by }, now);
  if ("token_hash" in by && site.owner_account_id !== null) throw refusals.ownersAlone();
  if (hash === null && site.access_hash === null) return site;
  const at = new Date(now).toISOString();
  const actor = permission.actorOf(by);
  yield* auditRepeated({ at, ...actor, action: "set-access", site_id, reason: hash === null ? "public" : "password" });
  return (yield* setAccess.get(hash, hash === null ? null : at, site_id))!;
}

const previews = statement<{ count: number }>(
  "select count(*) as count from previews where site_id = ? and expires_at > ?",
);

function* countPreviews(site_id: string, now: number): Op<number> {
  return (yield* previews.get(site_id, now))!.count;
}

function* removeOne(site_id: string, { account_id }: SignedIn, now: number): Op<NotRemoved | null> {
  const site = yield* siteRows.byId.get(site_id);
  if (!site || siteState(site, now) === "expired") return "not_found";
  if (site.owner_account_id !== account_id) return "not_owned";
  const at = new Date(now).toISOString();
  yield* siteRows.remove(site_id, "deleted", at);
  yield* audit({ at, actor: account_id, action: "delete", site_id, account_id });
  return null;
}

function* remove(site_ids: readonly string[], by: SignedIn, now: number): Op<(NotRemoved | null)[]> {
  yield* sessionRows.refuseUnlessHeld(by);
  const answers: (NotRemoved | null)[] = [];
  for (const site_id of site_ids) answers.push(yield* removeOne(site_id, by, now));
  return answers;
}

const ofAccount = statement<Site>(
  `select * from sites where owner_account_id = ? and (created_at, site_id) < (?, ?)
   order by created_at desc, site_id desc limit ?`,
);
/** Sorts after every date. */
const NEWEST = { created_at: "~", site_id: "" };

function* listFrom(account_id: string, limit: number, after: SitePlace | null): Op<Site[]> {
  const { created_at, site_id } = after ?? NEWEST;
  return yield* ofAccount.all(account_id, created_at, site_id, limit);
}

const its = (site: Site): string[] => [site.slug];
/** Each answer is a reason why nothing was done, or null; which sites they are, only the caller knows. */
const someDone = (answers: readonly unknown[]) => (answers.includes(null) ? "all" : []);

export const OWNERSHIP = {
  /** Sets or removes the password that visitors need (BEYOND 8). */
  setAccess: change(({ now }, wanted: AccessChange) => changeAccess(wanted, now()), its),
  /** Throws `invalid_claim`, `unknown_site` or `already_owned`. */
  claim: change(
    ({ now }, wanted: Claim) => claim(wanted, now()),
    ({ site }) => its(site),
  ),
  /** Answers which site a claim_token is of. Throws as `claim`, and changes nothing. */
  look: read(({ now }, wanted: ClaimLook) => look(wanted, now())),
  /** Answers what that claim ends if it revokes. Throws as `claim`, and changes nothing. */
  claimEnds: read(({ now }, wanted: Claim) => claimEnds(wanted, now())),
  /** One answer for each, in their order; null means attached. */
  attach: change(({ now }, items: readonly Attach[], by: SignedIn) => attach(items, by, now()), someDone),
  /** Newest first, from the newest on or from the one after `after`; at most `limit`. */
  list: read((_, account_id: string, { limit, after }: { limit: number; after: SitePlace | null }) =>
    listFrom(account_id, limit, after),
  ),
  /** By number of page. */
  page: steps("read", ({ db }, account_id: string, asked: AskedSites) => accountSites(db, account_id, asked)),
  /** Throws `unknown_site` for a site that is not the account's. */
  change: change((_, site_id: string, wanted: SiteChange, by: SignedIn) => changeSite(site_id, wanted, by), its),
  /** By its owner, or by a manage_token while nobody owns it. Throws for a site that takes no change. */
  changeSettings: change(
    ({ now }, site_id: string, wanted: SiteSettingsChange, by: WriteBy) => changeSettings(site_id, wanted, by, now()),
    its,
    { uncounts: true },
  ),
  /** How many previews of the site are shown now. */
  countPreviews: read(({ now }, site_id: string) => countPreviews(site_id, now())),
  /** Ends all manage_tokens of the site and all else that acts for its owner without a session, and answers how many
   *  manage_tokens there were. Throws `unknown_site` for a site that is not the account's. */
  revokeTokens: answering(
    change(
      ({ now }, site_id: string, by: SignedIn) => revoke(site_id, by, now()),
      ({ slug }) => [slug],
      { frees: true },
    ),
    ({ revoked }) => revoked,
  ),
  /** One answer for each, in their order; null means deleted. */
  remove: change(({ now }, site_ids: readonly string[], by: SignedIn) => remove(site_ids, by, now()), someDone, {
    frees: true,
    uncounts: true,
  }),
};
