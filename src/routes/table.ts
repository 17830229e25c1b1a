/** The API: each row of src/api with its handler, which runs once the row has let the caller in. */
import { API, MCP } from "../api/index.ts";
import * as comments from "../comments/index.ts";
import type { Config } from "../config/index.ts";
import type { Method } from "../http/match.ts";
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
import { admit } from "./caller.ts";
import { bulkAttach, claim } from "./claim.ts";
import { makeChallenge } from "./challenge.ts";
import type { ApiHandler, Handler, Route } from "./context.ts";
import { ofComments, speakMcp } from "./comments.ts";
import { createDeployToken, listDeployTokens, revokeDeployToken } from "./deploy-tokens.ts";
import { createSite, redeploy } from "./deploys/deploy.ts";
import { explain } from "./explain.ts";
import { planDeploy } from "./deploys/plan.ts";
import { describe } from "./openapi.ts";
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

type Name = keyof typeof API;

type WhoOf<Row extends Name> = (typeof API)[Row]["who"];

const HANDLERS: { readonly [Row in Name]: ApiHandler<WhoOf<Row>> } = {
  "GET /healthz": health,
  "GET /limits": limits,
  "POST /challenge": makeChallenge,
  "POST /sites": createSite,
  "POST /sites/:id/deploys": redeploy,
  "POST /sites/:id/plan": planDeploy,
  "POST /sites/:id/rollback": rollback,
  "POST /sites/:id/previews": makePreview,
  "GET /sites/:id/previews": listPreviews,
  "DELETE /sites/:id/previews/:name": endPreview,
  "POST /sites/:id/previews/:name/promote": promotePreview,
  "GET /sites/:id": readSite,
  "GET /sites/:id/explain": explain,
  "GET /sites/:id/settings": readSettings,
  "PATCH /sites/:id/settings": changeSettings,
  "GET /sites/:id/screenshots/:version_id": readScreenshot,
  "POST /sites/:id/claim": claim,
  "DELETE /sites/:id/manage-tokens": revokeTokens,
  "POST /account/bulk-attach": bulkAttach,
  "GET /account/sites": listSites,
  "GET /account/usage": readUsage,
  "PATCH /account/sites/:id": changeSite,
  "DELETE /account/sites/:id": deleteSite,
  "POST /account/sites/bulk-delete": deleteSites,
  "GET /account": readAccount,
  "DELETE /account": deleteAccount,
  "POST /account/password": changePassword,
  "GET /account/sessions": listSessions,
  "DELETE /account/sessions/:id": endSession,
  "POST /account/tokens": createDeployToken,
  "GET /account/tokens": listDeployTokens,
  "DELETE /account/tokens/:id": revokeDeployToken,
  "POST /auth/signup": signup,
  "POST /auth/login": login,
  "POST /auth/logout": logout,
  "POST /auth/device/code": startDevice,
  "POST /auth/device/token": pollDevice,
  "GET /sites/:id/comments/settings": ofComments(comments.readSettings),
  "PATCH /sites/:id/comments/settings": ofComments(comments.changeSettings),
  "POST /sites/:id/comments/owner-code": ofComments(comments.makeOwnerCode),
  "POST /sites/:id/comments/tokens": ofComments(comments.makeToken, 201),
  "GET /sites/:id/comments/tokens": ofComments(comments.listTokens),
  "DELETE /sites/:id/comments/tokens/:token": ofComments(comments.endToken),
  "GET /sites/:id/comments/threads": ofComments(comments.listThreads),
  "GET /sites/:id/comments/queue": ofComments(comments.readQueue),
  "POST /sites/:id/comments/c_:comment/approve": ofComments(comments.deciding("approve")),
  "POST /sites/:id/comments/c_:comment/reject": ofComments(comments.deciding("reject")),
  "POST /sites/:id/comments/c_:comment/resolve": ofComments(comments.deciding("resolve")),
  "POST /sites/:id/comments/c_:comment/reopen": ofComments(comments.deciding("reopen")),
  "DELETE /sites/:id/comments/c_:comment": ofComments(comments.removeComment),
  "GET /sites/:id/comments/c_:comment/history": ofComments(comments.readHistory),
  "POST /sites/:id/comments/mcp": speakMcp,
  "GET /openapi.json": describe,
};

function routeOf<Row extends Name>(name: Row): Route {
  const { who } = API[name];
  const handle = HANDLERS[name];
  const [method, path] = name.split(" ") as [Method, string];
  const handler: Handler = async (ctx) => handle(Object.assign(ctx, await admit<WhoOf<Row>>(who, ctx)));
  return who === "no_one" || who === "agent" ? [method, path, handler, "no_session"] : [method, path, handler];
}

const ROUTES = new Map((Object.keys(API) as Name[]).map((name) => [name, routeOf(name)]));

/** The routes of a server with this configuration. */
export const apiRoutes = ({ mcp }: Pick<Config, "mcp">): readonly Route[] =>
  [...ROUTES].flatMap(([name, route]) => (name === MCP && mcp === "off" ? [] : [route]));
