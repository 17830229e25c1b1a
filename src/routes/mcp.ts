/** The row of MCP in the API's table, where the operator turned it on (COMMENTS 6). */
import type { createMcp } from "../comments/mcp/index.ts";
import type { Route } from "./context.ts";

/** Its token is in no cookie, so that no session is looked at. */
export const mcpRows = (mcp: ReturnType<typeof createMcp>): readonly Route[] => [
  ["POST", "/sites/:id/comments/mcp", ({ params, ...call }) => mcp({ ...call, site_id: params.id! }), "no_session"],
];
