/** Accounts: an address, a password's hash, and what ends with them. */
import { Refusal } from "../../base/errors.ts";
import type { Account, Accounts, NewAccount, PasswordChange, SignedIn } from "../people.ts";
import { signupClosed } from "../refusals.ts";
import { audit, auditDeletions } from "./audit.ts";
import { type Op, statement } from "./db.ts";
import { makingRoom } from "./frame.ts";
import type { Site } from "../../base/types.ts";
import type { Parts } from "./parts.ts";
import { accountUsage } from "./quotas.ts";
import {
  addSession,
  endOtherSessions,
  isItsPassword,
  knowsNetwork,
  noteNetwork,
  refuseUnlessHeld,
} from "./sessions.ts";
import { removeSitesOf } from "./sites.ts";

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
    if (changes === 0) throw signupClosed();
  }
  if ((yield* byEmail.get(email)) !== null) {
    throw new Refusal("email_taken", "There is an account with this e-mail address already: sign in instead.");
  }
  yield* insert.do(account_id, email, password_hash, at);
  yield* addSession(session, account_id, at, at);
  yield* noteNetwork(session, account_id, now);
}

const setPassword = statement("update accounts set password_hash = ? where account_id = ?");

function* changePassword({ by, checked_hash, password_hash }: PasswordChange, at: string): Op<boolean> {
  const { account_id } = by;
  yield* refuseUnlessHeld(by);
  if (!(yield* isItsPassword(account_id, checked_hash))) return false;
  yield* setPassword.do(password_hash, account_id);
  yield* endOtherSessions(by);
  yield* audit({ at, actor: account_id, action: "change-password", account_id });
  return true;
}

const deleteAccount = statement("delete from accounts where account_id = ?");

type Removed = Pick<Site, "site_id" | "slug">[];

/** `actor`: who does it. Ends with the sites that went along. */
export function* removeAccount(account_id: string, actor: string, at: string): Op<Removed> {
  yield* auditDeletions(account_id, actor, at);
  const sites = yield* removeSitesOf(account_id, at);
  yield* deleteAccount.do(account_id);
  yield* audit({ at, actor, action: "delete-account", account_id });
  return sites;
}

function* remove(by: SignedIn, at: string): Op<Removed> {
  yield* refuseUnlessHeld(by);
  return yield* removeAccount(by.account_id, by.account_id, at);
}

export const accountStore = ({ db, place, now }: Parts): Accounts => ({
  byId: (account_id) => db.read(byId.get(account_id)),
  byEmail: (email) => db.read(byEmail.get(email)),
  knows: (account_id, network_hash) => db.read(knowsNetwork(account_id, network_hash, now())),
  usage: accountUsage({ db, now }),
  create: (account) => db.write(() => create(account, now())),
  changePassword: (change) => db.write(() => changePassword(change, new Date(now()).toISOString())),
  async remove(by) {
    const removed = await makingRoom(place, () =>
      db.change(
        () => remove(by, new Date(now()).toISOString()),
        (sites) => sites.map(({ slug }) => slug),
      ),
    );
    return removed.map(({ site_id }) => site_id);
  },
});
