/** The comments of a site for agents (COMMENTS 6), where the operator turned them on. */
import { json, type Operations } from "../operation.ts";
import { always, object, type Schema, text } from "../schema.ts";

const VERSION = always("2.0", "JSON-RPC's version.");
const ID: Schema = { type: ["string", "integer"], description: "The caller's name for the call." };

const MESSAGE = object(
  { jsonrpc: VERSION },
  { id: ID, method: text("As MCP names it."), params: { type: "object", description: "Its arguments." } },
);
const RESULT = object({ jsonrpc: VERSION, id: ID, result: { type: "object", description: "By method, as MCP says." } });
const FAILURE = object({
  jsonrpc: VERSION,
  id: { type: ["string", "integer", "null"], description: "Null where none could be read." },
  error: object(
    { code: { type: "integer", description: "JSON-RPC's, or MCP's own." }, message: text("What is wrong.") },
    { data: { type: "object", description: "What would be right." } },
  ),
});

export const MCP: Operations = {
  "POST /sites/:id/comments/mcp": {
    id: "callTools",
    tag: "Comments",
    summary: "Speak MCP with the comments of a site",
    description: "MCP 2026-07-28 and 2025-11-25 and older, one message a call. Its own errors are JSON-RPC's.",
    who: "agent",
    headers: ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"].map((name) => ({
      name,
      description: "Asked of MCP 2026-07-28: the same as in the body.",
      schema: text("As MCP says."),
    })),
    body: {
      required: true,
      content: json(MESSAGE, { jsonrpc: "2.0", id: 1, method: "ping" }),
    },
    answers: {
      200: { description: "What came of it.", content: json({ anyOf: [RESULT, FAILURE] }) },
      202: { description: "A notification was taken." },
      400: { description: "No message of MCP.", content: json(FAILURE) },
    },
    codes: ["body_too_large", "unsupported_media_type", "rate_limited"],
  },
};
