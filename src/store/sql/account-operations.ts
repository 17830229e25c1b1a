/** What an operator does to accounts, each with its line in the audit log. */
import type { AccountOperations, NewInvitation } from "../upkeep.ts";
import { audit } from "./audit.ts";
import { type Op, statement } from "./db.ts";
import type { Parts } from "./parts.ts";
import { revokeTokensOf } from "./sites.ts";

const byEmail = statement<{ account_id: string }>("select account_id from accounts where email = ?");
const insert = statement("insert into accounts (account_id, email, password_hash, created_at) values (?, ?, ?, ?)");
const setPassword = statement("update accounts set password_hash = ? where account_id = ?");
const endSessions = statement("delete from sessions where account_id = ?");
// One that was approved and not yet fetched would become a session afterwards.
const endLogins = statement("delete from device_logins where account_id = ?");
const insertInvitation = statement("insert into invitations (hash, email, created_at, expires_at) values (?, ?, ?, ?)");
const forgetInvitations = statement("delete from invitations where expires_at <= ?");

function* refuseTaken(email: string): Op<void> {
  if ((yield* byEmail.get(email)) !== null) throw new Error(`There is an account of ${email} already.`);
}

type NewPassword = Parameters<AccountOperations["create"]>[0];

function* create({ account_id, email, password_hash }: NewPassword, at: string): Op<void> {
  yield* refuseTaken(email);
  yield* insert.do(account_id, email, password_hash, at);
  yield* audit({ at, actor: "operator", action: "create-account", account_id });
}

function* reset(email: string, password_hash: string, at: string): Op<number> {
  const found = yield* byEmail.get(email);
  if (!found) throw new Error(`There is no account of ${email}.`);
  const { account_id } = found;
  yield* setPassword.do(password_hash, account_id);
  yield* endSessions.do(account_id);
  yield* endLogins.do(account_id);
  const revoked = yield* revokeTokensOf(account_id);
  yield* audit({ at, actor: "operator", action: "reset-account", account_id });
  return revoked;
}

function* invite({ hash, email, expires_at }: NewInvitation, now: number): Op<void> {
  const at = new Date(now).toISOString();
  yield* refuseTaken(email);
  yield* forgetInvitations.do(now);
  yield* insertInvitation.do(hash, email, at, expires_at);
  yield* audit({ at, actor: "operator", action: "invite", reason: email });
}

export function accountOperations({ db, now }: Pick<Parts, "db" | "now">): AccountOperations {
  const iso = () => new Date(now()).toISOString();
  return {
    create: (account) => db.write(() => create(account, iso())),
    reset: (email, password_hash) => db.write(() => reset(email, password_hash, iso())),
    invite: (invitation) => db.write(() => invite(invitation, now())),
  };
}
