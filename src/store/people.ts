/** Accounts, and how people and their programs are signed in. */
import type { DeployGrant } from "../base/tokens.ts";
import { UNIT_MS } from "../base/units.ts";

export interface Account {
  account_id: string;
  email: string;
  created_at: string;
}

export interface NewSession {
  session_id: string;
  hash: string;
  client: string;
  /** From where the password was given, as a keyed hash: it is remembered with the account. */
  network_hash?: string;
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

/** What the sites of an account hold together. */
export interface AccountUsage {
  sites: number;
  /** Of each site its distinct uploaded blobs, once. */
  bytes: number;
  versions: number;
  /** Those that have not ended. */
  previews: number;
}

/** A session that was accepted, to be asked again inside the transaction that acts on it. */
export interface SignedIn {
  account_id: string;
  session_id: string;
}

export interface PasswordChange {
  by: SignedIn;
  /** The hash of the password that was given. */
  checked_hash: string;
  password_hash: string;
}

export interface Accounts {
  byId(account_id: string): Promise<Account | null>;
  /** `disabled_reason`: null where it may sign in. */
  byEmail(email: string): Promise<(Account & { password_hash: string; disabled_reason: string | null }) | null>;
  /** Whether the account's password was given from this network before. */
  knows(account_id: string, network_hash: string): Promise<boolean>;
  /** Throws `email_taken`, or `signup_closed` where the invitation is none for this address. */
  create(account: NewAccount): Promise<void>;
  usage(account_id: string): Promise<AccountUsage>;
  /** Ends all other sessions, and device logins that are about to become one. False where the password is no longer the
   *  one that was checked. */
  changePassword(change: PasswordChange): Promise<boolean>;
  /** The account, its sessions and all its sites, whose ids it returns. */
  remove(by: SignedIn): Promise<string[]>;
}

export interface Session {
  session_id: string;
  account_id: string;
  /** ISO 8601, like all here. */
  created_at: string;
  last_used_at: string;
  /** When the password was last given; null where a device got the session. */
  signed_in_at: string | null;
  client: string;
}

export interface Sessions {
  /** By the token's hash; null where there is none or it has ended. Counts as a use. */
  find(hash: string): Promise<Session | null>;
  /** Its bearer was here now. On a full or busy disk that is not written down, and nobody is refused for it. */
  used(session_id: string): Promise<void>;
  /** False where the account's password is no longer the one that was checked, or opens it no more. */
  start(session: NewSession, account: { account_id: string; password_hash: string }): Promise<boolean>;
  /** The password was given once more. */
  confirm(session_id: string): Promise<void>;
  /** Newest first, at most `limit`. */
  list(account_id: string, limit: number): Promise<Session[]>;
  /** False where the account has no such session. */
  end(session: SignedIn): Promise<boolean>;
  /** All of the account but this one, and device logins that are about to become one. Says how many sessions. */
  endOthers(keep: SignedIn): Promise<number>;
}

export interface DeployToken extends DeployGrant {
  name: string;
  /** ISO 8601; null until it is first used. */
  last_used_at: string | null;
  created_at: string;
  /** Epoch milliseconds. */
  expires_at: number;
}

export interface NewDeployToken extends DeployGrant {
  name: string;
  hash: string;
  /** Milliseconds until it ends. */
  lives_ms: number;
}

/** Live ones alone: what has expired is as what never was. */
export interface DeployTokens {
  /** By the token's hash; null where it opens nothing, and while its account is disabled. Counts as a use. */
  find(hash: string): Promise<DeployToken | null>;
  /** Its bearer was here now. On a full or busy disk that is not written down, and nobody is refused for it. */
  used(token_id: string): Promise<void>;
  /** Throws `invalid_input` for a site that is not the account's, and `quota_exceeded` for one token too many. */
  add(by: SignedIn, token: NewDeployToken): Promise<DeployToken>;
  /** Newest first. */
  list(account_id: string): Promise<DeployToken[]>;
  /** False where the account has no such token. */
  revoke(by: SignedIn, token_id: string): Promise<boolean>;
}

export const DEVICE_LIFETIME_MS = 15 * UNIT_MS.m;
export const DEVICE_INTERVAL_S = 5;

export interface DeviceLogin {
  user_code: string;
  /** The client's, who asks. */
  address: string;
  client: string;
  /** ISO 8601. */
  created_at: string;
}

export type Polled =
  { state: "pending" | "slow_down" | "denied" | "unknown" } | { state: "approved"; account_id: string };

export interface DeviceLogins {
  /** False where the user code is in use: draw another. */
  start(login: Omit<DeviceLogin, "created_at"> & { device_hash: string }): Promise<boolean>;
  /** One that waits to be decided; null for an unknown, decided, used or expired code alike. */
  pending(user_code: string): Promise<DeviceLogin | null>;
  /** False where it no longer waits. */
  decide(user_code: string, decision: "approved" | "denied", by: SignedIn): Promise<boolean>;
  /** The device asks. An approved login gives `session` to it, once. */
  poll(device_hash: string, session: Omit<NewSession, "client">): Promise<Polled>;
}
