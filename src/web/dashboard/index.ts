/** The dashboard: an account's view of itself and its sites, one file for each page. */
import type { Route } from "../../routes/context.ts";
import { endOneSession, endOtherSessions, revokeToken, showAccount, submitPassword } from "./account.ts";
import { changePreview, deployByForm, makeLive, saveSettings } from "./change-site.ts";
import { showChanges } from "./changes.ts";
import {
  askToDeleteAccount,
  askToDeleteSite,
  askToDeleteSites,
  deleteChosenSites,
  deleteOneSite,
  deleteOwnAccount,
} from "./deletions.ts";
import { decideOnComment, openAsOwner, saveCommentSettings } from "./comments/as-owner.ts";
import { showComments } from "./comments/page.ts";
import { makeToken, showMakeToken } from "./deploy-tokens.ts";
import { showSite } from "./site.ts";
import { showSites } from "./sites.ts";

export const DASHBOARD: readonly Route[] = [
  ["GET", "/dashboard", showSites],
  ["GET", "/dashboard/delete", askToDeleteSites],
  ["POST", "/dashboard/delete", deleteChosenSites],
  ["GET", "/dashboard/sites/:id", showSite],
  ["POST", "/dashboard/sites/:id/deploys", deployByForm, "file_form"],
  ["POST", "/dashboard/sites/:id/rollback", makeLive],
  ["POST", "/dashboard/sites/:id/previews", changePreview],
  ["POST", "/dashboard/sites/:id/settings", saveSettings],
  ["GET", "/dashboard/sites/:id/changes", showChanges],
  ["GET", "/dashboard/sites/:id/delete", askToDeleteSite],
  ["POST", "/dashboard/sites/:id/delete", deleteOneSite],
  ["GET", "/dashboard/sites/:id/comments", showComments],
  ["POST", "/dashboard/sites/:id/comments/settings", saveCommentSettings],
  ["POST", "/dashboard/sites/:id/comments/decide", decideOnComment],
  ["POST", "/dashboard/sites/:id/comments/owner", openAsOwner],
  ["GET", "/dashboard/account", showAccount],
  ["POST", "/dashboard/account/sessions/end-others", endOtherSessions],
  ["POST", "/dashboard/account/sessions/:id/end", endOneSession],
  ["GET", "/dashboard/account/tokens", showMakeToken],
  ["POST", "/dashboard/account/tokens", makeToken],
  ["POST", "/dashboard/account/tokens/:id/revoke", revokeToken],
  ["POST", "/dashboard/account/password", submitPassword],
  ["GET", "/dashboard/account/delete", askToDeleteAccount],
  ["POST", "/dashboard/account/delete", deleteOwnAccount],
];
