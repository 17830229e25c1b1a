/** The API's answers about a site's comments, with the members that the CLI reads (COMMENTS 2). */
import { ADDRESS, BOOLEAN, fields, listOf, orNone, orNull, TEXT } from "./shape.ts";

export const MODES = ["anonymous", "passcode", "approved"] as const;
export type Mode = (typeof MODES)[number];

export interface CommentSettings {
  mode: Mode | "off";
  /** What it was when comments were last on. */
  last_mode?: Mode | null;
  passcode_set: boolean;
  webhook: { url: string; events: string[] } | null;
  /** What is on now and will not work yet. */
  warnings?: { message: string; fix_recipe: string }[];
}

const oneOf = (words: readonly string[]) => (value: unknown) => (words.includes(value as string) ? null : "");

export const SETTINGS = fields<CommentSettings>({
  mode: oneOf([...MODES, "off"]),
  last_mode: orNone(orNull(oneOf(MODES))),
  passcode_set: BOOLEAN,
  webhook: orNull(fields<{ url: string; events: string[] }>({ url: TEXT, events: listOf(TEXT) })),
  warnings: orNone(listOf(fields<{ message: string; fix_recipe: string }>({ message: TEXT, fix_recipe: TEXT }))),
});

interface Comment {
  id: string;
  /** An erased one has neither author nor text. */
  by: { name: string } | null;
  text: string | null;
  visibility: string;
}

export interface Thread {
  status: "open" | "resolved";
  page: string;
  /** The first began it. */
  comments: Comment[];
}

const BY = fields<{ name: string }>({ name: TEXT });

export const THREAD = fields<Thread>({
  status: oneOf(["open", "resolved"]),
  page: TEXT,
  comments: listOf(fields<Comment>({ id: TEXT, by: orNull(BY), text: orNull(TEXT), visibility: TEXT })),
});

interface ThreadPage {
  threads: Thread[];
  next_cursor: string | null;
}

export const THREAD_PAGE = fields<ThreadPage>({ threads: listOf(THREAD), next_cursor: orNull(TEXT) });

interface Queued {
  id: string;
  page: string;
  by: { name: string };
  text: string;
}

export const QUEUE_PAGE = fields<{ items: Queued[]; next_cursor: string | null }>({
  items: listOf(fields<Queued>({ id: TEXT, page: TEXT, by: BY, text: TEXT })),
  next_cursor: orNull(TEXT),
});

export const OWNER_CODE = fields<{ url: string }>({ url: ADDRESS });

interface AgentToken {
  token_id: string;
  name: string;
  scopes: string[];
  expires_at: string | number;
}

/** The API may say a time either way. */
const MOMENT = (value: unknown) =>
  Number.isNaN(typeof value === "string" ? Date.parse(value) : (value ?? Number.NaN)) ? "" : null;

const AGENT_TOKEN = { token_id: TEXT, name: TEXT, scopes: listOf(TEXT), expires_at: MOMENT } as const;

export const MADE_TOKEN = fields<AgentToken & { token: string }>({ ...AGENT_TOKEN, token: TEXT });

export interface ListedToken extends AgentToken {
  last_used_at: string | null;
}

export const TOKEN_LIST = fields<{ tokens: ListedToken[] }>({
  tokens: listOf(fields<ListedToken>({ ...AGENT_TOKEN, last_used_at: orNull(MOMENT) })),
});
