/** People in the database: accounts, sessions, device logins, deploy tokens. This file has
 *  accounts: an address, a password's hash,
 *  and what ends with them. */
import { Refusal } from "../../base/errors.ts";
import type { Site } from "../../base/types.ts";
import { answering, change, type Op, read, statement, write } from "../operation.ts";
import { refusals } from "../refusals.ts";
import { audit, auditDeletions } from "../audit.ts";
import { accountUsage, largestSites } from "../quotas.ts";
import { siteRows } from "../sites.ts";
import { type NewSession, sessionRows, type SignedIn } from "./sessions.ts";

export interface Account {
  account_id: string;
  email: string;
  created_at: string;
}

interface NewAccount {
  account_id: string;
  /** Normalised. */
  email: string;
  password_hash: string;
  session: NewSession;
  /** The hash of the invitation that opens sign-up; null if sign-up is open to all. */
  invitation_hash: string | null;
}

interface PasswordChange {
  by: SignedIn;
  /** The hash of the password that was given. */
  checked_hash: string;
  password_hash: string;
}

const byId = statement<Account>("select account_id, email, created_at from accounts where account_id = ?");
const byEmail = statement<Account & { password_hash: string; disabled_reason: string | null }>(
  "select account_id, email, created_at, password_hash, disabled_reason from accounts where email = ?",
);
const insert = statement("insert into accounts (account_id, email, password_hash, created_at) values (?, ?, ?, ?)");
const redeem = statement(
  "update invitations set used_at = ? where hash = ? and email = ? and used_at is null and expires_at > ?",
);

function* create(account: NewAccount, now: number): Op<void> {
  const { account_id, email, password_hash, session, invitation_hash } = account;
  const at = new Date(now).toISOString();
  if (invitation_hash !== null) {
    const { changes } = yield* redeem.run(at, invitation_hash, email, now);
    if (changes === 0) throw refusals.signupClosed();
  }
  if ((yield* byEmail.get(email)) !== null) {
    throw new Refusal("email_taken", "There is an account with this e-mail address already: sign in instead.");
  }
  yield* insert.do(account_id, email, password_hash, at);
  yield* sessionRows.add(session, account_id, at, at);
  yield* sessionRows.noteNetwork(session, account_id, now);
}

const setPassword = statement("update accounts set password_hash = ? where account_id = ?");

function* changePassword({ by, checked_hash, password_hash }: PasswordChange, at: string): Op<boolean> {
  const { account_id } = by;
  yield* sessionRows.refuseUnlessHeld(by);
  if (!(yield* sessionRows.isItsPassword(account_id, checked_hash))) return false;
  yield* setPassword.do(password_hash, account_id);
  yield* sessionRows.endOthers(by);
  yield* audit({ at, actor: account_id, action: "change-password", account_id });
  return true;
}

const deleteAccount = statement("delete from accounts where account_id = ?");
// Nothing that has the address outlives the account; from the audit log the next sweep takes it.
const forgetInvitation = statement(
  "delete from invitations where email = (select email from accounts where account_id = ?)",
);

type RemovedSites = Pick<Site, "site_id" | "slug">[];

/** `actor`: the account_id or `operator` that does it. Answers the sites that went with the account. */
export function* removeAccount(account_id: string, actor: string, at: string): Op<RemovedSites> {
  yield* auditDeletions(account_id, actor, at);
  const sites = yield* siteRows.removeOf(account_id, at);
  yield* forgetInvitation.do(account_id);
  yield* deleteAccount.do(account_id);
  yield* audit({ at, actor, action: "delete-account", account_id });
  return sites;
}

function* remove(by: SignedIn, at: string): Op<RemovedSites> {
  yield* sessionRows.refuseUnlessHeld(by);
  return yield* removeAccount(by.account_id, by.account_id, at);
}

const iso = (now: () => number): string => new Date(now()).toISOString();

export const ACCOUNTS = {
  byId: read((_, account_id: string) => byId.get(account_id)),
  /** `disabled_reason`: null if it may sign in. */
  byEmail: read((_, email: string) => byEmail.get(email)),
  /** Whether the account's password was given from this network before. */
  knows: read(({ now }, account_id: string, network_hash: string) =>
    sessionRows.knowsNetwork(account_id, network_hash, now()),
  ),
  usage: read(({ now }, account_id: string) => accountUsage(account_id, now())),
  /** Those of its sites that take the most room. */
  largestSites: read((_, account_id: string, most: number) => largestSites(account_id, most)),
  /** Throws `email_taken`, or `signup_closed` if the invitation is not for this address. */
  create: write(({ now }, account: NewAccount) => create(account, now())),
  /** Ends all other sessions, and device logins that are about to become one. False if the password is no longer the one
   *  that was checked. */
  changePassword: write(({ now }, wanted: PasswordChange) => changePassword(wanted, iso(now))),
  /** Removes the account, its sessions and all its sites; answers the ids of the sites. */
  remove: answering(
    change(
      ({ now }, by: SignedIn) => remove(by, iso(now)),
      (sites) => sites.map(({ slug }) => slug),
      { frees: true, uncounts: true },
    ),
    (sites) => sites.map(({ site_id }) => site_id),
  ),
};
