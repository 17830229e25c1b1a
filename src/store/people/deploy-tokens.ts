/** Deploy tokens: what an account gives to its CI (BEYOND 7). They end with it, by its word, and by the clock. */
import { Refusal } from "../../base/errors.ts";
import { allows, type DeployGrant, reaches, type Scope } from "../../base/tokens.ts";
import type { Site } from "../../base/types.ts";
import { UNIT_MS } from "../../base/units.ts";
import { note, type Op, read, statement, steps, write } from "../operation.ts";
import { refusals } from "../refusals.ts";
import { audit } from "../audit.ts";
import { siteRows } from "../sites.ts";
import { sessionRows, type SignedIn } from "./sessions.ts";

export interface DeployToken extends DeployGrant {
  name: string;
  /** ISO 8601; null until it is first used. */
  last_used_at: string | null;
  created_at: string;
  /** Epoch milliseconds. */
  expires_at: number;
}

interface NewDeployToken extends DeployGrant {
  name: string;
  hash: string;
  /** Milliseconds until it ends. */
  lives_ms: number;
}

/** A deploy token, and what it was accepted for. */
export interface Granted {
  deploy_hash: string;
  token_id: string;
  account_id: string;
  scope: Scope;
}

const MOST_TOKENS = 50;
/** The last use is written no more often than this. */
const TOUCH_MS = UNIT_MS.m;

type TokenRow = Omit<DeployToken, "scopes" | "site_ids"> & { scopes: string; site_ids: string | null };

const COLUMNS = "token_id, account_id, name, scopes, site_ids, created_at, last_used_at, expires_at";
const byHash = statement<TokenRow>(
  `select ${COLUMNS} from deploy_tokens where hash = ? and expires_at > ? and exists (
     select 1 from accounts where accounts.account_id = deploy_tokens.account_id and disabled_reason is null)`,
);
const ofAccount = statement<TokenRow>(
  `select ${COLUMNS} from deploy_tokens where account_id = ? and expires_at > ?
   order by created_at desc, token_id desc`,
);
const insert = statement<TokenRow>(
  `insert into deploy_tokens (hash, token_id, account_id, name, scopes, site_ids, created_at, expires_at)
   values (?, ?, ?, ?, ?, ?, ?, ?) returning ${COLUMNS}`,
);
const touch = statement("update deploy_tokens set last_used_at = ? where token_id = ?");
const remove = statement("delete from deploy_tokens where token_id = ? and account_id = ? and expires_at > ?");
const removeAll = statement("delete from deploy_tokens where account_id = ?");
const forget = statement("delete from deploy_tokens where expires_at <= ?");

const tokenOf = (row: TokenRow): DeployToken => ({
  ...row,
  scopes: JSON.parse(row.scopes) as Scope[],
  site_ids: row.site_ids === null ? null : (JSON.parse(row.site_ids) as string[]),
});

function* live(hash: string, now: number): Op<DeployToken | null> {
  const row = yield* byHash.get(hash, now);
  return row && tokenOf(row);
}

/** Throws if the token has ended since it was accepted, or is not for the site any more. */
function* refuseUnlessGranted({ deploy_hash, scope }: Granted, now: number, site?: Site): Op<void> {
  const token = yield* live(deploy_hash, now);
  if (token === null || !allows(token, scope)) throw refusals.grantEnded();
  if (site !== undefined && !reaches(token, site)) throw refusals.notGranted();
}

/** Ends all deploy tokens of an account; answers how many there were. */
function* endDeployTokens(account_id: string): Op<number> {
  return (yield* removeAll.run(account_id)).changes;
}

/** For the sweep: forgets expired tokens. */
const forgetOldDeployTokens = (now: number): Op<void> => forget.do(now);

/** Steps for other transactions that check or end deploy tokens. */
export const grants = {
  refuseUnlessGranted,
  end: endDeployTokens,
  forgetOld: forgetOldDeployTokens,
};

function* refuseForeign(site_ids: readonly string[], account_id: string): Op<void> {
  for (const site_id of site_ids) {
    const site = yield* siteRows.byId.get(site_id);
    if (site?.owner_account_id === account_id) continue;
    const sentence = `${site_id} is no site of your account: a token is for sites of yours alone.`;
    throw new Refusal("invalid_input", sentence, { field: "site_ids" });
  }
}

function tooMany(actual: number): Refusal {
  const sentence = `An account has at most ${MOST_TOKENS} deploy tokens: revoke one that is not used any more.`;
  return new Refusal("quota_exceeded", sentence, { limit: MOST_TOKENS, actual, unit: "tokens" });
}

function* add(by: SignedIn, token: NewDeployToken, now: number): Op<DeployToken> {
  const { hash, token_id, name, scopes, site_ids, lives_ms } = token;
  const { account_id } = by;
  yield* sessionRows.refuseUnlessHeld(by);
  yield* refuseForeign(site_ids ?? [], account_id);
  const had = (yield* ofAccount.all(account_id, now)).length;
  if (had >= MOST_TOKENS) throw tooMany(had + 1);
  const at = new Date(now).toISOString();
  const sites = site_ids && JSON.stringify(site_ids);
  const row = yield* insert.get(hash, token_id, account_id, name, JSON.stringify(scopes), sites, at, now + lives_ms);
  const reason = `${token_id}: ${scopes.join(", ")}`;
  yield* audit({ at, actor: account_id, action: "create-token", account_id, reason });
  return tokenOf(row!);
}

function* revoke(by: SignedIn, token_id: string, now: number): Op<boolean> {
  const { account_id } = by;
  yield* sessionRows.refuseUnlessHeld(by);
  if ((yield* remove.run(token_id, account_id, now)).changes === 0) return false;
  const at = new Date(now).toISOString();
  yield* audit({ at, actor: account_id, action: "revoke-token", account_id, reason: token_id });
  return true;
}

function* list(account_id: string, now: number): Op<DeployToken[]> {
  return (yield* ofAccount.all(account_id, now)).map(tokenOf);
}

const used = note(({ now }, token_id: string) => touch.do(new Date(now()).toISOString(), token_id));

/** Only live tokens are found: an expired one is as one that never was. */
export const DEPLOY_TOKENS = {
  /** By the token's hash; null if it opens nothing, and while its account is disabled. Counts as a use. */
  find: steps("read", async (backend, hash: string): Promise<DeployToken | null> => {
    const now = backend.now();
    const found = await backend.db.read(() => live(hash, now));
    const last = found?.last_used_at ?? null;
    const stale = last === null || Date.parse(last) <= now - TOUCH_MS;
    if (found && stale) await (backend.noteUse?.deploy_token ?? used.on(backend))(found.token_id);
    return found;
  }),
  /** Notes a use of the token. On a full or busy disk that is left out, and nobody is refused for it. */
  used,
  /** Throws `invalid_input` for a site that is not the account's, and `quota_exceeded` for one token too many. */
  add: write(({ now }, by: SignedIn, token: NewDeployToken) => add(by, token, now())),
  /** Newest first. */
  list: read(({ now }, account_id: string) => list(account_id, now())),
  /** False if the account has no such token. */
  revoke: write(({ now }, by: SignedIn, token_id: string) => revoke(by, token_id, now()), { frees: true }),
};
