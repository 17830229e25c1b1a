/** Comments as owners and widgets read them: plain JSON, for whoever asks (COMMENTS 2). */
import { always, flag, list, type Members, object, oneOf, orNull, ref, refOrNull, text, whole } from "../schema.ts";
import { COMMENT_MODES } from "./sites.ts";

export const AGENT_SCOPES = ["read", "reply", "resolve", "see_pending"] as const;
export const WEBHOOK_EVENTS = [
  "thread.created",
  "reply.created",
  "thread.resolved",
  "thread.reopened",
  "comment.reported",
] as const;
export const REPORT_REASONS = ["spam", "abuse", "privacy", "other"] as const;

const VISIBILITIES = ["public", "pending", "rejected"];

const webhook = object(
  { url: ref("Url"), events: list(oneOf("What is told.", WEBHOOK_EVENTS), "Some of them.") },
  {},
  { description: "Where letters go, without their secret; null: nowhere." },
);
const settings = {
  mode: oneOf("Who may read and post.", COMMENT_MODES),
  last_mode: orNull(oneOf("When they were last on; null where they never were.", COMMENT_MODES.slice(1))),
  passcode_set: flag("There is a passcode."),
  webhook: orNull(webhook),
};
const noCookies = object({
  code: always("no_visitor_cookies", "Browsers keep visitors' cookies over https alone."),
  message: text("What it is, for a person."),
  fix_recipe: text("The change to make."),
});

const agentToken = {
  token_id: ref("AgentTokenId"),
  name: text("Shown as the author of what it writes."),
  scopes: list(oneOf("A scope.", AGENT_SCOPES), "What it may."),
};

export const COMMENTS: Members = {
  CommentSettings: object(settings, { warnings: list(noCookies, "Of a change that browsers do not go along with.") }),
  OwnerCode: object({
    code: text("`svc_owner_…`: once, within 5 minutes."),
    url: ref("Url", "Opened in a browser, it makes that the owner's for an hour."),
    expires_at: ref("Time"),
  }),
  NewAgentToken: object({
    ...agentToken,
    expires_at: ref("Time"),
    token: text("`fau_…`. Shown here and never again."),
  }),
  AgentTokens: object({
    tokens: list(
      object({
        ...agentToken,
        created_at: ref("Time"),
        last_used_at: refOrNull("Time", "To the minute."),
        expires_at: ref("Time"),
      }),
      "Newest first.",
    ),
  }),
  Author: object({
    id: text("`p_…`, of an agent `a_…`."),
    name: text("As it is shown."),
    kind: oneOf("Who it is.", ["visitor", "owner", "agent"]),
  }),
  Carried: oneOf("How a passage stands in the live version.", ["exact", "edited", "lost"]),
  Anchor: object(
    {
      source: ref("Url", "The page."),
      carried: refOrNull("Carried", "Null where the whole page is meant."),
      version_id: ref("VersionId", "What it was written on."),
    },
    {
      selector: list(ref("TextQuoteSelector"), "The passage.", { minItems: 1, maxItems: 1 }),
      hints: object(
        {},
        {
          position: object({
            start: whole("UTF-16 units of the page's text."),
            end: whole("The same."),
            version_id: ref("VersionId", "In which it was found."),
          }),
          element: text("An id or a tag path."),
        },
        { description: "Where to look first. Never in a feed." },
      ),
    },
  ),
  Comment: object(
    {
      id: ref("CommentId"),
      by: refOrNull("Author", "Null where it was erased."),
      text: orNull(text("Plain text; null where it was erased.")),
      visibility: oneOf("Who sees it.", VISIBILITIES),
      created_at: ref("Time"),
      edited_at: refOrNull("Time", "Null where it never was."),
      mine: flag("Whoever asks wrote it."),
      etag: text("For If-Match.", { examples: ['"a1"'] }),
    },
    { deleted: always(true, "It was erased, and has replies.") },
  ),
  Thread: object({
    id: ref("CommentId"),
    page: text("Path of the page.", { examples: ["/guide.html"] }),
    status: oneOf("Whether it is settled.", ["open", "resolved"]),
    visibility: oneOf("Of its first comment.", VISIBILITIES),
    anchor: ref("Anchor"),
    comments: list(ref("Comment"), "In the order of writing."),
  }),
  Threads: object({
    threads: list(ref("Thread"), "Newest first, at most 50."),
    next_cursor: orNull(text("For the next call; null at the end.")),
  }),
  Queue: object({
    items: list(
      object({
        id: ref("CommentId"),
        thread_id: ref("CommentId"),
        page: text("Path of the page."),
        text: text("What was written."),
        by: ref("Author"),
        created_at: ref("Time"),
        visibility: oneOf("Who sees it.", VISIBILITIES),
        reports: list(
          object({
            reason: oneOf("Why.", REPORT_REASONS),
            text: orNull(text("In their words.")),
            created_at: ref("Time"),
          }),
          "Of readers.",
        ),
      }),
      "Newest first, at most 50.",
    ),
    next_cursor: orNull(text("For the next call; null at the end.")),
  }),
  ThreadsView: object({
    cursor: text("For `since`."),
    mode: oneOf("Who may read and post.", COMMENT_MODES),
    page: text("Path of the page."),
    viewer: object({
      id: orNull(text("Null before the first post.")),
      name: orNull(text("As they are shown.")),
      owner: flag("They moderate."),
      can_post: flag("False on a frozen site."),
    }),
    threads: list(ref("Thread"), "With `since`, what changed alone."),
    gone: list(ref("CommentId"), "With `since`, what was seen before and is seen no more."),
    poll_s: whole("Seconds until it is worth asking again."),
  }),
  Visitor: object({ id: text("`p_…`."), name: text("As they are shown."), created_at: ref("Time") }),
};
