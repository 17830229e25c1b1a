/** What visitors read and write on a site's own host (COMMENTS 2). */
import { type Answer, type Content, fields, json, type Operations } from "../operation.ts";
import { always, object, oneOf, orNull, ref, type Schema, text } from "../schema.ts";
import { REPORT_REASONS } from "../schemas/comments.ts";
import { IF_MATCH, LD_JSON } from "./moderation.ts";

const tag = "On a site's host";
export const COMMENT_PATH = { id: text("Of `c_…`, what follows the underscore.") };

const pageOf = (text_schema: Schema) => [{ name: "page", description: "Which page.", schema: text_schema }];
const PAGE = text("Its path.", { examples: ["/guide.html"] });

const body = object(
  { value: text("At most 4,000 characters.") },
  { type: always("TextualBody", "Its kind."), format: always("text/plain", "Never HTML.") },
);
const source = text("The page.", { examples: ["http://quiet-heron-7f3k.localhost:8787/guide.html"] });
const target = {
  description: "A page's address; the same with a passage; of a reply, the address of its thread.",
  anyOf: [
    { type: "string" },
    object(
      { source },
      {
        type: always("SpecificResource", "Its kind."),
        selector: { anyOf: [ref("TextQuoteSelector"), { type: "array" }] },
      },
    ),
  ],
} as const;
const SENT = object(
  { body: { anyOf: [body, { type: "string" }], description: "What to say." }, target },
  {
    type: always("Annotation", "Its kind."),
    motivation: oneOf("A thread, or a reply.", ["commenting", "replying"]),
    canonical: text("The author's own name for it, an IRI: sent again, nothing is stored twice.", { maxLength: 200 }),
  },
);
const annotation: Content = { [LD_JSON]: { schema: ref("Annotation") } };
const sent: Content = {
  "application/json": {
    schema: SENT,
    example: {
      body: { value: "Is this still true?" },
      target: "http://quiet-heron-7f3k.localhost:8787/guide.html",
    },
  },
  [LD_JSON]: { schema: SENT },
};
const written = (description: string): Answer => ({
  description,
  content: annotation,
  headers: ["Location", "ETag", "Svc-Visibility", "Set-Cookie"],
});
const held: Answer = { description: "It is what If-None-Match names." };
const FULL = ["page_full", "thread_full", "site_full"] as const;
const WRITTEN = ["invalid_annotation", "invalid_input", "body_too_large", "unsupported_media_type"] as const;
const page_text: Content = { "text/html": { schema: { type: "string" } } };

export const VISITORS: Operations = {
  "POST /_svc/report": {
    id: "reportSite",
    tag,
    summary: "Tell the operator what is wrong with a site",
    who: "no_one",
    body: {
      required: true,
      content: fields(
        object(
          { reason: text("In a word or two.", { minLength: 1, maxLength: 200 }) },
          { text: text("More of it.", { maxLength: 5000 }), email: text("For an answer.", { maxLength: 254 }) },
        ),
        { reason: "phishing", text: "The form on /login sends my password elsewhere" },
      ),
    },
    answers: {
      202: { description: "The operator reads it.", content: json(object({ report_id: ref("ReportId") })) },
    },
    codes: [
      "invalid_json",
      ...WRITTEN.slice(1),
      "cross_origin",
      "unknown_host",
      "unknown_version",
      "site_expired",
      "site_disabled",
      "rate_limited",
      "storage_full",
    ],
  },
  "POST /_svc/comments/": {
    id: "postComment",
    tag,
    summary: "Begin a thread, or answer one",
    description:
      "The first post makes a visitor: the answer sets their cookie. Sent again under the same `canonical` it is 200.",
    who: "writer",
    body: { required: true, content: sent },
    answers: { 201: written("It is there."), 200: written("It was there already.") },
    codes: [...WRITTEN, ...FULL, "not_found", "unknown_page", "unknown_thread", "anchor_too_long"],
  },
  "GET /_svc/comments/threads": {
    id: "readThreads",
    tag,
    summary: "Read the threads of a page",
    who: "reader",
    query: [
      ...pageOf(PAGE).map((one) => ({ ...one, required: true as const })),
      { name: "since", description: "`cursor` of the answer before.", schema: text("A cursor.") },
    ],
    answers: {
      200: { description: "What this viewer may see.", content: json(ref("ThreadsView")), headers: ["ETag"] },
      304: { ...held, headers: ["ETag"] },
    },
    codes: ["not_found"],
  },
  "GET /_svc/comments/c_:id": {
    id: "readComment",
    tag,
    summary: "Read a comment",
    who: "reader",
    path: COMMENT_PATH,
    answers: {
      200: { description: "The comment.", content: annotation, headers: ["ETag", "Allow"] },
      304: { ...held, headers: ["ETag"] },
    },
    codes: ["not_found", "deleted"],
  },
  "PUT /_svc/comments/c_:id": {
    id: "editComment",
    tag,
    summary: "Edit one's own comment",
    description: "For 15 minutes. The text alone is read. One that was approved waits again.",
    who: "author",
    path: COMMENT_PATH,
    headers: [{ ...IF_MATCH, required: true }],
    body: { required: true, content: sent },
    answers: {
      200: { description: "As it is now.", content: annotation, headers: ["ETag", "Svc-Visibility"] },
    },
    codes: [...WRITTEN, "forbidden", "edit_window_over", "not_found", "deleted", "changed", "if_match_required"],
  },
  "DELETE /_svc/comments/c_:id": {
    id: "deleteOwnComment",
    tag,
    summary: "Delete one's own comment, or as the owner any",
    who: "author",
    path: COMMENT_PATH,
    headers: [IF_MATCH],
    answers: { 204: { description: "It is gone." } },
    codes: ["forbidden", "not_found", "deleted", "changed"],
  },
  "POST /_svc/comments/c_:id/report": {
    id: "reportComment",
    tag,
    summary: "Tell the owner what is wrong with a comment",
    description: "On a frozen site too. The answer is the same whatever there is.",
    who: "no_one",
    path: COMMENT_PATH,
    body: {
      required: true,
      content: fields(
        object(
          { reason: oneOf("Why.", REPORT_REASONS) },
          { text: orNull(text("In one's own words.", { maxLength: 2000 })) },
        ),
        { reason: "spam" },
      ),
    },
    answers: { 202: { description: "Taken.", content: json(ref("Done"), { ok: true }) } },
    codes: ["invalid_input", "unknown_host", "site_expired", "site_disabled", "comments_off", "storage_full"],
  },
  "GET /_svc/comments/view": {
    id: "viewThreads",
    tag,
    summary: "The threads of a page as a page, without a script",
    who: "no_one",
    query: pageOf({ ...PAGE, default: "/" }),
    answers: { 200: { description: "The page, with a form.", content: page_text } },
    codes: ["unknown_host", "site_expired", "site_disabled", "comments_off", "not_found"],
  },
  "POST /_svc/comments/view": {
    id: "postByForm",
    tag,
    summary: "Post by the form of that page",
    description: "What is refused is told on the page itself, under the status of the refusal.",
    who: "writer",
    body: {
      required: true,
      content: {
        "application/x-www-form-urlencoded": {
          schema: object(
            {},
            {
              page: text("Which page."),
              text: text("What to say."),
              thread: text("Which thread to answer."),
              stamp: text("Of the form."),
              website: text("To be left empty."),
              passcode: text("In place of all that."),
            },
          ),
        },
      },
    },
    answers: {
      200: { description: "Look it over and send it once more.", content: page_text },
      303: { description: "Posted, and back to the page.", headers: ["Location", "Set-Cookie"] },
    },
    codes: ["not_found", "body_too_large", "invalid_json", "invalid_input"],
  },
};
