/** `svc comments …`, row by row. */
import { group, JSON_FLAG, QUIET_FLAG, SITE_FLAG, TOKEN_FLAG, type Command, type Flag } from "../../command.ts";

const COMMON = [JSON_FLAG, QUIET_FLAG];
const FLAGS = [SITE_FLAG, TOKEN_FLAG, ...COMMON];
const PASSCODE_FLAGS: Flag[] = [
  { name: "passcode", value: "passcode", help: "this passcode; other users of this machine may see it" },
  { name: "passcode-stdin", help: "read the passcode as a line from stdin, or ask for it on a terminal" },
];
const NOTE_FLAG: Flag = { name: "note", value: "text", help: "why, for the comment's history" };

const MODE_DETAILS = [
  "anonymous   anyone reads and writes; what is written shows at once",
  "passcode    everyone who knows the passcode reads and writes; a new passcode locks out all",
  "approved    anyone reads and writes; what is written shows once you approve it",
];

const COMMENT_SETTINGS: Command[] = [
  {
    name: "comments status",
    arguments: [],
    summary: "Show the mode of the comments, or off",
    details: [],
    flags: FLAGS,
    run: (...call) => import("./settings.ts").then(({ COMMENT_COMMANDS }) => COMMENT_COMMANDS.status(...call)),
  },
  {
    name: "comments enable",
    arguments: [],
    summary: "Let visitors comment on the site's pages",
    details: [...MODE_DETAILS, "Without --mode: the mode that the site last had, else anonymous."],
    flags: [{ name: "mode", value: "mode", help: "anonymous, passcode or approved" }, ...PASSCODE_FLAGS, ...FLAGS],
    run: (...call) => import("./settings.ts").then(({ COMMENT_COMMANDS }) => COMMENT_COMMANDS.enable(...call)),
  },
  {
    name: "comments mode",
    arguments: ["<mode>"],
    summary: "Say who reads and writes comments",
    details: [...MODE_DETAILS, "What shows already goes on to show, and what waits goes on to wait."],
    flags: [...PASSCODE_FLAGS, ...FLAGS],
    run: (...call) => import("./settings.ts").then(({ COMMENT_COMMANDS }) => COMMENT_COMMANDS.mode(...call)),
  },
  {
    name: "comments off",
    arguments: [],
    summary: "Turn comments off; threads are kept",
    details: [],
    flags: FLAGS,
    run: (...call) => import("./settings.ts").then(({ COMMENT_COMMANDS }) => COMMENT_COMMANDS.off(...call)),
  },
];

const decision = (action: "approve" | "resolve" | "reopen", summary: string): Command => ({
  name: `comments ${action}`,
  arguments: ["<c_…>"],
  summary,
  details: [],
  flags: [NOTE_FLAG, ...FLAGS],
  run: (...call) => import("./decide.ts").then(({ DECISIONS }) => DECISIONS.decide(action)(...call)),
});

const MODERATION: Command[] = [
  {
    name: "comments list",
    arguments: [],
    summary: "List comments: id, status, page, name, text",
    details: ["Newest threads first, each with its replies. The status is open, resolved, pending or rejected."],
    flags: [
      { name: "page", value: "path", help: "of this page alone, such as /guide.html" },
      { name: "status", value: "status", help: "of threads that are open or resolved alone" },
      { name: "queue", value: "queue", help: "what is pending, reported or rejected, on all pages" },
      ...FLAGS,
    ],
    run: (...call) => import("./list.ts").then(({ list }) => list(...call)),
  },
  decision("approve", "Show a comment that waits"),
  {
    name: "comments reject",
    arguments: ["<c_…>"],
    summary: "Hide a comment for good, or all of its visitor or network",
    details: [
      "--all-of network hides what came from the same addresses (an IPv4 /24, an IPv6 /48): of a visitor who comes",
      "back under another name, and of neighbours. Which addresses they are is not kept, so none are shown.",
    ],
    flags: [
      { name: "all-of", value: "whose", help: "all of the comment's visitor, or of its network" },
      NOTE_FLAG,
      ...FLAGS,
    ],
    run: (...call) => import("./decide.ts").then(({ DECISIONS }) => DECISIONS.reject(...call)),
  },
  decision("resolve", "Mark a thread as settled"),
  decision("reopen", "Mark a thread as open again"),
  {
    name: "comments delete",
    arguments: ["<c_…>"],
    summary: "Delete a comment; the first one of a thread with its replies",
    details: ["Needs a login or SVC_TOKEN: a manage_token never deletes."],
    flags: [SITE_FLAG, ...COMMON],
    run: (...call) => import("./decide.ts").then(({ DECISIONS }) => DECISIONS.remove(...call)),
  },
  {
    name: "comments owner",
    arguments: [],
    summary: "Print an address that makes your browser the owner there",
    details: [
      "It works once, within five minutes. You then answer as Owner and moderate beside the text, on the site itself.",
      "Made by your account it lets you delete there, too; made with a manage_token alone it does not.",
    ],
    flags: FLAGS,
    run: (...call) => import("./decide.ts").then(({ DECISIONS }) => DECISIONS.owner(...call)),
  },
];

const TOKENS: Command[] = [
  {
    name: "comments token create",
    arguments: [],
    summary: "Make a token for an agent, and print it once",
    details: [
      "read         lists and reads threads that everybody sees",
      "reply        answers in them, under the token's name",
      "resolve      settles them and opens them again",
      "see_pending  reads what waits for approval too",
    ],
    flags: [
      { name: "name", value: "name", help: "the author's name of what is written with it" },
      { name: "scopes", value: "scopes", help: "what it may, with commas: read,reply,resolve,see_pending" },
      { name: "expires-in-days", value: "days", help: "when it ends; 90 days at most, and without this" },
      ...FLAGS,
    ],
    run: (...call) => import("./tokens.ts").then(({ AGENT_TOKENS }) => AGENT_TOKENS.createToken(...call)),
  },
  {
    name: "comments token list",
    arguments: [],
    summary: "List the tokens of the site's agents",
    details: [],
    flags: FLAGS,
    run: (...call) => import("./tokens.ts").then(({ AGENT_TOKENS }) => AGENT_TOKENS.listTokens(...call)),
  },
  {
    name: "comments token revoke",
    arguments: ["<token_id>"],
    summary: "End a token",
    details: [],
    flags: FLAGS,
    run: (...call) => import("./tokens.ts").then(({ AGENT_TOKENS }) => AGENT_TOKENS.revokeToken(...call)),
  },
];

const WEBHOOK: Command[] = [
  {
    name: "comments webhook",
    arguments: ["<url>|off"],
    summary: "Send what happens in the comments to an address, or stop",
    details: ["Delivered by servers whose operator turned webhooks on. The signing secret is printed once."],
    flags: [
      { name: "events", value: "events", help: "these alone, with commas, such as thread.created,reply.created" },
      ...FLAGS,
    ],
    run: (...call) => import("./settings.ts").then(({ COMMENT_COMMANDS }) => COMMENT_COMMANDS.webhook(...call)),
  },
  {
    name: "comments webhook deliveries",
    arguments: [],
    summary: "List the last letters and what became of each",
    details: ["The outcome is delivered, failed (it is tried again), given_up or waiting (you sent it again)."],
    flags: FLAGS,
    run: (...call) => import("./settings.ts").then(({ COMMENT_COMMANDS }) => COMMENT_COMMANDS.deliveries(...call)),
  },
  {
    name: "comments webhook resend",
    arguments: ["<msg_…>"],
    summary: "Send a letter again, under the same id",
    details: ["A receiver that failed is tried at once, and gets all that waits when it answers."],
    flags: FLAGS,
    run: (...call) => import("./settings.ts").then(({ COMMENT_COMMANDS }) => COMMENT_COMMANDS.resend(...call)),
  },
];

export const COMMENTS: readonly Command[] = [
  group({
    name: "comments",
    summary: "Threads that visitors pin to passages: turn on, moderate, answer",
    details: ["Without --site the site that was deployed from here is meant."],
  }),
  ...COMMENT_SETTINGS,
  ...MODERATION,
  group({ name: "comments token", summary: "Make, list and end tokens of agents that read comments", details: [] }),
  ...TOKENS,
  ...WEBHOOK,
];
