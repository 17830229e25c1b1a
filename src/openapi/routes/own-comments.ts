/** Who one is on a site's own host, and what the owner's browser decides there (COMMENTS 2). */
import { type Answer, json, ok, type Operation, type Operations } from "../operation.ts";
import { object, ref, text } from "../schema.ts";
import { MEMBER_CODES, NOTE } from "./comments.ts";
import { CURSOR, LD_JSON, STATE } from "./moderation.ts";
import { COMMENT_PATH } from "./visitors.ts";

const tag = "On a site's host";

const HERE = ["unknown_host", "site_expired", "site_disabled", "comments_off", "cross_origin"] as const;
const entered: Readonly<Record<number, Answer>> = {
  204: { description: "A cookie says so.", headers: ["Set-Cookie"] },
};

const decision = (id: string, summary: string): Operation => ({
  id,
  tag,
  summary,
  who: "owner_here",
  path: COMMENT_PATH,
  body: { required: false, content: json(NOTE) },
  answers: ok("The thread as it is now.", ref("Thread")),
  codes: [...MEMBER_CODES, "not_found", "cross_origin", "site_frozen", "rate_limited"],
});

export const OWN_COMMENTS: Operations = {
  "GET /_svc/comments/me": {
    id: "readVisitor",
    tag,
    summary: "Who one is on this site",
    who: "visitor_reads",
    answers: ok("The visitor.", ref("Visitor")),
  },
  "PATCH /_svc/comments/me": {
    id: "renameVisitor",
    tag,
    summary: "Take another name",
    description: "Earlier comments show it too; in mode `approved`, to others from the next approval on.",
    who: "visitor",
    body: {
      required: true,
      content: json(object({ name: text("1 to 40 characters.") }), { name: "Ann" }),
    },
    answers: { 200: { ...ok("The visitor.", ref("Visitor"))[200]!, headers: ["Set-Cookie"] } },
    codes: [...MEMBER_CODES, "name_reserved"],
  },
  "DELETE /_svc/comments/me": {
    id: "eraseVisitor",
    tag,
    summary: "Erase all that one wrote here",
    who: "visitor",
    answers: { 204: { description: "It is erased.", headers: ["Set-Cookie"] } },
  },
  "GET /_svc/comments/me/export": {
    id: "exportVisitor",
    tag,
    summary: "Get all that one wrote here",
    who: "visitor_reads",
    answers: {
      200: { description: "As annotations.", content: { [LD_JSON]: { schema: ref("AnnotationFile") } } },
    },
  },
  "POST /_svc/comments/passcode": {
    id: "enterPasscode",
    tag,
    summary: "Give the passcode",
    who: "no_one",
    body: { required: true, content: json(object({ passcode: text("As it was told.") })) },
    answers: entered,
    codes: [...MEMBER_CODES, ...HERE, "wrong_passcode", "rate_limited"],
  },
  "POST /_svc/comments/owner": {
    id: "enterAsOwner",
    tag,
    summary: "Give an owner's code",
    who: "no_one",
    body: { required: true, content: json(object({ code: text("`svc_owner_…`.") })) },
    answers: entered,
    codes: [...MEMBER_CODES, ...HERE, "invalid_code", "rate_limited", "storage_full"],
  },
  "GET /_svc/comments/queue": {
    id: "readQueueHere",
    tag,
    summary: "List what waits for a decision",
    who: "owner_here",
    query: [STATE, CURSOR],
    answers: ok("A page of it.", ref("Queue")),
    codes: ["invalid_input"],
  },
  "POST /_svc/comments/c_:id/approve": decision("approveHere", "Show a comment to everybody"),
  "POST /_svc/comments/c_:id/reject": decision("rejectHere", "Hide a comment for good"),
  "POST /_svc/comments/c_:id/resolve": decision("resolveHere", "Settle a thread"),
  "POST /_svc/comments/c_:id/reopen": decision("reopenHere", "Open a thread again"),
};
