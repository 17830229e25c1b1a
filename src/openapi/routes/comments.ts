/** How a site's comments are set up, on the API's host (COMMENTS 2 and 6). */
import { json, ok, type Operations } from "../operation.ts";
import { list, object, oneOf, orNull, ref, text, whole } from "../schema.ts";
import { AGENT_SCOPES, WEBHOOK_EVENTS } from "../schemas/comments.ts";
import { COMMENT_MODES } from "../schemas/sites.ts";

/** What a body is refused with below `/comments/`, on both hosts. */
export const MEMBER_CODES = ["invalid_json", "invalid_input", "body_too_large", "unsupported_media_type"] as const;

const webhook = orNull(
  object(
    {
      url: text("On the internet.", { maxLength: 2000, format: "uri" }),
      events: list(oneOf("What to tell.", WEBHOOK_EVENTS), "Some of them.", { minItems: 1 }),
      secret: text("Signs the letters.", { minLength: 16, maxLength: 200 }),
    },
    {},
    { description: "Where to send letters; null: nowhere." },
  ),
);

/** None but a site's manage_token or its owner's session. */
const shared = { tag: "Comments", who: { site: null } } as const;

export const COMMENTS: Operations = {
  "GET /sites/:id/comments/settings": {
    ...shared,
    id: "readCommentSettings",
    summary: "Read how comments are set up",
    answers: ok("The settings, without any secret.", ref("CommentSettings"), {
      mode: "approved",
      last_mode: "approved",
      passcode_set: false,
      webhook: null,
    }),
  },
  "PATCH /sites/:id/comments/settings": {
    ...shared,
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
            passcode: text("Opens the comments in mode `passcode`.", { minLength: 8 }),
            webhook,
          },
          { minProperties: 1 },
        ),
        { mode: "approved" },
      ),
    },
    answers: ok("The settings as they are now.", ref("CommentSettings")),
    codes: [...MEMBER_CODES, "site_disabled", "rate_limited"],
  },
  "POST /sites/:id/comments/owner-code": {
    ...shared,
    id: "makeOwnerCode",
    summary: "Make a link that lets a browser moderate",
    body: { required: false, content: json({ type: "object" }, {}) },
    answers: ok("The link, for 5 minutes and once.", ref("OwnerCode")),
    codes: [...MEMBER_CODES, "site_disabled", "rate_limited"],
  },
  "POST /sites/:id/comments/tokens": {
    ...shared,
    id: "makeAgentToken",
    summary: "Make a token for an agent",
    body: {
      required: true,
      content: json(
        object(
          {
            name: text("Shown as the author of what it writes.", { minLength: 1, maxLength: 40 }),
            scopes: list(oneOf("A scope.", AGENT_SCOPES), "What it may.", { minItems: 1 }),
          },
          { expires_in_days: whole("Days.", { minimum: 1, maximum: 90, default: 90 }) },
        ),
        { name: "docs-bot", scopes: ["read", "reply"] },
      ),
    },
    answers: { 201: { description: "The token, shown here and never again.", content: json(ref("NewAgentToken")) } },
    codes: [...MEMBER_CODES, "site_disabled", "rate_limited"],
  },
  "GET /sites/:id/comments/tokens": {
    ...shared,
    id: "listAgentTokens",
    summary: "List the tokens of agents",
    answers: ok("Those that have not ended.", ref("AgentTokens")),
  },
  "DELETE /sites/:id/comments/tokens/:token": {
    ...shared,
    id: "endAgentToken",
    summary: "End a token of an agent",
    path: { id: ref("SiteId"), token: ref("AgentTokenId") },
    answers: { 204: { description: "It has ended." } },
    codes: ["not_found", "site_disabled", "rate_limited"],
  },
};

/** For a route that takes a note to its decision. */
export const NOTE = object(
  {},
  { note: { type: ["string", "null"], maxLength: 1000, description: "Why, for the history." } },
);
