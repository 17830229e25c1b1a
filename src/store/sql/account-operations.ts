/** What an operator does to accounts, each with its line in the audit log. */
import type { Database } from "bun:sqlite";
import { auditWriter } from "./audit.ts";

export interface NewInvitation {
  /** SHA-256 of the token that the link carries. */
  hash: string;
  email: string;
  /** Epoch milliseconds. */
  expires_at: number;
}

export interface AccountOperations {
  /** Throws a sentence where the address is taken. */
  create(account: { account_id: string; email: string; password_hash: string }): Promise<void>;
  /** A new password; every session of the account ends. Throws a sentence where there is no such account. */
  reset(email: string, password_hash: string): Promise<void>;
  /** Throws a sentence where the address has an account. */
  invite(invitation: NewInvitation): Promise<void>;
}

const statements = (db: Database) => ({
  find: db.prepare<{ account_id: string }, [string]>("select account_id from accounts where email = ?"),
  insert: db.prepare<unknown, [string, string, string, string]>(
    "insert into accounts (account_id, email, password_hash, created_at) values (?, ?, ?, ?)",
  ),
  change: db.prepare<unknown, [string, string]>("update accounts set password_hash = ? where account_id = ?"),
  endSessions: db.prepare<unknown, [string]>("delete from sessions where account_id = ?"),
  // One that was approved and not yet fetched would become a session afterwards.
  endLogins: db.prepare<unknown, [string]>("delete from device_logins where account_id = ?"),
  invite: db.prepare<unknown, [string, string, string, number]>(
    "insert into invitations (hash, email, created_at, expires_at) values (?, ?, ?, ?)",
  ),
  forgetInvitations: db.prepare<unknown, [number]>("delete from invitations where expires_at <= ?"),
});

export function accountOperations(db: Database, now: () => number): AccountOperations {
  const { find, insert, change, endSessions, endLogins, invite, forgetInvitations } = statements(db);
  const audit = auditWriter(db);
  const iso = () => new Date(now()).toISOString();

  function refuseTaken(email: string): void {
    if (find.get(email) !== null) throw new Error(`There is an account of ${email} already.`);
  }
  const create = db.transaction((account: { account_id: string; email: string; password_hash: string }) => {
    const { account_id, email, password_hash } = account;
    refuseTaken(email);
    insert.run(account_id, email, password_hash, iso());
    audit({ at: iso(), actor: "operator", action: "create-account", account_id });
  });
  const reset = db.transaction((email: string, password_hash: string) => {
    const found = find.get(email);
    if (!found) throw new Error(`There is no account of ${email}.`);
    const { account_id } = found;
    change.run(password_hash, account_id);
    endSessions.run(account_id);
    endLogins.run(account_id);
    audit({ at: iso(), actor: "operator", action: "reset-account", account_id });
  });
  const issue = db.transaction(({ hash, email, expires_at }: NewInvitation) => {
    refuseTaken(email);
    forgetInvitations.run(now());
    invite.run(hash, email, iso(), expires_at);
    audit({ at: iso(), actor: "operator", action: "invite", reason: email });
  });
  return {
    create: async (account) => create.immediate(account),
    reset: async (email, password_hash) => reset.immediate(email, password_hash),
    invite: async (invitation) => issue.immediate(invitation),
  };
}
