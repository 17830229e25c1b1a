/** Accounts: an address, a password's hash, and what ends with them. */
import type { Database } from "bun:sqlite";
import { Refusal } from "../../errors.ts";
import { auditWriter } from "./audit.ts";
import type { Commit } from "./commit.ts";
import { type NewSession, sessionWriter, type SignedIn } from "./sessions.ts";
import { siteRemover } from "./sweep.ts";

export interface Account {
  account_id: string;
  email: string;
  created_at: string;
}

export interface NewAccount {
  account_id: string;
  /** Normalised. */
  email: string;
  password_hash: string;
  session: NewSession;
  /** The hash of the invitation that opens sign-up; null where it is open to all. */
  invitation_hash: string | null;
}

export interface Accounts {
  byId(account_id: string): Promise<Account | null>;
  byEmail(email: string): Promise<(Account & { password_hash: string }) | null>;
  /** Throws `email_taken`, or `signup_closed` where the invitation is none for this address. */
  create(account: NewAccount): Promise<void>;
  /** The account, its sessions and all its sites, whose ids it returns. */
  remove(by: SignedIn): Promise<string[]>;
}

export const signupClosed = (): Refusal =>
  new Refusal("signup_closed", "Sign-up needs an invitation on this server: ask its operator for one.");

function creator(db: Database, now: () => number) {
  const taken = db.prepare<unknown, [string]>("select 1 from accounts where email = ?");
  const insert = db.prepare<unknown, [string, string, string, string]>(
    "insert into accounts (account_id, email, password_hash, created_at) values (?, ?, ?, ?)",
  );
  const redeem = db.prepare<{ hash: string }, [string, string, string, number]>(
    `update invitations set used_at = ? where hash = ? and email = ? and used_at is null and expires_at > ?
     returning hash`,
  );
  const sessions = sessionWriter(db);
  return db.transaction(({ account_id, email, password_hash, session, invitation_hash }: NewAccount): void => {
    const at = new Date(now()).toISOString();
    if (invitation_hash !== null && redeem.get(at, invitation_hash, email, now()) === null) throw signupClosed();
    if (taken.get(email) !== null) {
      throw new Refusal("email_taken", "There is an account with this e-mail address already: sign in instead.");
    }
    insert.run(account_id, email, password_hash, at);
    sessions.add(session, account_id, at, at);
  });
}

function remover(db: Database, now: () => number) {
  const sitesOf = db.prepare<{ site_id: string }, [string]>("select site_id from sites where owner_account_id = ?");
  const remove = db.prepare<unknown, [string]>("delete from accounts where account_id = ?");
  const sessions = sessionWriter(db);
  const removeSite = siteRemover(db);
  const audit = auditWriter(db);
  return db.transaction((by: SignedIn): string[] => {
    sessions.refuseUnlessHeld(by);
    const { account_id } = by;
    const at = new Date(now()).toISOString();
    const deleted = sitesOf.all(account_id).map((site) => site.site_id);
    for (const site_id of deleted) {
      removeSite(site_id, "deleted", at);
      audit({ at, actor: account_id, action: "delete", site_id, account_id, reason: "the account was deleted" });
    }
    remove.run(account_id);
    audit({ at, actor: account_id, action: "delete-account", account_id });
    return deleted;
  });
}

export function accountStore(db: Database, { quiet, deletion }: Commit, now: () => number): Accounts {
  const byId = db.prepare<Account, [string]>("select account_id, email, created_at from accounts where account_id = ?");
  const byEmail = db.prepare<Account & { password_hash: string }, [string]>(
    "select account_id, email, created_at, password_hash from accounts where email = ?",
  );
  const create = creator(db, now);
  const remove = remover(db, now);
  return {
    byId: async (account_id) => byId.get(account_id),
    byEmail: async (email) => byEmail.get(email),
    create: async (account) => quiet(() => create.immediate(account)),
    remove: async (by) => deletion(() => remove.immediate(by)),
  };
}
