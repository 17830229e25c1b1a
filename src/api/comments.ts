/** Rows of comments on the API host: how they are set up, what keepers decide, and MCP for agents (COMMENTS 2 and 6). */
import type { ErrorCode } from "../base/errors.ts";
import { COMMENT_MODES } from "./shapes/common.ts";
import { json, ok, type Parameter, type ApiRow, type ApiRows } from "./row.ts";
import { anyOf, array, custom, integer, literal, nullable, object, oneOf, string } from "./shapes/builder.ts";
import { ANNOTATION_FILE } from "./shapes/annotations.ts";
import {
  AGENT_SCOPES,
  AGENT_TOKENS,
  COMMENT_SETTINGS,
  NEW_AGENT_TOKEN,
  OWNER_CODE,
  QUEUE,
  REJECTED_ALL,
  THREAD,
  THREADS,
  WEBHOOK_DELIVERIES,
  WEBHOOK_DELIVERY,
  WEBHOOK_EVENTS,
} from "./shapes/comments.ts";
import { AGENT_TOKEN_ID, SITE_ID } from "./shapes/common.ts";

/** The codes that a body is refused with below `/comments/`, on both hosts. */
export const MEMBER_CODES = ["invalid_json", "invalid_input", "body_too_large", "unsupported_media_type"] as const;

const webhook = nullable(
  object(
    {
      url: string("On the internet.", { maxLength: 2000, format: "uri" }),
      events: array(oneOf("What to tell.", WEBHOOK_EVENTS), "Some of them.", { minItems: 1 }),
      secret: string("Signs the letters.", { minLength: 16, maxLength: 200 }),
    },
    {},
    { description: "Where to send letters; null: nowhere." },
  ),
);

/** Rows for a site's manage_token and its owner's session alone. */
const by_keepers = { tag: "Comments", who: { site: null } } as const;

/** The body of a decision. */
const NOTE_TEXT = custom({ type: ["string", "null"], maxLength: 1000, description: "Why, for the history." });
export const NOTE = object({}, { note: NOTE_TEXT });

const of_comment = { id: SITE_ID, comment: string("Of `c_…`, what follows the underscore.") };

export const CURSOR: Parameter = {
  name: "cursor",
  description: "`next_cursor` of the answer before: goes on behind it.",
  shape: string("A place in the list."),
};

export const STATE: Parameter = {
  name: "state",
  description: "What waits for a decision, what readers reported, or what was rejected.",
  shape: oneOf("A queue.", ["pending", "reported", "rejected"], { default: "pending" }),
};

export const PART: Parameter = {
  name: "part",
  description: "Fifty threads of it, from 1; `last` and any number past the last are the last.",
  shape: string("A number, or `last`.", { default: "1" }),
};

export const IF_MATCH: Parameter = {
  name: "If-Match",
  description: "The comment's ETag: nothing is done where it has changed since.",
  shape: string("Entity tags."),
};

export const LD_JSON = "application/ld+json";

const decision = (id: string, summary: string, more: readonly ErrorCode[] = []): ApiRow<{ site: null }> => ({
  ...by_keepers,
  id,
  summary,
  path: of_comment,
  body: { required: false, content: json(NOTE, { note: "Thank you" }) },
  answers: ok("The thread as it is now.", THREAD),
  codes: [...MEMBER_CODES, ...more, "not_found", "comments_off", "site_frozen", "site_disabled", "rate_limited"],
});

const RPC_VERSION = literal("2.0", "JSON-RPC's version.");
const RPC_ID = custom({ type: ["string", "integer"], description: "The caller's name for the call." });

const MESSAGE = object(
  { jsonrpc: RPC_VERSION },
  { id: RPC_ID, method: string("As MCP names it."), params: custom({ type: "object", description: "Its arguments." }) },
);

const RESULT = object({
  jsonrpc: RPC_VERSION,
  id: RPC_ID,
  result: custom({ type: "object", description: "By method, as MCP says." }),
});

const FAILURE = object({
  jsonrpc: RPC_VERSION,
  id: custom({ type: ["string", "integer", "null"], description: "Null where none could be read." }),
  error: object(
    { code: custom({ type: "integer", description: "JSON-RPC's, or MCP's own." }), message: string("What is wrong.") },
    { data: custom({ type: "object", description: "What would be right." }) },
  ),
});

export const COMMENT_ROWS = {
  "GET /sites/:id/comments/settings": {
    ...by_keepers,
    id: "readCommentSettings",
    summary: "Read how comments are set up",
    answers: ok("The settings, without any secret.", COMMENT_SETTINGS, {
      mode: "approved",
      last_mode: "approved",
      passcode_set: false,
      webhook: null,
    }),
    codes: [],
  },
  "PATCH /sites/:id/comments/settings": {
    ...by_keepers,
    id: "changeCommentSettings",
    summary: "Turn comments on or off, or set them up",
    description:
      "`passcode` needs a passcode, in this call or in one before. Setting one ends what the old one opened.",
    body: {
      required: true,
      content: json(
        object(
          {},
          {
            mode: oneOf("Who may read and post.", COMMENT_MODES),
            passcode: string("Opens the comments in mode `passcode`.", { minLength: 8 }),
            webhook,
          },
          { minProperties: 1 },
        ),
        { mode: "approved" },
      ),
    },
    answers: ok("The settings as they are now.", COMMENT_SETTINGS),
    codes: [...MEMBER_CODES, "site_disabled", "rate_limited"],
  },
  "GET /sites/:id/comments/webhook/deliveries": {
    ...by_keepers,
    id: "listWebhookDeliveries",
    summary: "List the last letters of the webhook",
    answers: ok("Those that were tried, with what became of each.", WEBHOOK_DELIVERIES),
    codes: [],
  },
  "POST /sites/:id/comments/webhook/deliveries/:delivery/again": {
    ...by_keepers,
    id: "resendWebhookDelivery",
    summary: "Send a letter of the webhook again",
    description: "Under the same id, with the comment as it is now. A receiver that failed is tried at once.",
    path: { id: SITE_ID, delivery: string("`msg_…`, as the list has it.") },
    body: { required: false, content: json(custom({ type: "object" }), {}) },
    answers: ok("The letter, which waits.", WEBHOOK_DELIVERY),
    codes: [...MEMBER_CODES, "not_found", "site_disabled", "rate_limited"],
  },
  "POST /sites/:id/comments/owner-code": {
    ...by_keepers,
    id: "makeOwnerCode",
    summary: "Make a link that lets a browser moderate",
    body: { required: false, content: json(custom({ type: "object" }), {}) },
    answers: ok("The link, for 5 minutes and once.", OWNER_CODE),
    codes: [...MEMBER_CODES, "site_disabled", "rate_limited"],
  },
  "POST /sites/:id/comments/tokens": {
    ...by_keepers,
    id: "makeAgentToken",
    summary: "Make a token for an agent",
    body: {
      required: true,
      content: json(
        object(
          {
            name: string("Shown as the author of what it writes.", { minLength: 1, maxLength: 40 }),
            scopes: array(oneOf("A scope.", AGENT_SCOPES), "What it may.", { minItems: 1 }),
          },
          { expires_in_days: integer("Days.", { minimum: 1, maximum: 90, default: 90 }) },
        ),
        { name: "docs-bot", scopes: ["read", "reply"] },
      ),
    },
    answers: { 201: { description: "The token, shown here and never again.", content: json(NEW_AGENT_TOKEN) } },
    codes: [...MEMBER_CODES, "name_reserved", "site_disabled", "rate_limited"],
  },
  "GET /sites/:id/comments/tokens": {
    ...by_keepers,
    id: "listAgentTokens",
    summary: "List the tokens of agents",
    answers: ok("Those that have not ended.", AGENT_TOKENS),
    codes: [],
  },
  "DELETE /sites/:id/comments/tokens/:token": {
    ...by_keepers,
    id: "endAgentToken",
    summary: "End a token of an agent",
    path: { id: SITE_ID, token: AGENT_TOKEN_ID },
    answers: { 204: { description: "It has ended." } },
    codes: ["not_found", "site_disabled", "rate_limited"],
  },
  "GET /sites/:id/comments/threads": {
    ...by_keepers,
    id: "listThreads",
    summary: "List threads, those that wait too",
    query: [
      { name: "page", description: "Of one page alone.", shape: string("Its path.", { examples: ["/guide.html"] }) },
      { name: "status", description: "Settled or not.", shape: oneOf("A status.", ["open", "resolved", "all"]) },
      CURSOR,
    ],
    answers: ok("A page of them.", THREADS),
    codes: ["invalid_input"],
  },
  "GET /sites/:id/comments/queue": {
    ...by_keepers,
    id: "readQueue",
    summary: "List what waits for a decision",
    query: [STATE, CURSOR],
    answers: ok("A page of it, with the reports of each.", QUEUE),
    codes: ["invalid_input"],
  },
  "POST /sites/:id/comments/c_:comment/approve": decision("approveComment", "Show a comment to everybody", [
    "page_full",
    "site_full",
  ]),
  "POST /sites/:id/comments/c_:comment/reject": decision("rejectComment", "Hide a comment for good"),
  "POST /sites/:id/comments/c_:comment/reject-all": {
    ...by_keepers,
    id: "rejectAllComments",
    summary: "Hide all that a comment's visitor wrote, or that came from its network",
    description: "What waits and what shows. Which network that is is never told, and kept as a keyed hash alone.",
    path: of_comment,
    body: {
      required: true,
      content: json(object({ of: oneOf("Whose.", ["visitor", "network"]) }, { note: NOTE_TEXT }), { of: "visitor" }),
    },
    answers: ok("How many were hidden now.", REJECTED_ALL, { rejected: 12 }),
    codes: [...MEMBER_CODES, "not_found", "comments_off", "site_frozen", "site_disabled", "rate_limited"],
  },
  "POST /sites/:id/comments/c_:comment/resolve": decision("resolveThread", "Settle a thread"),
  "POST /sites/:id/comments/c_:comment/reopen": decision("reopenThread", "Open a thread again"),
  "DELETE /sites/:id/comments/c_:comment": {
    ...by_keepers,
    id: "deleteComment",
    summary: "Delete a comment; the first of a thread goes with its replies",
    description: "With a session alone: a manage_token is 403 `forbidden`.",
    path: of_comment,
    headers: [IF_MATCH],
    answers: { 204: { description: "It is gone." } },
    codes: ["not_found", "changed", "comments_off", "site_frozen", "site_disabled", "rate_limited"],
  },
  "GET /sites/:id/comments/c_:comment/history": {
    ...by_keepers,
    id: "readCommentHistory",
    summary: "Read what was decided of a comment",
    path: of_comment,
    answers: {
      200: { description: "The decisions, as annotations.", content: { [LD_JSON]: { shape: ANNOTATION_FILE } } },
    },
    codes: ["not_found"],
  },
  "POST /sites/:id/comments/mcp": {
    id: "callTools",
    tag: "Comments",
    summary: "Speak MCP with the comments of a site",
    description: "MCP 2026-07-28 and 2025-11-25 and older, one message a call. Its own errors are JSON-RPC's.",
    who: "agent",
    headers: ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"].map((name) => ({
      name,
      description: "Asked of MCP 2026-07-28: the same as in the body.",
      shape: string("As MCP says."),
    })),
    body: {
      required: true,
      content: json(MESSAGE, { jsonrpc: "2.0", id: 1, method: "ping" }),
    },
    answers: {
      200: { description: "What came of it.", content: json(anyOf([RESULT, FAILURE])) },
      202: { description: "A notification was taken." },
      400: { description: "No message of MCP.", content: json(FAILURE) },
    },
    codes: ["body_too_large", "unsupported_media_type", "rate_limited"],
  },
} satisfies ApiRows;
