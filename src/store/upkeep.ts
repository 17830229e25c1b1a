/** What a running server and its operator ask of the store beside pages and deploys. */
import type { Site } from "../base/types.ts";

export interface Swept {
  sites: number;
  blobs: number;
}

/** A file of a stored version that cannot be served. */
export interface Loss {
  site_id: string;
  slug: string;
  version_id: string;
  path: string;
  /** Whether visitors see this version now. */
  live: boolean;
}

/** A blob that is not what it was. A damaged one has been set aside, where no request finds it; one that the disk, its
 *  owner or its mode keep from being read lies where it was. */
export interface Damage {
  sha256: string;
  why: "missing" | "damaged" | "unreadable";
  losses: Loss[];
}

export interface Checked {
  blobs: number;
  bytes: number;
  damages: Damage[];
  /** What the database itself finds wrong with its files; empty where it is sound. */
  database: string[];
}

export interface BackedUp {
  created_at: string;
  blobs: number;
  bytes: number;
  /** Blobs that could not be copied whole: the backup is complete but for them. */
  damaged: string[];
}

/** What a visitor tells the operator about a site. */
interface Report {
  report_id: string;
  site_id: string;
  slug: string;
  reason: string;
  text: string | null;
  email: string | null;
  /** ISO 8601. */
  created_at: string;
}

export interface ListedReport extends Report {
  /** When an operator was done with it (ISO 8601); null while it is open. */
  closed_at: string | null;
}

export interface Reports {
  add(report: Report): Promise<void>;
  /** Oldest first, closed ones among them; of sites that are gone too, until a sweep has removed them. */
  list(): Promise<ListedReport[]>;
}

/** A site that waits for an operator to clear it. */
export interface Quarantined {
  site_id: string;
  slug: string;
  created_at: string;
  /** One sentence each, with the file and the signal. */
  signals: string[];
}

/** What an operator does to one site. */
export type SiteAct =
  | { action: "disable"; site_id: string; reason: string }
  | { action: "enable" | "freeze" | "unfreeze" | "clear" | "delete"; site_id: string };

export interface NewInvitation {
  /** SHA-256 of the token that the link carries. */
  hash: string;
  email: string;
  /** Epoch milliseconds. */
  expires_at: number;
}

export interface ListedAccount {
  account_id: string;
  email: string;
  state: "active" | "disabled";
  sites: number;
  /** ISO 8601. */
  created_at: string;
  /** When a session or a deploy token of it was last used, or its password given; null where none is known any more. */
  last_used_at: string | null;
}

/** How many of an account ended with its password. */
export interface EndedTokens {
  /** Those that deploys gave to its sessions. */
  manage_tokens: number;
  deploy_tokens: number;
}

/** What an operator does to accounts. */
export interface AccountOperations {
  /** Newest last. */
  list(): Promise<ListedAccount[]>;
  /** Throws a sentence where the address is taken. */
  create(account: { account_id: string; email: string; password_hash: string }): Promise<void>;
  /** A new password; every session of the account ends, every manage_token that a deploy gave to one, and every deploy
   *  token. Throws a sentence where there is no such account. */
  reset(email: string, password_hash: string): Promise<EndedTokens>;
  /** Its sessions end, and with them device logins; its sites are disabled with it, its deploy tokens open nothing. Says how
   *  many of these sites there are, and null where it was disabled for this reason already. Throws a sentence where there is
   *  no such account. */
  disable(email: string, reason: string): Promise<number | null>;
  /** Ends that: its sites have the state they had before. Null where it was not disabled. Throws as `disable`. */
  enable(email: string): Promise<number | null>;
  /** The account, its sessions and all its sites, whose ids it returns. Throws as `disable`. */
  remove(email: string): Promise<string[]>;
  /** Throws a sentence where the address has an account. */
  invite(invitation: NewInvitation): Promise<void>;
}

export interface AuditRow {
  /** ISO 8601. */
  at: string;
  /** `operator`, `expiry`, or the account_id of who did it. */
  actor: string;
  /** `delete`, `expire`, `disable` …: a verb. */
  action: string;
  site_id: string | null;
  account_id: string | null;
  reason: string | null;
}

export interface ListedSite extends Site {
  /** The address of its account; null where it has none. */
  owner_email: string | null;
  versions: number;
  /** Uploaded bytes of all its versions; equal files are stored once. */
  bytes: number;
}

/** How many sites are in which state, as site-state.ts decides it, and how many versions there are. */
export interface Census {
  live: number;
  frozen: number;
  disabled: number;
  expired: number;
  versions: number;
}

/** Figures that all processes of a server add up. */
export interface Figures {
  add(slot: number, amount: number): void;
  set(slot: number, value: number): void;
  get(slot: number): number;
  /** What this process says of itself: at most fifteen whole numbers. */
  putProcess(numbers: readonly number[]): void;
  /** What each process that is alive said last. */
  processes(): number[][];
}

/** Where the server was reached when it last started, for programs that have its data and not its settings. */
export interface ServerAddress {
  base_url: string;
  sites_domain: string;
}
