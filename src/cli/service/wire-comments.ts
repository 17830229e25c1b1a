/** The API's answers about a site's comments, with the members that the CLI reads (COMMENTS 2). */

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

export interface Thread {
  id: string;
  status: "open" | "resolved";
  page: string;
  /** The first began it. An erased one has neither author nor text. */
  comments: { id: string; by: { name: string } | null; text: string | null; visibility: string }[];
}

export interface ThreadPage {
  threads: Thread[];
  next_cursor: string | null;
}

export interface QueuePage {
  items: { id: string; page: string; by: { name: string }; text: string }[];
  next_cursor: string | null;
}

export interface OwnerCode {
  url: string;
  expires_at: string | number;
}

interface AgentToken {
  token_id: string;
  name: string;
  scopes: string[];
  expires_at: string | number;
}

export interface MadeToken extends AgentToken {
  token: string;
}

export interface ListedToken extends AgentToken {
  created_at: string;
  last_used_at: string | null;
}
