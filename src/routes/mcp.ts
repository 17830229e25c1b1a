/** The row of MCP, which the operator turns on (COMMENTS 6). */
import { answerAgent } from "../comments/mcp/index.ts";
import type { Route } from "./context.ts";

/** A token of its own opens it: no session is looked at. */
export const MCP: Route = [
  "POST",
  "/sites/:id/comments/mcp",
  ({ params, parts, ...call }) =>
    answerAgent({ ...parts.comments, store: parts.store }, { ...call, site_id: params.id! }),
  "no_session",
];
