/** The API's answers that several commands read, or that share rows, with the members that the CLI reads of them: taken from the
 *  API's own shapes, so that a member that is lost there does not compile here. An answer of one command is in its file.
 *  A server may be no svc server, or an older one: each answer is checked. */
import type { ReceiptFigures } from "../../base/receipt-figures.ts";
import * as account from "../../api/shapes/account.ts";
import {
  array,
  boolean,
  custom,
  extend,
  type Infer,
  nullable,
  object,
  pick,
  string,
} from "../../api/shapes/builder.ts";
import { SITE_ID } from "../../api/shapes/common.ts";
import * as deploys from "../../api/shapes/deploys.ts";
import * as sites from "../../api/shapes/sites.ts";

/** An answer that is not read: that it came is enough. */
export const ANY = object({});

const NOTES = {
  healed: array(extend(pick(deploys.HEALED, "message", "path"), { code: string() })),
  warnings: array(extend(pick(deploys.WARNING, "message", "path", "fix_recipe"), { code: string() })),
};
/** The faults that were fixed, and those that are left. */
export type Receipt = { [Kind in keyof typeof NOTES]: Infer<(typeof NOTES)[Kind]> } & WithFigures;

/** The figures of the header `Svc-Receipt` are kept with the body under this name, which no JSON can have. */
export const FIGURES = Symbol("Svc-Receipt");
interface WithFigures {
  /** Left out by a server that is older than they are. */
  [FIGURES]?: ReceiptFigures;
}

export const DEPLOY_RESULT = extend(
  pick(
    deploys.DEPLOY_RESULT,
    ...(["url", "site_id", "version_id", "expires_at", "manage_token"] as const),
    ...(["claim_token", "claim_url", "owner_account_id"] as const),
  ),
  NOTES,
);
export type DeployResult = Omit<Infer<typeof DEPLOY_RESULT>, "manage_token"> &
  WithFigures & {
    /** Null once it was read, where a deploy token came back: that is a secret of CI, neither kept nor shown. */
    manage_token: string | null;
  };

export const DRY_RUN = extend(pick(deploys.DRY_RUN, "dry_run", "version_id", "title", "files"), {
  spa: pick(deploys.SPA, "enabled"),
  ...NOTES,
});

export const PREVIEW_RESULT = extend(
  pick(
    deploys.PREVIEW,
    ...(["url", "version_url", "name", "site_id", "version_id", "live_url", "expires_at", "changed", "files"] as const),
  ),
  NOTES,
);

/** A browser's report on a version (CONTRACT 9). */
const RENDER = extend(
  pick(deploys.LIVE_RENDER, "version_id", "status", "reason"),
  { dom_summary: nullable(object({}, { title: nullable(string()) })) },
  { warnings: NOTES.warnings },
);
export type Render = Infer<typeof RENDER>;

const VERSION_ROW = extend(
  pick(sites.VERSION, "version_id", "title", "created_at"),
  {},
  // Only where the server has a browser that looks.
  { render: extend(pick(deploys.LIVE_RENDER, "status"), { warnings: NOTES.warnings }) },
);
export type VersionRow = Infer<typeof VERSION_ROW>;

const VERSIONS = { versions: array(VERSION_ROW) };
const MORE = { more: boolean() };

export const SITE_RECORD = extend(
  pick(sites.SITE, "site_id", "url", "expires_at", "owner_account_id", "live_version_id"),
  VERSIONS,
  // Only the command that waits for a browser reads what it saw.
  { ...MORE, render: custom<Render>({}) },
);
export const VERSIONS_PAGE = object(VERSIONS, MORE);
/** All that a rollback reads of a site. */
export const VERSION_IDS = object(
  { ...pick(sites.SITE, "live_version_id").required, versions: array(pick(sites.VERSION, "version_id")) },
  { ...MORE, ...pick(sites.SITE, "expires_at").required },
);
/** All that the command that waits for a browser reads of a site. */
export const SEEN = object({}, { render: RENDER });

export const ROLLED_BACK = pick(deploys.ROLLED_BACK, "site_id", "url", "version_id", "previous_version_id");

const SKIPPED = { skipped: array(object({ site_id: SITE_ID, reason: string() })) };
export const DELETED = extend(pick(sites.BULK_DELETED, "deleted"), SKIPPED);
export const ATTACHED = extend(pick(sites.ATTACHED, "attached"), SKIPPED);

export const DEVICE_CODE = extend(
  pick(
    account.DEVICE_CODE,
    ...(["device_code", "user_code", "verification_uri", "verification_uri_complete", "expires_in"] as const),
  ),
  {},
  // A server that sends none, or none that can be read, is asked every five seconds.
  { interval: custom<number>({}) },
);
export type DeviceCode = Infer<typeof DEVICE_CODE>;
