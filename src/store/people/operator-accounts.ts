/** An operator's acts on accounts (CONTRACT 7), each with its line in the audit log. */
import type { Site } from "../../base/types.ts";
import { answering, type Bound, change, type Op, read, statement, write } from "../operation.ts";
import { audit } from "../audit.ts";
import { manageTokens } from "../sites.ts";
import { removeAccount } from "./accounts.ts";
import { grants } from "./deploy-tokens.ts";
import { sessionRows } from "./sessions.ts";

interface NewInvitation {
  /** SHA-256 of the token that the link carries. */
  hash: string;
  email: string;
  /** Epoch milliseconds. */
  expires_at: number;
}

interface ListedAccount {
  account_id: string;
  email: string;
  state: "active" | "disabled";
  sites: number;
  /** ISO 8601. */
  created_at: string;
  /** When a session or a deploy token of it was last used, or its password given; null if none is known any more. */
  last_used_at: string | null;
}

/** How many of an account ended with its password. */
export interface EndedTokens {
  /** Tokens that deploys gave to its sessions. */
  manage_tokens: number;
  deploy_tokens: number;
}

interface NewOperatorAccount {
  account_id: string;
  email: string;
  password_hash: string;
}

interface AccountRow extends Omit<ListedAccount, "state" | "last_used_at"> {
  disabled_reason: string | null;
  session_used_at: string | null;
  token_used_at: string | null;
  /** Epoch milliseconds. */
  password_given_at: number | null;
}
const all = statement<AccountRow>(
  `select account_id, email, created_at, disabled_reason,
     (select count(*) from sites where owner_account_id = accounts.account_id) as sites,
     (select max(last_used_at) from sessions where sessions.account_id = accounts.account_id) as session_used_at,
     (select max(last_used_at) from deploy_tokens where deploy_tokens.account_id = accounts.account_id)
       as token_used_at,
     (select max(seen_at) from sign_in_networks where sign_in_networks.account_id = accounts.account_id)
       as password_given_at
   from accounts order by created_at, account_id`,
);

function listed(row: AccountRow): ListedAccount {
  const { account_id, email, sites, created_at, disabled_reason, password_given_at } = row;
  const given = password_given_at === null ? "" : new Date(password_given_at).toISOString();
  const last_used_at = [row.session_used_at ?? "", row.token_used_at ?? "", given].toSorted().at(-1) || null;
  return {
    account_id,
    email,
    state: disabled_reason === null ? "active" : "disabled",
    sites,
    created_at,
    last_used_at,
  };
}

const byEmail = statement<{ account_id: string }>("select account_id from accounts where email = ?");

function* accountOf(email: string): Op<string> {
  const found = yield* byEmail.get(email);
  if (!found) throw new Error(`There is no account of ${email}: svc-server account list lists them.`);
  return found.account_id;
}

type Slug = Pick<Site, "slug">;
const disableAccount = statement(
  "update accounts set disabled_reason = ?2 where account_id = ?1 and disabled_reason is distinct from ?2",
);
// A site that is disabled for a reason of its own keeps it.
const disableSites = statement<Slug>(
  `update sites set disabled_reason = ?2, disabled_with_account = 1
   where owner_account_id = ?1 and (disabled_reason is null or disabled_with_account = 1) returning slug`,
);
const enableAccount = statement(
  "update accounts set disabled_reason = null where account_id = ? and disabled_reason is not null",
);
const enableSites = statement<Slug>(
  `update sites set disabled_reason = null, disabled_with_account = 0
   where owner_account_id = ? and disabled_with_account = 1 returning slug`,
);

/** Null if there was nothing to change; else the sites that changed with it. */
function* disable(email: string, reason: string, at: string): Op<Slug[] | null> {
  const account_id = yield* accountOf(email);
  if ((yield* disableAccount.run(account_id, reason)).changes === 0) return null;
  yield* sessionRows.endAll(account_id);
  yield* audit({ at, actor: "operator", action: "disable-account", account_id, reason });
  return yield* disableSites.all(account_id, reason);
}

function* enable(email: string, at: string): Op<Slug[] | null> {
  const account_id = yield* accountOf(email);
  if ((yield* enableAccount.run(account_id)).changes === 0) return null;
  yield* audit({ at, actor: "operator", action: "enable-account", account_id });
  return yield* enableSites.all(account_id);
}

function* remove(email: string, at: string): Op<Pick<Site, "site_id" | "slug">[]> {
  return yield* removeAccount(yield* accountOf(email), "operator", at);
}

const insert = statement("insert into accounts (account_id, email, password_hash, created_at) values (?, ?, ?, ?)");
const setPassword = statement("update accounts set password_hash = ? where account_id = ?");
const insertInvitation = statement("insert into invitations (hash, email, created_at, expires_at) values (?, ?, ?, ?)");
const forgetInvitations = statement("delete from invitations where expires_at <= ?");

function* refuseTaken(email: string): Op<void> {
  if ((yield* byEmail.get(email)) !== null) throw new Error(`There is an account of ${email} already.`);
}

function* create({ account_id, email, password_hash }: NewOperatorAccount, at: string): Op<void> {
  yield* refuseTaken(email);
  yield* insert.do(account_id, email, password_hash, at);
  yield* audit({ at, actor: "operator", action: "create-account", account_id });
}

function* reset(email: string, password_hash: string, at: string): Op<EndedTokens> {
  const account_id = yield* accountOf(email);
  yield* setPassword.do(password_hash, account_id);
  yield* sessionRows.endAll(account_id);
  const ended = {
    manage_tokens: yield* manageTokens.revokeOf(account_id),
    deploy_tokens: yield* grants.end(account_id),
  };
  yield* audit({ at, actor: "operator", action: "reset-account", account_id });
  return ended;
}

function* invite({ hash, email, expires_at }: NewInvitation, now: number): Op<void> {
  const at = new Date(now).toISOString();
  yield* refuseTaken(email);
  yield* forgetInvitations.do(now);
  yield* insertInvitation.do(hash, email, at, expires_at);
  yield* audit({ at, actor: "operator", action: "invite", reason: email });
}

function* list(): Op<ListedAccount[]> {
  return (yield* all.all()).map(listed);
}

const iso = (now: () => number): string => new Date(now()).toISOString();
const slugsOf = (sites: readonly Slug[] | null): string[] => (sites ?? []).map(({ slug }) => slug);
const countOf = (sites: readonly Slug[] | null): number | null => sites?.length ?? null;

export const OPERATOR_ACCOUNTS = {
  /** Newest last. */
  list: read(list),
  /** Throws a sentence if the address is taken. */
  create: write(({ now }, account: NewOperatorAccount) => create(account, iso(now))),
  /** Sets a new password; every session of the account ends, every manage_token that a deploy gave to one, and every deploy
   *  token. Throws a sentence if there is no such account. */
  reset: write(({ now }, email: string, password_hash: string) => reset(email, password_hash, iso(now))),
  /** Its sessions end, and with them device logins; its sites are disabled with it, its deploy tokens open nothing. Answers
   *  how many of these sites there are, and null if it was disabled for this reason already. Throws a sentence if there is
   *  no such account. */
  disable: answering(
    change(({ now }, email: string, reason: string) => disable(email, reason, iso(now)), slugsOf, { frees: true }),
    countOf,
  ),
  /** Ends that: its sites have the state they had before. Null if it was not disabled. Throws as `disable`. */
  enable: answering(
    change(({ now }, email: string) => enable(email, iso(now)), slugsOf, { frees: true }),
    countOf,
  ),
  /** Removes the account, its sessions and all its sites; answers the ids of the sites. Throws as `disable`. */
  remove: answering(
    change(({ now }, email: string) => remove(email, iso(now)), slugsOf, { frees: true, uncounts: true }),
    (sites) => sites.map(({ site_id }) => site_id),
  ),
  /** Throws a sentence if the address has an account. */
  invite: write(({ now }, invitation: NewInvitation) => invite(invitation, now())),
};
export type OperatorAccounts = Bound<typeof OPERATOR_ACCOUNTS>;
