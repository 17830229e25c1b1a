/** The API's answers, with the members that the CLI reads (CONTRACT 4.3, 4.4). */
import type { DeployResult as Deployed } from "../../client/deploy-site.ts";
import type { Challenge } from "../../client/challenge.ts";
import { ADDRESS, BOOLEAN, fields, listOf, NUMBER, orNone, orNull, TEXT, TIME, UNREAD } from "./shape.ts";

/** What was fixed, and what is still wrong. */
export type Receipt = Pick<Deployed, "healed" | "warnings">;
export type DeployResult = Receipt &
  Pick<Deployed, "url" | "site_id" | "version_id" | "expires_at"> &
  Pick<Deployed, "claim_token" | "claim_url" | "owner_account_id"> & {
    /** Null once it was read, where a deploy token came back: that is a secret of CI, neither kept nor shown. */
    manage_token: string | null;
  };

export const HEALED = listOf(fields<{ message: string; path?: string }>({ message: TEXT, path: orNone(TEXT) }));
export const WARNINGS = listOf(
  fields<{ code: string; message: string; path?: string; fix_recipe: string }>({
    code: TEXT,
    message: TEXT,
    path: orNone(TEXT),
    fix_recipe: TEXT,
  }),
);

export const DEPLOY_RESULT = fields<DeployResult>({
  url: ADDRESS,
  site_id: TEXT,
  version_id: TEXT,
  expires_at: orNull(NUMBER),
  manage_token: TEXT,
  claim_token: orNone(TEXT),
  claim_url: orNone(ADDRESS),
  owner_account_id: orNone(TEXT),
  healed: HEALED,
  warnings: WARNINGS,
});

export interface Limits {
  max_files: number;
  max_bytes: number;
  max_zip_bytes: number;
}

export const LIMITS = fields<Limits>({ max_files: NUMBER, max_bytes: NUMBER, max_zip_bytes: NUMBER });

export const CHALLENGE = fields<Challenge>({ challenge: TEXT, bits: NUMBER });

/** What a browser saw of a version (CONTRACT 9). */
export interface Render {
  version_id: string;
  status: "pending" | "done" | "failed";
  reason?: string;
  warnings?: Deployed["warnings"];
  dom_summary: { title?: string } | null;
}

const RENDER = fields<Render>({
  version_id: TEXT,
  status: TEXT,
  reason: orNone(TEXT),
  warnings: orNone(WARNINGS),
  dom_summary: orNull(fields<{ title?: string }>({ title: orNone(orNull(TEXT)) })),
});

export interface VersionRow {
  version_id: string;
  title: string | null;
  created_at: string;
  /** Only where the server has a browser that looks. */
  render?: Pick<Render, "status"> & { warnings: Deployed["warnings"] };
}

const VERSION_ROW = fields<VersionRow>({
  version_id: TEXT,
  title: orNull(TEXT),
  created_at: TIME,
  render: orNone(fields<NonNullable<VersionRow["render"]>>({ status: TEXT, warnings: WARNINGS })),
});

export interface DryRun extends Receipt {
  dry_run: true;
  version_id: string;
  title: string | null;
  spa: { enabled: boolean };
  files: { added: string[]; changed: string[]; removed: string[] };
}

export const PATHS = listOf(TEXT);

export const DRY_RUN = fields<DryRun>({
  dry_run: BOOLEAN,
  version_id: TEXT,
  title: orNull(TEXT),
  spa: fields<DryRun["spa"]>({ enabled: BOOLEAN }),
  files: fields<DryRun["files"]>({ added: PATHS, changed: PATHS, removed: PATHS }),
  healed: HEALED,
  warnings: WARNINGS,
});

export interface SiteRecord {
  site_id: string;
  url: string;
  expires_at: number | null;
  owner_account_id?: string;
  live_version_id: string;
  /** Newest first, a page of them. */
  versions: VersionRow[];
  /** Older ones are left. */
  more?: boolean;
  /** Of the live version, where the server has a browser that looks. */
  render?: Render;
}

export const SITE_RECORD = fields<SiteRecord>({
  site_id: TEXT,
  url: ADDRESS,
  expires_at: orNull(NUMBER),
  owner_account_id: orNone(TEXT),
  live_version_id: TEXT,
  versions: listOf(VERSION_ROW),
  more: orNone(BOOLEAN),
  render: UNREAD,
});

export const VERSIONS_PAGE = fields<Pick<SiteRecord, "versions" | "more">>({
  versions: listOf(VERSION_ROW),
  more: orNone(BOOLEAN),
});

/** All that a rollback reads of it. */
export const VERSION_IDS = fields<Pick<SiteRecord, "live_version_id" | "versions" | "more" | "expires_at">>({
  live_version_id: TEXT,
  versions: listOf(fields<Pick<VersionRow, "version_id">>({ version_id: TEXT })),
  more: orNone(BOOLEAN),
  expires_at: orNone(orNull(NUMBER)),
});

/** What waits for a browser reads that alone. */
export const SEEN = fields<Pick<SiteRecord, "render">>({ render: orNone(RENDER) });

interface RolledBack {
  site_id: string;
  url: string;
  version_id: string;
  previous_version_id: string;
}

export const ROLLED_BACK = fields<RolledBack>({
  site_id: TEXT,
  url: ADDRESS,
  version_id: TEXT,
  previous_version_id: TEXT,
});
