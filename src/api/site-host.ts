/** Rows of a site's own host: what visitors read and write of comments, feeds for other programs, and reports to the operator (COMMENTS 1 and 2). */
import { fields, json, ok, type RowAnswer, type RowContent, type Parameter, type ApiRow, type ApiRows } from "./row.ts";
import {
  anyOf,
  custom,
  integer,
  literal,
  nullable,
  object,
  oneOf,
  string,
  type Schema,
  type Shape,
} from "./shapes/builder.ts";
import { CURSOR, IF_MATCH, LD_JSON, MEMBER_CODES, NOTE, PART, STATE } from "./comments.ts";
import {
  ANNOTATION,
  ANNOTATION_FILE,
  COLLECTION,
  COLLECTION_PAGE,
  CONTAINER,
  SENT,
  TEXT_QUOTE_SELECTOR,
} from "./shapes/annotations.ts";
import { QUEUE, REPORT_REASONS, THREAD, THREADS_VIEW, VISITOR } from "./shapes/comments.ts";
import { REPORT_ID } from "./shapes/common.ts";
import { DONE } from "./shapes/sites.ts";

const tag = "On a site's host";
const COMMENT_PATH = { id: string("Of `c_…`, what follows the underscore.") };
const pageOf = (shape: Shape) => [{ name: "page", description: "Which page.", shape }];
const pagePath = (more: Schema = {}) => string("Its path.", { examples: ["/guide.html"], ...more });

const annotation: RowContent = { [LD_JSON]: { shape: ANNOTATION } };

const sent: RowContent = {
  "application/json": {
    shape: SENT,
    example: {
      body: { value: "Is this still true?" },
      target: "http://quiet-heron-7f3k.localhost:8787/guide.html",
    },
  },
  [LD_JSON]: { shape: SENT },
};

const written = (description: string): RowAnswer => ({
  description,
  content: annotation,
  headers: ["Location", "ETag", "Svc-Visibility", "Set-Cookie"],
});

const held: RowAnswer = { description: "It is what If-None-Match names." };
const FULL = ["page_full", "thread_full", "site_full"] as const;
const WRITTEN = ["invalid_annotation", "invalid_input", "body_too_large", "unsupported_media_type"] as const;
const EDITED = [...WRITTEN, "page_full", "site_full"] as const;
const page_text: RowContent = { "text/html": { shape: custom({ type: "string" }) } };
const ENTERING = ["unknown_host", "site_expired", "site_disabled", "comments_off", "cross_origin"] as const;

const entered: Readonly<Record<number, RowAnswer>> = {
  204: { description: "A cookie says so.", headers: ["Set-Cookie"] },
};

const decisionHere = (id: string, summary: string): ApiRow<"owner_here"> => ({
  id,
  tag,
  summary,
  who: "owner_here",
  path: COMMENT_PATH,
  body: { required: false, content: json(NOTE) },
  answers: ok("The thread as it is now.", THREAD),
  codes: [...MEMBER_CODES, "not_found", "cross_origin", "site_frozen", "rate_limited"],
});

const OFF = ["unknown_host", "site_expired", "site_disabled", "comments_off"] as const;
const PAGE_NUMBER: Parameter = { name: "page", description: "A page of it, from 0.", shape: integer("A number.") };

const IRIS: Parameter = {
  name: "iris",
  description: "Items as their addresses alone.",
  shape: literal("1", "The one value."),
};

const SOURCE: Parameter = { name: "source", description: "Of one page of the site.", shape: string("Its path.") };

const documents = (shape: Shape): ApiRow["answers"] => ({
  200: {
    description: "What is public; in mode `passcode`, what a grant sees.",
    content: { [LD_JSON]: { shape } },
    headers: ["ETag", "Allow"],
  },
  304: { description: "It is what If-None-Match names.", headers: ["ETag"] },
});

const collection = (id: string, summary: string, query: readonly Parameter[]): ApiRow<"reader"> => ({
  id,
  tag,
  summary,
  who: "reader",
  query,
  answers: documents(anyOf([COLLECTION, COLLECTION_PAGE])),
  codes: ["not_found", "rate_limited"],
});

const options = (id: string, summary: string): ApiRow<"no_one"> => ({
  id,
  tag,
  summary,
  who: "no_one",
  answers: { 200: { description: "In Allow.", headers: ["Allow"] } },
  codes: OFF,
});

const FEED_OF = {
  page: string("The page's path without its first slash, its other slashes as they are.", { examples: ["guide"] }),
};

const ANY_FEED = [PAGE_NUMBER, IRIS, SOURCE];

const UNSHOWN = ["unknown_host", "unknown_version", "site_expired", "site_disabled"] as const;
/** Codes of what is posted to a site without being a comment. */
const POSTED = ["invalid_json", ...WRITTEN.slice(1), "cross_origin", ...UNSHOWN, "rate_limited"] as const;

export const SITE_HOST = {
  "POST /_svc/report": {
    id: "reportSite",
    tag,
    summary: "Tell the operator what is wrong with a site",
    who: "no_one",
    body: {
      required: true,
      content: fields(
        object(
          { reason: string("In a word or two.", { minLength: 1, maxLength: 200 }) },
          { text: string("More of it.", { maxLength: 5000 }), email: string("For an answer.", { maxLength: 254 }) },
        ),
        { reason: "phishing", text: "The form on /login sends my password elsewhere" },
      ),
    },
    answers: {
      202: { description: "The operator reads it.", content: json(object({ report_id: REPORT_ID })) },
    },
    codes: [...POSTED, "storage_full"],
  },
  "POST /_svc/access": {
    id: "enterSite",
    tag,
    summary: "Enter a site that wants a password",
    description:
      "Sets a cookie, for 30 days, that opens this host of the site. A form leads to `next` with a 303. Without a grant every other call of such a site is 401 `password_required`; Basic authentication with any user name does as well.",
    who: "no_one",
    body: {
      required: true,
      content: fields(
        object(
          { password: string("The site's.", { maxLength: 1024 }) },
          { next: string("Of a form: a path of the host, to go to afterwards.") },
        ),
        { password: "correct horse" },
      ),
    },
    answers: { ...ok("The cookie opens the site.", DONE), 303: { description: "To `next`." } },
    codes: [...POSTED, "password_required", "wrong_password"],
  },
  "GET /_svc/comments/": {
    id: "readContainer",
    tag,
    summary: "The container that comments are sent to",
    description: "An LDP container of the Web Annotation Protocol.",
    who: "reader",
    query: [IRIS],
    headers: [{ name: "Prefer", description: "As the protocol has it.", shape: string("A preference.") }],
    answers: documents(CONTAINER),
    codes: [],
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
  "OPTIONS /_svc/comments/": options("askContainer", "What the container takes"),
  "GET /_svc/comments/threads": {
    id: "readThreads",
    tag,
    summary: "Read the threads of a page",
    who: "reader",
    query: [
      ...pageOf(pagePath()).map((one) => ({ ...one, required: true as const })),
      { name: "since", description: "What changed after it, or all.", shape: string("`cursor` of the answer before.") },
    ],
    answers: {
      200: { description: "What this viewer may see.", content: json(THREADS_VIEW), headers: ["ETag"] },
      304: { ...held, headers: ["ETag"] },
    },
    codes: ["not_found", "rate_limited"],
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
    codes: [...EDITED, "forbidden", "edit_window_over", "not_found", "deleted", "changed", "if_match_required"],
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
  "OPTIONS /_svc/comments/c_:id": { ...options("askComment", "What a comment takes"), path: COMMENT_PATH },
  "GET /_svc/comments/me": {
    id: "readVisitor",
    tag,
    summary: "Who one is on this site",
    who: "visitor_reads",
    answers: ok("The visitor.", VISITOR),
    codes: [],
  },
  "PATCH /_svc/comments/me": {
    id: "renameVisitor",
    tag,
    summary: "Take another name",
    description: "Earlier comments show it too; in mode `approved`, to others from the next approval on.",
    who: "visitor",
    body: {
      required: true,
      content: json(object({ name: string("1 to 40 characters.") }), { name: "Ann" }),
    },
    answers: { 200: { ...ok("The visitor.", VISITOR)[200]!, headers: ["Set-Cookie"] } },
    codes: [...MEMBER_CODES, "name_reserved"],
  },
  "DELETE /_svc/comments/me": {
    id: "eraseVisitor",
    tag,
    summary: "Erase all that one wrote here",
    who: "visitor",
    answers: { 204: { description: "It is erased.", headers: ["Set-Cookie"] } },
    codes: [],
  },
  "GET /_svc/comments/me/export": {
    id: "exportVisitor",
    tag,
    summary: "Get all that one wrote here",
    who: "visitor_reads",
    answers: {
      200: { description: "As annotations.", content: { [LD_JSON]: { shape: ANNOTATION_FILE } } },
    },
    codes: ["rate_limited"],
  },
  "POST /_svc/comments/passcode": {
    id: "enterPasscode",
    tag,
    summary: "Give the passcode",
    who: "entrant",
    body: { required: true, content: json(object({ passcode: string("As it was told.") })) },
    answers: entered,
    codes: [...MEMBER_CODES, ...ENTERING, "wrong_passcode", "rate_limited"],
  },
  "POST /_svc/comments/owner": {
    id: "enterAsOwner",
    tag,
    summary: "Give an owner's code",
    who: "entrant",
    body: { required: true, content: json(object({ code: string("`svc_owner_…`.") })) },
    answers: entered,
    codes: [...MEMBER_CODES, ...ENTERING, "invalid_code", "rate_limited", "storage_full"],
  },
  "GET /_svc/comments/queue": {
    id: "readQueueHere",
    tag,
    summary: "List what waits for a decision",
    who: "owner_here",
    query: [STATE, CURSOR],
    answers: ok("A page of it.", QUEUE),
    codes: ["invalid_input"],
  },
  "POST /_svc/comments/c_:id/approve": decisionHere("approveHere", "Show a comment to everybody"),
  "POST /_svc/comments/c_:id/reject": decisionHere("rejectHere", "Hide a comment for good"),
  "POST /_svc/comments/c_:id/resolve": decisionHere("resolveHere", "Settle a thread"),
  "POST /_svc/comments/c_:id/reopen": decisionHere("reopenHere", "Open a thread again"),
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
          { text: nullable(string("In one's own words.", { maxLength: 2000 })) },
        ),
        { reason: "spam" },
      ),
    },
    answers: { 202: { description: "Taken.", content: json(DONE, { ok: true }) } },
    codes: ["invalid_input", "unknown_host", "site_expired", "site_disabled", "comments_off", "storage_full"],
  },
  "GET /_svc/comments/view": {
    id: "viewThreads",
    tag,
    summary: "The threads of a page as a page, without a script",
    who: "no_one",
    query: [...pageOf(pagePath({ default: "/" })), PART],
    answers: { 200: { description: "The page, with a form.", content: page_text } },
    codes: ["unknown_host", "site_expired", "site_disabled", "comments_off", "not_found", "rate_limited"],
  },
  "POST /_svc/comments/view": {
    id: "postByForm",
    tag,
    summary: "Post by the form of that page",
    description: "What is refused is told on the page itself, under the status of the refusal.",
    who: "form_writer",
    body: {
      required: true,
      content: {
        "application/x-www-form-urlencoded": {
          shape: object(
            {},
            {
              page: string("Which page."),
              text: string("What to say."),
              thread: string("Which thread to answer."),
              part: string("Which part of the page to show then."),
              stamp: string("Of the form."),
              website: string("To be left empty."),
              passcode: string("In place of all that."),
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
  "GET /_svc/comments/feed.json": collection("readAnyFeed", "The feed of a site, or of one page", ANY_FEED),
  "OPTIONS /_svc/comments/feed.json": options("askFeed", "What a feed takes"),
  "GET /comments.json": {
    ...collection("readFeed", "The feed of a site", [PAGE_NUMBER, IRIS]),
    description: "A file of the site with this name wins; the same feed is always at `/_svc/comments/feed.json`.",
  },
  "GET /:page.comments.json": {
    ...collection("readPageFeed", "The feed of a page", [PAGE_NUMBER, IRIS]),
    description:
      "Of `/guide.html` at `/guide.comments.json`, of `/` at `/index.comments.json`. A file of the site with this name wins.",
    path: FEED_OF,
  },
} satisfies ApiRows;
