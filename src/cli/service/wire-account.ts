/** The API's answers about an account, with the members that the CLI reads (CONTRACT 4.4, 5). */
import { ADDRESS, fields, listOf, NUMBER, orNone, orNull, TEXT, TIME, UNREAD } from "./shape.ts";

interface Account {
  account_id: string;
  email: string;
}

export const ACCOUNT = fields<Account>({ account_id: TEXT, email: TEXT });

interface Usage {
  bytes: number;
  quota_bytes: number | null;
  sites: number;
  versions: number;
}

export const USAGE = fields<Usage>({ bytes: NUMBER, quota_bytes: orNull(NUMBER), sites: NUMBER, versions: NUMBER });

export interface OwnedSite {
  site_id: string;
  slug: string;
  label: string | null;
  url: string;
  created_at: string;
}

interface SitesPage {
  sites: OwnedSite[];
  cursor?: string | null;
}

export const SITES_PAGE = fields<SitesPage>({
  sites: listOf(fields<OwnedSite>({ site_id: TEXT, slug: TEXT, label: orNull(TEXT), url: ADDRESS, created_at: TIME })),
  cursor: orNone(orNull(TEXT)),
});

interface Deleted {
  deleted: string[];
  skipped: { site_id: string; reason: string }[];
}

const SKIPPED = listOf(fields<Deleted["skipped"][number]>({ site_id: TEXT, reason: TEXT }));

export const DELETED = fields<Deleted>({ deleted: listOf(TEXT), skipped: SKIPPED });

export interface Attached {
  attached: string[];
  skipped: { site_id: string; reason: string }[];
}

export const ATTACHED = fields<Attached>({ attached: listOf(TEXT), skipped: SKIPPED });

/** How many manage_tokens there were. */
export const REVOKED = fields<{ revoked: number }>({ revoked: NUMBER });

export interface ListedDeployToken {
  token_id: string;
  name: string;
  scopes: string[];
  /** Null: all sites of the account. */
  site_ids: string[] | null;
  created_at: string;
  /** Epoch milliseconds. */
  expires_at: number;
  last_used_at: string | null;
}

const OF_TOKEN = {
  token_id: TEXT,
  name: TEXT,
  scopes: listOf(TEXT),
  site_ids: orNull(listOf(TEXT)),
  created_at: TIME,
  expires_at: NUMBER,
} as const;

export const DEPLOY_TOKEN = fields<Omit<ListedDeployToken, "last_used_at"> & { token: string }>({
  ...OF_TOKEN,
  token: TEXT,
});

export const DEPLOY_TOKENS = fields<{ tokens: ListedDeployToken[] }>({
  tokens: listOf(fields<ListedDeployToken>({ ...OF_TOKEN, last_used_at: orNull(TIME) })),
});

export const CLAIMED = fields<{ site_id: string; url: string }>({ site_id: TEXT, url: ADDRESS });

export interface DeviceCode {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  /** Seconds. */
  expires_in: number;
  interval?: number;
}

export const DEVICE_CODE = fields<DeviceCode>({
  device_code: TEXT,
  user_code: TEXT,
  verification_uri: ADDRESS,
  verification_uri_complete: ADDRESS,
  expires_in: NUMBER,
  // Whoever sends none, or none that can be read, is asked every five seconds.
  interval: UNREAD,
});

export interface Approval {
  access_token: string;
  account_id: string;
}

export const APPROVAL = fields<Approval>({ access_token: TEXT, account_id: TEXT });
