/** What a site's keepers read and decide of its comments, on the API's host (COMMENTS 2). */
import { json, ok, type Operation, type Operations, type Parameter } from "../operation.ts";
import { oneOf, ref, text } from "../schema.ts";
import { MEMBER_CODES, NOTE } from "./comments.ts";

const shared = { tag: "Comments", who: { site: null } } as const;
const of_comment = { id: ref("SiteId"), comment: text("Of `c_…`, what follows the underscore.") };

export const CURSOR: Parameter = {
  name: "cursor",
  description: "`next_cursor` of the answer before: goes on behind it.",
  schema: text("A place in the list."),
};
export const STATE: Parameter = {
  name: "state",
  description: "What waits for a decision, what readers reported, or what was rejected.",
  schema: { ...oneOf("A queue.", ["pending", "reported", "rejected"]), default: "pending" },
};
export const IF_MATCH: Parameter = {
  name: "If-Match",
  description: "The comment's ETag: nothing is done where it has changed since.",
  schema: text("Entity tags."),
};
export const LD_JSON = "application/ld+json";

const decision = (id: string, summary: string): Operation => ({
  ...shared,
  id,
  summary,
  path: of_comment,
  body: { required: false, content: json(NOTE, { note: "Thank you" }) },
  answers: ok("The thread as it is now.", ref("Thread")),
  codes: [...MEMBER_CODES, "not_found", "comments_off", "site_frozen", "site_disabled", "rate_limited"],
});

export const MODERATION: Operations = {
  "GET /sites/:id/comments/threads": {
    ...shared,
    id: "listThreads",
    summary: "List threads, those that wait too",
    query: [
      { name: "page", description: "Of one page alone.", schema: text("Its path.", { examples: ["/guide.html"] }) },
      { name: "status", description: "Settled or not.", schema: oneOf("A status.", ["open", "resolved", "all"]) },
      CURSOR,
    ],
    answers: ok("A page of them.", ref("Threads")),
    codes: ["invalid_input"],
  },
  "GET /sites/:id/comments/queue": {
    ...shared,
    id: "readQueue",
    summary: "List what waits for a decision",
    query: [STATE, CURSOR],
    answers: ok("A page of it, with the reports of each.", ref("Queue")),
    codes: ["invalid_input"],
  },
  "POST /sites/:id/comments/c_:comment/approve": decision("approveComment", "Show a comment to everybody"),
  "POST /sites/:id/comments/c_:comment/reject": decision("rejectComment", "Hide a comment for good"),
  "POST /sites/:id/comments/c_:comment/resolve": decision("resolveThread", "Settle a thread"),
  "POST /sites/:id/comments/c_:comment/reopen": decision("reopenThread", "Open a thread again"),
  "DELETE /sites/:id/comments/c_:comment": {
    ...shared,
    id: "deleteComment",
    summary: "Delete a comment; the first of a thread goes with its replies",
    description: "With a session alone: a manage_token is 403 `forbidden`.",
    path: of_comment,
    headers: [IF_MATCH],
    answers: { 204: { description: "It is gone." } },
    codes: ["not_found", "changed", "comments_off", "site_frozen", "site_disabled", "rate_limited"],
  },
  "GET /sites/:id/comments/c_:comment/history": {
    ...shared,
    id: "readCommentHistory",
    summary: "Read what was decided of a comment",
    path: of_comment,
    answers: {
      200: { description: "The decisions, as annotations.", content: { [LD_JSON]: { schema: ref("AnnotationFile") } } },
    },
    codes: ["not_found"],
  },
};
