/** The dashboard: an account's view of itself and its sites, one file for each page. */
import type { Route } from "../../routes/context.ts";
import { ACCOUNT_ROWS } from "./account.ts";
import { CHANGE_SITE_ROWS, showSite } from "./site.ts";
import { showChanges } from "./changes.ts";
import { COMMENT_ROWS } from "./comments-as-owner.ts";
import { showComments } from "./comments.ts";
import { DELETION_ROWS } from "./deletions.ts";
import { DEPLOY_TOKEN_ROWS } from "./deploy-tokens.ts";
import { showSites } from "./sites.ts";

export const DASHBOARD: readonly Route[] = [
  ["GET", "/dashboard", showSites],
  ["GET", "/dashboard/sites/:id", showSite],
  ...CHANGE_SITE_ROWS,
  ["GET", "/dashboard/sites/:id/changes", showChanges],
  ["GET", "/dashboard/sites/:id/comments", showComments],
  ...COMMENT_ROWS,
  ...ACCOUNT_ROWS,
  ...DEPLOY_TOKEN_ROWS,
  ...DELETION_ROWS,
];
