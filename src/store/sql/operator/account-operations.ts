/** What an operator does to accounts, each with its line in the audit log. */
import type { AccountOperations, EndedTokens, NewInvitation } from "../../upkeep.ts";
import { accountOf, accountState } from "./account-state.ts";
import { audit } from "../audit.ts";
import { type Op, statement } from "../db.ts";
import type { Parts } from "../parts.ts";
import { endDeployTokens } from "../deploy-tokens.ts";
import { endAllSessions } from "../sessions.ts";
import { revokeTokensOf } from "../sites.ts";

const byEmail = statement<{ account_id: string }>("select account_id from accounts where email = ?");
const insert = statement("insert into accounts (account_id, email, password_hash, created_at) values (?, ?, ?, ?)");
const setPassword = statement("update accounts set password_hash = ? where account_id = ?");
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

function* reset(email: string, password_hash: string, at: string): Op<EndedTokens> {
  const account_id = yield* accountOf(email);
  yield* setPassword.do(password_hash, account_id);
  yield* endAllSessions(account_id);
  const ended = {
    manage_tokens: yield* revokeTokensOf(account_id),
    deploy_tokens: yield* endDeployTokens(account_id),
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

export function accountOperations(parts: Parts): AccountOperations {
  const { db, now } = parts;
  const iso = () => new Date(now()).toISOString();
  return {
    ...accountState(parts),
    create: (account) => db.write(() => create(account, iso())),
    reset: (email, password_hash) => db.write(() => reset(email, password_hash, iso())),
    invite: (invitation) => db.write(() => invite(invitation, now())),
  };
}
