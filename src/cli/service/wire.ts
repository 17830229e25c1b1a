/** The API's answers, with the members that the CLI reads (CONTRACT 4.3, 4.4). */
import type { DeployResult } from "../../client/deploy-site.ts";

export type { DeployResult } from "../../client/deploy-site.ts";

export interface Limits {
  max_files: number;
  max_bytes: number;
  max_zip_bytes: number;
  anonymous_ttl_ms: number;
}

/** What a browser saw of a version (CONTRACT 9). */
export interface Render {
  version_id: string;
  status: "pending" | "done" | "failed";
  reason?: string;
  warnings?: DeployResult["warnings"];
  dom_summary: { title?: string } | null;
}

export interface VersionRow {
  version_id: string;
  title: string | null;
  created_at: string;
  /** Only where the server has a browser that looks. */
  render?: Pick<Render, "status"> & { warnings: DeployResult["warnings"] };
}

export interface DryRun extends Pick<DeployResult, "version_id" | "healed" | "warnings"> {
  dry_run: true;
  title: string | null;
  spa: { enabled: boolean; rule: string };
  files: { added: string[]; changed: string[]; removed: string[] };
}

export interface SiteRecord {
  site_id: string;
  url: string;
  expires_at: number | null;
  owner_account_id?: string;
  live_version_id: string;
  spa: { enabled: boolean };
  /** Newest first, a page of them. */
  versions: VersionRow[];
  /** Older ones are left. */
  more?: boolean;
  /** Of the live version, where the server has a browser that looks. */
  render?: Render;
}

export interface RolledBack {
  ok: true;
  site_id: string;
  url: string;
  version_id: string;
  previous_version_id: string;
}

export interface Account {
  account_id: string;
  email: string;
}

export interface Usage {
  bytes: number;
  quota_bytes: number | null;
  sites: number;
  versions: number;
}

export interface OwnedSite {
  site_id: string;
  slug: string;
  label: string | null;
  url: string;
  created_at: string;
  live_version_id: string;
}

export interface Revoked {
  ok: true;
  /** How many manage_tokens there were. */
  revoked: number;
}

export interface Claimed {
  ok: true;
  site_id: string;
  url: string;
  owner_account_id: string;
  expires_at: null;
}
