/** Whose a site is: claimed, attached, renamed and deleted by its account. Each change is one transaction, so that a
 *  site always has an owner or an expiry. */
import { Refusal } from "../../base/errors.ts";
import type {
  Attach,
  Claim,
  NotAttached,
  NotRemoved,
  Ownership,
  SettingsChange,
  SiteChange,
  WriteBy,
} from "../changes.ts";
import type { SignedIn } from "../people.ts";
import { ownersAlone, unknownSite } from "../refusals.ts";
import { siteState } from "../../base/site-state.ts";
import type { Site } from "../../base/types.ts";
import { audit } from "./audit.ts";
import { type Op, statement } from "./db.ts";
import { makingRoom } from "./frame.ts";
import { accountSites } from "./lists/account-sites.ts";
import type { Parts } from "./parts.ts";
import { writableSite } from "./permission.ts";
import { refuseUnlessHeld } from "./sessions.ts";
import { knownToken, manages, noteTokenUse, removeSite, revokeTokens, siteById } from "./sites.ts";

/** Says the same of a site that never was and of a token that is none (CONTRACT 4.4). */
const invalidClaim = (): Refusal => new Refusal("invalid_claim", "Invalid claim");

const own = statement<Site>(
  "update sites set owner_account_id = ?, expires_at = null, network = null where site_id = ? returning *",
);

function* claim(wanted: Claim, now: number): Op<Site> {
  const { site_id, claim_hash, by } = wanted;
  yield* refuseUnlessHeld(by);
  const token = yield* knownToken(claim_hash);
  if (!token || token.kind !== "claim" || token.site_id !== site_id) throw invalidClaim();
  const site = token.gone ? null : yield* siteById.get(site_id);
  if (!site || siteState(site, now) === "expired") throw unknownSite();
  if (site.owner_account_id !== null && site.owner_account_id !== by.account_id) {
    throw new Refusal("already_owned", "This site already belongs to another account.");
  }
  // Claimed again by its owner it ends them too: the answer to the first time may have been lost.
  if (wanted.revoke_manage_tokens) yield* endTokens(site_id, "givers", by, now);
  return site.owner_account_id === null ? (yield* own.get(by.account_id, site_id))! : site;
}

function* endTokens(site_id: string, which: "all" | "givers", { account_id }: SignedIn, now: number): Op<number> {
  const ended = yield* revokeTokens(site_id, which);
  const [at, reason] = [new Date(now).toISOString(), `${ended} of them`];
  if (ended > 0) yield* audit({ at, actor: account_id, action: "revoke-tokens", site_id, account_id, reason });
  return ended;
}

function* revoke(site_id: string, by: SignedIn, now: number): Op<number> {
  yield* refuseUnlessHeld(by);
  const site = yield* siteById.get(site_id);
  if (!site || site.owner_account_id !== by.account_id) throw unknownSite();
  return yield* endTokens(site_id, "all", by, now);
}

function* attachOne({ site_id, manage_hash }: Attach, account_id: string, now: number): Op<NotAttached | null> {
  const site = yield* siteById.get(site_id);
  if (!site || siteState(site, now) === "expired") return "not_found";
  if (!(yield* manages(manage_hash, site_id))) return "invalid_token";
  if (site.owner_account_id === account_id) return "already_yours";
  if (site.owner_account_id !== null) return "already_owned";
  yield* noteTokenUse(manage_hash, new Date(now).toISOString());
  yield* own.get(account_id, site_id);
  return null;
}

function* attach(items: readonly Attach[], by: SignedIn, now: number): Op<(NotAttached | null)[]> {
  yield* refuseUnlessHeld(by);
  const answers: (NotAttached | null)[] = [];
  for (const item of items) answers.push(yield* attachOne(item, by.account_id, now));
  return answers;
}

const setProperties = statement<Site>("update sites set label = ?, spa_override = ? where site_id = ? returning *");

function* change(site_id: string, wanted: SiteChange, by: SignedIn): Op<Site> {
  yield* refuseUnlessHeld(by);
  const site = yield* siteById.get(site_id);
  if (!site || site.owner_account_id !== by.account_id) throw unknownSite();
  const { label = site.label, spa_override = site.spa_override } = wanted;
  return (yield* setProperties.get(label, spa_override, site_id))!;
}

const setSettings = statement<Site>("update sites set skew = ?, stats = ? where site_id = ? returning *");

/** They are the site's, not a version's, and a claim keeps them (BEYOND 0). */
function* changeSettings(site_id: string, wanted: SettingsChange, by: WriteBy, now: number): Op<Site> {
  const site = yield* writableSite({ site_id, by }, now);
  if ("token_hash" in by && site.owner_account_id !== null) throw ownersAlone();
  const { skew = site.skew, stats = site.stats } = wanted;
  return (yield* setSettings.get(skew, stats, site_id))!;
}

const previews = statement<{ count: number }>(
  "select count(*) as count from previews where site_id = ? and expires_at > ?",
);

function* countPreviews(site_id: string, now: number): Op<number> {
  return (yield* previews.get(site_id, now))!.count;
}

function* removeOne(site_id: string, { account_id }: SignedIn, now: number): Op<NotRemoved | null> {
  const site = yield* siteById.get(site_id);
  if (!site || siteState(site, now) === "expired") return "not_found";
  if (site.owner_account_id !== account_id) return "not_owned";
  const at = new Date(now).toISOString();
  yield* removeSite(site_id, "deleted", at);
  yield* audit({ at, actor: account_id, action: "delete", site_id, account_id });
  return null;
}

function* remove(site_ids: readonly string[], by: SignedIn, now: number): Op<(NotRemoved | null)[]> {
  yield* refuseUnlessHeld(by);
  const answers: (NotRemoved | null)[] = [];
  for (const site_id of site_ids) answers.push(yield* removeOne(site_id, by, now));
  return answers;
}

const ofAccount = statement<Site>(
  `select * from sites where owner_account_id = ? and (created_at, site_id) < (?, ?)
   order by created_at desc, site_id desc limit ?`,
);
/** Behind every date. */
const NEWEST = { created_at: "~", site_id: "" };

const its = (site: Site): string[] => [site.slug];
/** Of a list of answers, each a reason why nothing was done or null: which sites they were, only the caller knows. */
const someDone = (answers: readonly unknown[]) => (answers.includes(null) ? "all" : []);

export const ownershipStore = ({ db, place, now }: Parts): Ownership => ({
  claim: (wanted) => db.change(() => claim(wanted, now()), its),
  attach: (items, by) => db.change(() => attach(items, by, now()), someDone),
  list: (account_id, { limit, after }) => {
    const { created_at, site_id } = after ?? NEWEST;
    return db.read(ofAccount.all(account_id, created_at, site_id, limit));
  },
  page: accountSites(db),
  change: (site_id, wanted, by) => db.change(() => change(site_id, wanted, by), its),
  changeSettings: (site_id, wanted, by) => db.change(() => changeSettings(site_id, wanted, by, now()), its),
  countPreviews: (site_id) => db.read(countPreviews(site_id, now())),
  revokeTokens: (site_id, by) => makingRoom(place, () => db.write(() => revoke(site_id, by, now()))),
  remove: (site_ids, by) => makingRoom(place, () => db.change(() => remove(site_ids, by, now()), someDone)),
});
