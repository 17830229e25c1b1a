/** The tools of agents, in the order in which they are listed (COMMENTS 6). No tool deploys, approves or deletes. */

import { Refusal } from "../base/errors.ts";
import { type JsonObject, ownMember } from "../base/json.ts";
import { newCommentId, newNoteEventId } from "../base/tokens.ts";
import type { Site } from "../base/types.ts";
import { UNSEEN, withoutUnseen } from "../base/visible.ts";
import { siteUrl } from "../http/hosts.ts";
import type { AgentScope, Author, StoredComment, StoredThread } from "../store/notes.ts";
import { pageOf } from "./addresses.ts";
import { checkText } from "./annotation.ts";
import type { CommentParts } from "./context.ts";
import { cursorOf, numberIn } from "./keys.ts";
import type { Agent, McpParts } from "./mcp-agent.ts";
import type { INPUT } from "./mcp-schemas.ts";

// Readers of a tool's arguments, one by one: the schemas say what is right, the refusals here what was wrong.

const invalid = (name: string, why: string): Refusal =>
  new Refusal("invalid_input", `"${name}" ${why}.`, { field: name });

/** Throws if there is an argument that is not in the list. */
export function refuseOthers(sent: JsonObject, known: readonly string[]): void {
  const other = Object.keys(sent).find((name) => !known.includes(name));
  if (other !== undefined) throw new Refusal("invalid_input", `This tool takes ${known.join(", ")}, and nothing else.`);
}

/** Null if it was left out. */
function optionalText(sent: JsonObject, name: string, longest: number): string | null {
  const value = ownMember(sent, name) ?? null;
  if (value === null) return null;
  if (typeof value === "string" && value !== "" && value.length <= longest && value.isWellFormed()) return value;
  throw invalid(name, `must be a text of 1 to ${longest} characters`);
}

function text(sent: JsonObject, name: string, longest: number): string {
  const value = optionalText(sent, name, longest);
  if (value === null) throw invalid(name, "is missing");
  return value;
}

/** A positive whole number; a larger one becomes `most`. */
function count(sent: JsonObject, name: string, most: number): number {
  const value = ownMember(sent, name) ?? most;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1) return Math.min(value, most);
  throw invalid(name, "must be a positive whole number");
}

function oneOf<const T extends string>(sent: JsonObject, name: string, words: readonly T[], fallback: T): T {
  const value = ownMember(sent, name) ?? fallback;
  const found = words.find((word) => word === value);
  if (found === undefined) throw invalid(name, `is one of ${words.join(", ")}`);
  return found;
}

const ISO = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/** A time of ISO 8601 as the store writes it; null if it was left out. */
function time(sent: JsonObject, name: string): string | null {
  const value = optionalText(sent, name, 40);
  if (value === null) return null;
  const at = ISO.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(at)) throw invalid(name, "is a time such as 2026-11-21T09:30:00Z");
  return new Date(at).toISOString();
}

const MOST_THREADS = 50;
const LONGEST = { page: 2000, cursor: 64, id: 64, text: 20_000, request_id: 128, note: 1000 };

/** Throws a Refusal if it cannot be done: the agent reads its sentence. */
type Run = (parts: McpParts, agent: Agent, sent: JsonObject) => Promise<object>;

export interface Tool {
  name: keyof typeof INPUT;
  title: string;
  description: string;
  scope: AgentScope;
  annotations: Readonly<Record<string, boolean>>;
  run: Run;
}

/** The same refusal for a thread that is missing and for one that the agent may not see. */
const unknownThread = (): Refusal => new Refusal("unknown_thread", "There is no such thread on this site.");

async function threadIn({ store }: McpParts, { site, as }: Agent, sent: JsonObject): Promise<StoredThread> {
  const found = await store.notes.thread(site.site_id, text(sent, "thread_id", LONGEST.id), as);
  if (found === null) throw unknownThread();
  return found;
}

/** The page's address. If the page is gone, its threads are read under the old address. */
async function pageIn({ livePages }: McpParts, { site }: Agent, sent: JsonObject): Promise<string | null> {
  const page = optionalText(sent, "page", LONGEST.page);
  return page === null ? null : (pageOf(await livePages(site), page)?.page ?? page);
}

const list: Run = async (parts, agent, sent) => {
  const { store, keys, config } = parts;
  const { site, as } = agent;
  const page = await pageIn(parts, agent, sent);
  const status = oneOf(sent, "status", ["open", "resolved", "all"], "open");
  const since = time(sent, "since");
  const limit = count(sent, "limit", MOST_THREADS);
  const cursor = optionalText(sent, "cursor", LONGEST.cursor);
  const scope = [site.site_id, "agents", as.kind, page ?? "", status, since ?? ""].join("\0");
  const after = numberIn(keys.cursor, scope, cursor);
  if (cursor !== null && after === null) {
    throw new Refusal("invalid_input", "This cursor is none of this list: begin at its first page.");
  }
  const asked = { page, status: status === "all" ? null : status, since, after, limit };
  const { threads, next } = await store.notes.threads(site.site_id, as, asked);
  return {
    threads: threads.map((thread) => summaryJson(config, site, thread)),
    next_cursor: next === null ? null : cursorOf(keys.cursor, scope, next),
  };
};

const get: Run = async (parts, agent, sent) => threadJson(parts.config, agent.site, await threadIn(parts, agent, sent));

const reply: Run = async (parts, agent, sent) => {
  const { site, author, as } = agent;
  const words = checkText(text(sent, "text", LONGEST.text));
  // The feed shows it as an IRI, so it must be one.
  const canonical = `mcp:${encodeURIComponent(text(sent, "request_id", LONGEST.request_id))}`;
  const { id: thread_id } = await threadIn(parts, agent, sent);
  const { site_id } = site;
  const id = newCommentId();
  const writing = {
    site_id,
    id,
    by: author,
    text: words,
    canonical,
    network: null,
    most_waiting: Infinity,
    visibility: "public" as const,
    thread_id,
    as,
  };
  const { thread, comment_id, repeated } = await parts.store.notes.reply(writing);
  const comment = thread.comments.find((one) => one.id === comment_id)!;
  return { thread_id: thread.id, comment: commentJson(comment), repeated };
};

async function versionIn({ store }: McpParts, { site }: Agent, sent: JsonObject): Promise<string | null> {
  const version_id = optionalText(sent, "version_id", LONGEST.id);
  if (version_id === null || (await store.versions.get(site.site_id, version_id)) !== null) return version_id;
  throw new Refusal("unknown_version", `This site has no version ${version_id}: leave version_id out, or name one.`);
}

/** For the thread's history. */
function noteOf(sent: JsonObject, version_id: string | null): string | null {
  const note = optionalText(sent, "note", LONGEST.note);
  const parts = [note === null ? "" : withoutUnseen(note), version_id === null ? "" : `(version ${version_id})`];
  return parts.filter((part) => part !== "").join(" ") || null;
}

const deciding =
  (action: "resolve" | "reopen"): Run =>
  async (parts, agent, sent) => {
    const { site, author: by } = agent;
    const note = noteOf(sent, action === "resolve" ? await versionIn(parts, agent, sent) : null);
    const { id } = await threadIn(parts, agent, sent);
    const event_id = newNoteEventId();
    const { thread, changed } = await parts.store.notes.decide({
      site_id: site.site_id,
      id,
      action,
      by,
      note,
      event_id,
    });
    return { thread_id: id, status: thread.status, changed };
  };

const READS = { readOnlyHint: true, openWorldHint: false };
const SETS = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };

export const TOOLS: readonly Tool[] = [
  {
    name: "list_threads",
    title: "List comment threads",
    description: "Threads of comments on the site's pages, newest first: open ones, unless asked otherwise.",
    scope: "read",
    annotations: READS,
    run: list,
  },
  {
    name: "get_thread",
    title: "Read a comment thread",
    description: "One thread: the passage it is about and whether the live page still has it, and all its comments.",
    scope: "read",
    annotations: READS,
    run: get,
  },
  {
    name: "reply",
    title: "Reply to a comment thread",
    description: "Adds a reply to a thread, under the token's name. Everybody who reads the comments sees it at once.",
    scope: "reply",
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    run: reply,
  },
  {
    name: "resolve",
    title: "Resolve a comment thread",
    description: "Marks a thread as settled. Done twice it is done once.",
    scope: "resolve",
    annotations: SETS,
    run: deciding("resolve"),
  },
  {
    name: "reopen",
    title: "Reopen a comment thread",
    description: "Marks a thread as not settled. Done twice it is done once.",
    scope: "resolve",
    annotations: SETS,
    run: deciding("reopen"),
  },
];

// Threads as an agent reads them. Text of strangers is in `untrusted_text`, as a person would see it: invisible characters
// could give an agent orders that nobody else reads (COMMENTS 6).

type Config = CommentParts["config"];

/** Removes invisible characters, but no line ends and tabs. */
const CONTROL = /(?![\n\t])[\p{Cc}\p{Cs}\p{Co}]/gu;

const seen = (text: string): string => text.replace(UNSEEN, "").replace(CONTROL, "");

const authorJson = (by: Author | null) => by && { id: by.id, name: seen(by.name), kind: by.kind };

const commentJson = ({ id, by, text, visibility, created_at, edited_at }: StoredComment) => ({
  comment_id: id,
  by: authorJson(by),
  untrusted_text: text === null ? null : seen(text),
  visibility,
  created_at,
  edited_at,
});

function headJson(config: Config, { slug }: Pick<Site, "slug">, thread: StoredThread) {
  const { id, page, status, version_id, carried, comments } = thread;
  return {
    thread_id: id,
    page,
    url: `${siteUrl(config, slug)}${page}#svc-${id}`,
    status,
    visibility: comments[0]!.visibility,
    version_id,
    anchor_state: carried,
  };
}

const newest = (comments: readonly StoredComment[]): string =>
  comments.map(({ modified_at }) => modified_at).reduce((a, b) => (a > b ? a : b));

/** A line of a list: the first comment, and how much follows. */
function summaryJson(config: Config, site: Pick<Site, "slug">, thread: StoredThread) {
  const { quote, comments } = thread;
  const [root, ...replies] = comments;
  const { by, untrusted_text, created_at } = commentJson(root!);
  return {
    ...headJson(config, site, thread),
    quote: quote && seen(quote.exact),
    by,
    untrusted_text,
    created_at,
    changed_at: newest(comments),
    replies: replies.filter(({ text }) => text !== null).length,
  };
}

function threadJson(config: Config, site: Pick<Site, "slug">, thread: StoredThread) {
  const { quote, page, version_id, version_created_at, comments } = thread;
  return {
    ...headJson(config, site, thread),
    version_url: siteUrl(config, `${version_id}--${site.slug}`) + page,
    version_created_at,
    quote: quote && { exact: seen(quote.exact), prefix: seen(quote.prefix), suffix: seen(quote.suffix) },
    comments: comments.map(commentJson),
  };
}
