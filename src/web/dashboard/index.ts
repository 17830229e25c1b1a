/** The dashboard: an account's view of itself and its sites, one file for each page. */
import type { Route } from "../../routes/context.ts";
import { ACCOUNT_ROWS } from "./account.ts";
import { DOMAIN_ROWS } from "./site-domains.ts";
import { PREVIEW_ROWS } from "./site-previews.ts";
import { RULES_ROWS } from "./site-rules.ts";
import { SETTINGS_ROWS } from "./site-settings.ts";
import { SITE_ROWS } from "./site.ts";
import { CHANGES_ROWS } from "./changes.ts";
import { COMMENT_ROWS } from "./comments-as-owner.ts";
import { showComments } from "./comments.ts";
import { DELETION_ROWS } from "./deletions.ts";
import { DEPLOY_TOKEN_ROWS } from "./deploy-tokens.ts";
import { STATISTICS_ROWS } from "./site-statistics.ts";
import { showSites } from "./sites.ts";
import { VERSION_ROWS } from "./site-versions.ts";

export const DASHBOARD: readonly Route[] = [
  ["GET", "/dashboard", showSites],
  ...SITE_ROWS,
  ...VERSION_ROWS,
  ...PREVIEW_ROWS,
  ...RULES_ROWS,
  ...DOMAIN_ROWS,
  ...SETTINGS_ROWS,
  ...CHANGES_ROWS,
  ["GET", "/dashboard/sites/:id/comments", showComments],
  ...COMMENT_ROWS,
  ...STATISTICS_ROWS,
  ...ACCOUNT_ROWS,
  ...DEPLOY_TOKEN_ROWS,
  ...DELETION_ROWS,
];
