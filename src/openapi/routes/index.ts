/** All descriptions by the name of their route. */
import type { Operations } from "../operation.ts";
import { ACCOUNT } from "./account.ts";
import { COMMENTS } from "./comments.ts";
import { DEPLOY_TOKENS } from "./deploy-tokens.ts";
import { DEPLOYS } from "./deploys.ts";
import { FEEDS } from "./feeds.ts";
import { MCP } from "./mcp.ts";
import { MODERATION } from "./moderation.ts";
import { OWN_COMMENTS } from "./own-comments.ts";
import { PLAN } from "./plan.ts";
import { PREVIEWS } from "./previews.ts";
import { SERVER } from "./server.ts";
import { SETTINGS } from "./settings.ts";
import { SIGN_IN } from "./sign-in.ts";
import { SITES } from "./sites.ts";
import { VISITORS } from "./visitors.ts";

export const OPERATIONS: Operations = {
  ...SERVER,
  ...DEPLOYS,
  ...PLAN,
  ...PREVIEWS,
  ...SITES,
  ...SETTINGS,
  ...ACCOUNT,
  ...DEPLOY_TOKENS,
  ...SIGN_IN,
  ...COMMENTS,
  ...MODERATION,
  ...MCP,
  ...VISITORS,
  ...OWN_COMMENTS,
  ...FEEDS,
};
