/** The API: each row of src/api with its handler, which runs once the row has let the caller in. */
import type { Described } from "../api/document.ts";
import { API, MCP } from "../api/index.ts";
import type { OwnerHandler } from "../comments/context.ts";
import { OWNER_HANDLERS } from "../comments/index.ts";
import { limitOwner } from "../comments/limits.ts";
import { answerAgent } from "../comments/mcp.ts";
import { ACCESS_HANDLERS } from "./access.ts";
import type { Config } from "../config/index.ts";
import { answerEmpty, answerJson } from "../http/answers.ts";
import { customerOf } from "../http/context.ts";
import type { Method } from "../http/match.ts";
import { type AnswerOwnFile, ownFile } from "../http/own-file.ts";
import { ACCOUNT_HANDLERS } from "./account.ts";
import { changePassword, SIGN_IN_HANDLERS } from "./sign-in.ts";
import { admit } from "./caller.ts";
import { makeChallenge } from "./challenge.ts";
import type { ApiHandler, Handler, ApiHandlers, Route, WhoOf } from "./context.ts";
import { DEPLOY_TOKEN_HANDLERS } from "./deploy-tokens.ts";
import { DEPLOY_HANDLERS } from "./deploys/deploy.ts";
import { makePreview } from "./deploys/preview.ts";
import { explain } from "./explain.ts";
import { NAME_HANDLERS } from "./names.ts";
import { readScreenshot } from "./renders.ts";
import { SITE_HANDLERS } from "./sites.ts";
import { STATISTICS_HANDLERS } from "./statistics.ts";
import { VERSION_HANDLERS } from "./versions.ts";

const health: Handler = async () => ({ ok: true });

/** The limits, so that clients need not have them in their code. */
const limits: Handler = async ({ parts: { config } }) => ({
  max_files: config.max_files,
  max_bytes: config.max_bytes,
  max_zip_bytes: config.max_zip_bytes,
  anonymous_ttl_ms: config.anonymous_ttl,
  ...(config.anonymous === "off" && { anonymous: false as const }),
});

/** A handler of `/sites/:id/comments/…`; what it writes counts as its owner's. `status`: that of an answer with a body. */
const ofComments =
  (handle: OwnerHandler, status: 200 | 201 = 200): ApiHandler<{ site: null }> =>
  async ({
    request,
    exchange,
    caller,
    site,
    by,
    params,
    query,
    headers,
    client_address,
    parts: { comments: parts },
  }) => {
    if (request.method !== "GET" && request.method !== "HEAD")
      Object.assign(headers, await limitOwner({ site, parts }));
    const session = caller.kind === "account";
    const customer = customerOf(client_address());
    const done = await handle({ request, exchange, site, by, session, customer, params, query, parts });
    if (done instanceof Response) return done;
    return done === null ? answerEmpty(exchange) : answerJson(done, exchange, status);
  };

const COMMENT_HANDLERS = Object.fromEntries(
  Object.entries(OWNER_HANDLERS).map(([row, handle]) => [
    row,
    ofComments(handle, row === "POST /sites/:id/comments/tokens" ? 201 : 200),
  ]),
) as { readonly [Row in keyof typeof OWNER_HANDLERS]: ApiHandler<{ site: null }> };

/** Agents speak MCP: a token of the site's own opens it (COMMENTS 6). */
const speakMcp: Handler = ({ params, parts, ...call }) =>
  answerAgent({ ...parts.comments, store: parts.store }, { ...call, site_id: params.id! });

/** The document is made at the first request: most servers are never asked for it. */
async function documentFor(config: Described): Promise<AnswerOwnFile> {
  const { openapi } = await import("../api/document.ts");
  return ownFile({ content: JSON.stringify(openapi(config)), type: "application/json", kept: "checked" });
}

const documents = new WeakMap<Described, Promise<AnswerOwnFile>>();

/** `GET /openapi.json`. */
const describe: Handler = async (ctx) => {
  const { config, code } = ctx.parts;
  return (await documents.getOrInsertComputed(config, documentFor))(ctx, code);
};

const HANDLERS: ApiHandlers = {
  ...SIGN_IN_HANDLERS,
  ...DEPLOY_TOKEN_HANDLERS,
  ...ACCOUNT_HANDLERS,
  ...SITE_HANDLERS,
  ...STATISTICS_HANDLERS,
  ...NAME_HANDLERS,
  ...ACCESS_HANDLERS,
  ...VERSION_HANDLERS,
  ...DEPLOY_HANDLERS,
  "GET /healthz": health,
  "GET /limits": limits,
  "POST /challenge": makeChallenge,
  "POST /sites/:id/previews": makePreview,
  "GET /sites/:id/explain": explain,
  "GET /sites/:id/screenshots/:version_id": readScreenshot,
  "POST /account/password": changePassword,
  ...COMMENT_HANDLERS,
  "POST /sites/:id/comments/mcp": speakMcp,
  "GET /openapi.json": describe,
};

function routeOf<Row extends keyof ApiHandlers>(name: Row): Route {
  const { who } = API[name];
  const handle = HANDLERS[name];
  const [method, path] = name.split(" ") as [Method, string];
  const handler: Handler = async (ctx) => handle(Object.assign(ctx, await admit<WhoOf<Row>>(who, ctx)));
  return who === "no_one" || who === "agent" ? [method, path, handler, "no_session"] : [method, path, handler];
}

const ROUTES = new Map((Object.keys(API) as (keyof ApiHandlers)[]).map((name) => [name, routeOf(name)]));

/** The routes of a server with this configuration. */
export const apiRoutes = ({ mcp }: Pick<Config, "mcp">): readonly Route[] =>
  [...ROUTES].flatMap(([name, route]) => (name === MCP && mcp === "off" ? [] : [route]));
