/** Comments as owners and widgets read them: plain JSON (COMMENTS 2). */
import {
  array,
  boolean,
  integer,
  listOfOne,
  literal,
  named,
  nullable,
  object,
  oneOf,
  onlyOf,
  ref,
  refOrNull,
  string,
} from "./builder.ts";
import { ADDRESS, AGENT_TOKEN_ID, CARRIED, COMMENT_ID, COMMENT_MODES, ON_MODES, TIME, VERSION_ID } from "./common.ts";
import { TEXT_QUOTE_SELECTOR } from "./annotations.ts";

export const AGENT_SCOPES = ["read", "reply", "resolve", "see_pending"] as const;

export const WEBHOOK_EVENTS = [
  "thread.created",
  "reply.created",
  "thread.resolved",
  "thread.reopened",
  "comment.reported",
] as const;

export const REPORT_REASONS = ["spam", "abuse", "privacy", "other"] as const;
const VISIBILITIES = ["public", "pending", "rejected"] as const;

const webhook = object(
  {
    url: ADDRESS,
    events: array(oneOf("What is told.", WEBHOOK_EVENTS), "Some of them."),
    last_delivered_at: refOrNull(TIME, "When its receiver last took a letter; null where it never did."),
    failing_since: refOrNull(TIME, "Since when it takes none; null while it does."),
    last_error: nullable(string("Why the last letter was not taken; null while they are.")),
    waiting: integer("Letters that wait for it."),
    lost: integer("Letters that were given up, and those that came when no more could wait."),
  },
  { ended_at: ref(TIME, "When it answered 410: nothing more is sent until the webhook is set anew.") },
  { description: "Where letters go, without their secret; null: nowhere." },
);

const settings = {
  mode: onlyOf("Who may read and post.", COMMENT_MODES),
  last_mode: nullable(onlyOf("When they were last on; null where they never were.", ON_MODES)),
  passcode_set: boolean("There is a passcode."),
  webhook: nullable(webhook),
};

export const NO_COOKIES = object({
  code: literal("no_visitor_cookies", "Browsers keep visitors' cookies over https alone."),
  message: string("What it is, for a person."),
  fix_recipe: string("The change to make."),
});

const agentToken = {
  token_id: AGENT_TOKEN_ID,
  name: string("Shown as the author of what it writes."),
  scopes: array(oneOf("A scope.", AGENT_SCOPES), "What it may."),
};

export const COMMENT_SETTINGS = named(
  "CommentSettings",
  object(settings, { warnings: array(NO_COOKIES, "Of a change that browsers do not go along with.") }),
);

export const WEBHOOK_DELIVERY = named(
  "WebhookDelivery",
  object({
    id: string("`msg_…`, the same in all its tries."),
    type: oneOf("What it tells.", WEBHOOK_EVENTS),
    at: ref(TIME, "When it was last tried, or sent again."),
    outcome: oneOf("`failed`: it is tried again; `waiting`: you sent it again.", [
      "waiting",
      "delivered",
      "failed",
      "given_up",
    ]),
    status: nullable(integer("The receiver's last answer; null where there was none.")),
    tries: integer("So far."),
  }),
);

export const WEBHOOK_DELIVERIES = named(
  "WebhookDeliveries",
  object({ deliveries: array(WEBHOOK_DELIVERY, "The latest first, at most 50.") }),
);

export const OWNER_CODE = named(
  "OwnerCode",
  object({
    code: string("`svc_owner_…`: once, within 5 minutes."),
    url: ref(ADDRESS, "Opened in a browser, it makes that the owner's for an hour."),
    expires_at: TIME,
  }),
);

export const NEW_AGENT_TOKEN = named(
  "NewAgentToken",
  object({
    ...agentToken,
    expires_at: TIME,
    token: string("`fau_…`. Shown here and never again."),
  }),
);

export const AGENT_TOKENS = named(
  "AgentTokens",
  object({
    tokens: array(
      object({
        ...agentToken,
        created_at: TIME,
        last_used_at: refOrNull(TIME, "To the minute."),
        expires_at: TIME,
      }),
      "Newest first.",
    ),
  }),
);

export const AUTHOR = named(
  "Author",
  object({
    id: string("`p_…`, of an agent `a_…`."),
    name: string("As it is shown."),
    kind: oneOf("Who it is.", ["visitor", "owner", "agent"]),
  }),
);

export const ANCHOR = named(
  "Anchor",
  object(
    {
      source: ref(ADDRESS, "The page."),
      carried: refOrNull(CARRIED, "Null where the whole page is meant."),
      version_id: ref(VERSION_ID, "What it was written on."),
    },
    {
      selector: listOfOne(TEXT_QUOTE_SELECTOR, "The passage."),
      hints: object(
        {},
        {
          position: object({
            start: integer("UTF-16 units of the page's text."),
            end: integer("The same."),
            version_id: ref(VERSION_ID, "In which it was found."),
          }),
          element: string("An id or a tag path."),
        },
        { description: "Where to look first. Never in a feed." },
      ),
    },
  ),
);

export const COMMENT = named(
  "Comment",
  object(
    {
      id: COMMENT_ID,
      by: refOrNull(AUTHOR, "Null where it was erased."),
      text: nullable(string("Plain text; null where it was erased.")),
      visibility: oneOf("Who sees it.", VISIBILITIES),
      created_at: TIME,
      edited_at: refOrNull(TIME, "Null where it never was."),
      mine: boolean("Whoever asks wrote it."),
      etag: string("For If-Match.", { examples: ['"a1"'] }),
    },
    { deleted: literal(true, "It was erased, and has replies.") },
  ),
);

export const THREAD = named(
  "Thread",
  object({
    id: COMMENT_ID,
    page: string("Path of the page.", { examples: ["/guide.html"] }),
    status: onlyOf("Whether it is settled.", ["open", "resolved"]),
    visibility: oneOf("Of its first comment.", VISIBILITIES),
    anchor: ANCHOR,
    comments: array(COMMENT, "In the order of writing."),
  }),
);

export const THREADS = named(
  "Threads",
  object({
    threads: array(THREAD, "Newest first, at most 50."),
    next_cursor: nullable(string("For the next call; null at the end.")),
  }),
);

export const QUEUE = named(
  "Queue",
  object({
    items: array(
      object({
        id: COMMENT_ID,
        thread_id: COMMENT_ID,
        page: string("Path of the page."),
        text: string("What was written."),
        by: AUTHOR,
        created_at: TIME,
        visibility: oneOf("Who sees it.", VISIBILITIES),
        reports: array(
          object({
            reason: oneOf("Why.", REPORT_REASONS),
            text: nullable(string("In their words.")),
            created_at: TIME,
          }),
          "Of readers.",
        ),
      }),
      "Newest first, at most 50.",
    ),
    next_cursor: nullable(string("For the next call; null at the end.")),
  }),
);

export const REJECTED_ALL = object({ rejected: integer("Comments that were hidden now.") });

export const THREADS_VIEW = named(
  "ThreadsView",
  object({
    cursor: string("For `since`."),
    mode: oneOf("Who may read and post.", COMMENT_MODES),
    page: string("Path of the page."),
    viewer: object({
      id: nullable(string("Null before the first post.")),
      name: nullable(string("As they are shown.")),
      owner: boolean("They moderate."),
      can_post: boolean("False on a frozen site."),
    }),
    threads: array(THREAD, "With `since`, what changed alone, or all where that is much."),
    gone: array(COMMENT_ID, "With `since`, what was seen before and is seen no more."),
    poll_s: integer("Seconds until it is worth asking again."),
  }),
);

export const VISITOR = named(
  "Visitor",
  object({ id: string("`p_…`."), name: string("As they are shown."), created_at: TIME }),
);
