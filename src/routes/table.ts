/** The API, row by row, in the order of SPEC. Who may call what is decided in each handler's first lines. */
import {
  changeSite,
  deleteAccount,
  deleteSite,
  deleteSites,
  endSession,
  listSessions,
  listSites,
  readAccount,
  readUsage,
} from "./account.ts";
import { login, logout, signup } from "./auth.ts";
import { bulkAttach, claim } from "./claim.ts";
import { makeChallenge } from "./challenge.ts";
import type { Handler, Route } from "./context.ts";
import { COMMENTS } from "./comments.ts";
import { createDeployToken, listDeployTokens, revokeDeployToken } from "./deploy-tokens.ts";
import { createSite, redeploy } from "./deploys/deploy.ts";
import { explain } from "./explain.ts";
import { planDeploy } from "./deploys/plan.ts";
import { pollDevice, startDevice } from "./device.ts";
import { makePreview } from "./deploys/preview.ts";
import { changePassword } from "./own-password.ts";
import { endPreview, listPreviews, promotePreview } from "./previews.ts";
import { readScreenshot } from "./renders.ts";
import { changeSettings, readSettings } from "./settings.ts";
import { readSite, revokeTokens, rollback } from "./sites.ts";

const health: Handler = async () => ({ ok: true });

/** Clients hard-code none of these. */
const limits: Handler = async ({ parts: { config } }) => ({
  max_files: config.max_files,
  max_bytes: config.max_bytes,
  max_zip_bytes: config.max_zip_bytes,
  anonymous_ttl_ms: config.anonymous_ttl,
});

export const TABLE: readonly Route[] = [
  ["GET", "/healthz", health, "no_session"],
  ["GET", "/limits", limits, "no_session"],
  ["POST", "/challenge", makeChallenge, "no_session"],
  ["POST", "/sites", createSite],
  ["POST", "/sites/:id/deploys", redeploy],
  ["POST", "/sites/:id/plan", planDeploy],
  ["POST", "/sites/:id/rollback", rollback],
  ["POST", "/sites/:id/previews", makePreview],
  ["GET", "/sites/:id/previews", listPreviews],
  ["DELETE", "/sites/:id/previews/:name", endPreview],
  ["POST", "/sites/:id/previews/:name/promote", promotePreview],
  ["GET", "/sites/:id", readSite],
  ["GET", "/sites/:id/explain", explain],
  ["GET", "/sites/:id/settings", readSettings],
  ["PATCH", "/sites/:id/settings", changeSettings],
  ["GET", "/sites/:id/screenshots/:version_id", readScreenshot],
  ["POST", "/sites/:id/claim", claim],
  ["DELETE", "/sites/:id/manage-tokens", revokeTokens],
  ["POST", "/account/bulk-attach", bulkAttach],
  ["GET", "/account/sites", listSites],
  ["GET", "/account/usage", readUsage],
  ["PATCH", "/account/sites/:id", changeSite],
  ["DELETE", "/account/sites/:id", deleteSite],
  ["POST", "/account/sites/bulk-delete", deleteSites],
  ["GET", "/account", readAccount],
  ["DELETE", "/account", deleteAccount],
  ["POST", "/account/password", changePassword],
  ["GET", "/account/sessions", listSessions],
  ["DELETE", "/account/sessions/:id", endSession],
  ["POST", "/account/tokens", createDeployToken],
  ["GET", "/account/tokens", listDeployTokens],
  ["DELETE", "/account/tokens/:id", revokeDeployToken],
  ["POST", "/auth/signup", signup, "no_session"],
  ["POST", "/auth/login", login, "no_session"],
  ["POST", "/auth/logout", logout],
  ["POST", "/auth/device/code", startDevice, "no_session"],
  ["POST", "/auth/device/token", pollDevice, "no_session"],
  ...COMMENTS,
];
