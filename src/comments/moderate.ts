/** Threads, the queue and the history of comments for their site's owner: on the site's host by a cookie, on the API's by a
 *  session or a manage_token (COMMENTS 2). */

import { Refusal } from "../base/errors.ts";
import { newCommentId, newNoteEventId } from "../base/tokens.ts";
import type { Site } from "../base/types.ts";
import { withoutUnseen } from "../base/visible.ts";
import type { Action, Author, CommentDecision, QueueState, Status, StoredThread } from "../store/notes.ts";
import type { Held } from "../store/permission.ts";
import { refusals } from "../store/refusals.ts";
import { feedSite, pageOf } from "./addresses.ts";
import { checkText, readMembers } from "./annotation.ts";
import { answer, LD_JSON, PRIVATE } from "./answers.ts";
import type { CommentParts, Ctx, OwnerCtx, OwnerHandler } from "./context.ts";
import { commentId } from "./site/read.ts";
import { cursorOf, numberIn } from "./keys.ts";
import { limitOwner } from "./limits.ts";
import { ownerOf, type SiteHandler, type SiteHandlers } from "./visitor.ts";
import { expectedRevs, threadJson } from "./wire.ts";

const QUEUES: readonly QueueState[] = ["pending", "reported", "rejected"];
const QUEUE_PAGE = 50;
const LONGEST_NOTE = 1000;

/** `held`: the credential by which the caller may decide, where that is neither a cookie nor an agent's token. */
type SiteNotes = { parts: CommentParts; site: Site } & Held;

const ownThread = ({ parts, site }: SiteNotes, thread: StoredThread) =>
  threadJson(parts, site, thread, new Set([ownerOf(parts.keys, site).id]));

const cursorIn = ({ parts, site }: SiteNotes, list: string, cursor: string | null): number | null => {
  const found = numberIn(parts.keys.cursor, `${site.site_id}\0${list}`, cursor);
  if (cursor !== null && found === null) {
    throw new Refusal("invalid_input", "This cursor is none of this list: begin at its first page.", {
      field: "cursor",
    });
  }
  return found;
};
const nextCursor = ({ parts, site }: SiteNotes, list: string, next: number | null): string | null =>
  next === null ? null : cursorOf(parts.keys.cursor, `${site.site_id}\0${list}`, next);

/** The body of `queue`. */
async function queueOf(asked: SiteNotes, query: URLSearchParams) {
  const state = QUEUES.find((one) => one === (query.get("state") ?? "pending"));
  if (state === undefined)
    throw new Refusal("invalid_input", `The state is one of ${QUEUES.join(", ")}.`, { field: "state" });
  const list = `queue ${state}`;
  const after = cursorIn(asked, list, query.get("cursor"));
  const { items, next } = await asked.parts.store.notes.queue(asked.site.site_id, state, after, QUEUE_PAGE);
  return { items, next_cursor: nextCursor(asked, list, next) };
}

function noteIn(members: Readonly<Record<string, unknown>>): string | null {
  const note = members.note ?? null;
  if (note === null || note === "") return null;
  if (typeof note === "string" && note.isWellFormed() && note.length <= LONGEST_NOTE) return withoutUnseen(note);
  throw new Refusal("invalid_input", `The member "note" must be a string of at most ${LONGEST_NOTE} characters.`, {
    field: "note",
  });
}

/** Answers with the thread as it is after the decision. */
async function decide(asked: SiteNotes, request: Request, id: string, action: Action, by: Author) {
  const note = noteIn(await readMembers(request));
  return ownThread(asked, await decideOn(asked, { id, action, by, note }));
}

/** Throws 404 if the site has no such comment or its comments are off, and 403 if it is frozen. */
async function decideOn(
  { parts, site, held }: SiteNotes,
  decision: Pick<CommentDecision, "id" | "action" | "by" | "note">,
): Promise<StoredThread> {
  const event_id = newNoteEventId();
  return (await parts.store.notes.decide({ ...decision, site_id: site.site_id, event_id, ...(held && { held }) }))
    .thread;
}

async function queue(ctx: Ctx): Promise<Response> {
  return answer(ctx, await queueOf(ctx, ctx.query), PRIVATE);
}

const moderation =
  (action: Action): SiteHandler<"owner_here"> =>
  async (ctx) => {
    Object.assign(ctx.headers, await limitOwner(ctx));
    return answer(ctx, await decide(ctx, ctx.request, commentId(ctx), action, ctx.by), PRIVATE);
  };

/** Throws 404 if the site has no comment with this id. */
async function historyOf({ parts, site }: SiteNotes, id: string) {
  const { notes } = parts.store;
  const events = await notes.history(site.site_id, id);
  if (events.length === 0 && (await notes.find(site.site_id, id, { kind: "owner" })) === null)
    throw refusals.unknownComment();
  return events;
}

const PAGE = 50;
const STATUSES: readonly Status[] = ["open", "resolved"];

/** The threads of a page that is gone are read under its old address. */
async function askedPage({ parts, site, query }: OwnerCtx): Promise<string | null> {
  const page = query.get("page");
  if (page === null || page === "") return null;
  return pageOf(await parts.livePages(site), page)?.page ?? page;
}

function askedStatus({ query }: OwnerCtx): Status | null {
  const status = query.get("status");
  if (status === null || status === "" || status === "all") return null;
  const found = STATUSES.find((one) => one === status);
  if (found === undefined)
    throw new Refusal("invalid_input", "The status is open, resolved or all.", { field: "status" });
  return found;
}

async function listThreads(ctx: OwnerCtx) {
  const { parts, site, query } = ctx;
  const [page, status] = [await askedPage(ctx), askedStatus(ctx)];
  const list = `threads ${page ?? ""} ${status ?? ""}`;
  const after = cursorIn(ctx, list, query.get("cursor"));
  const asked = { page, status, since: null, after, limit: PAGE };
  const { threads, next } = await parts.store.notes.threads(site.site_id, { kind: "owner" }, asked);
  return { threads: threads.map((thread) => ownThread(ctx, thread)), next_cursor: nextCursor(ctx, list, next) };
}

const readQueue = (ctx: OwnerCtx) => queueOf(ctx, ctx.query);

const idOf = ({ params }: OwnerCtx): string => `c_${params.comment!}`;

const heldIn = ({ parts, site, by }: OwnerCtx): SiteNotes => ({ parts, site, held: by });

const deciding = (action: Action) => (ctx: OwnerCtx) =>
  decide(heldIn(ctx), ctx.request, idOf(ctx), action, ownerOf(ctx.parts.keys, ctx.site));

export const decideAsOwner = (asked: SiteNotes, id: string, action: Action, note: string | null) =>
  decideOn(asked, { id, action, note, by: ownerOf(asked.parts.keys, asked.site) });

/** A transaction each: whoever waits for the lock of writes gets it between two. */
const REJECTED_AT_ONCE = 100;

const ALL_OF = ["visitor", "network"] as const;
type AllOf = (typeof ALL_OF)[number];

/** Rejects all that stands of the visitor who wrote a comment, or of the network that it came from; answers how many. */
export async function rejectAllAsOwner({ parts, site, held }: SiteNotes, id: string, of: AllOf, note: string | null) {
  const by = ownerOf(parts.keys, site);
  for (let rejected = 0; ;) {
    const event_ids = Array.from({ length: REJECTED_AT_ONCE }, () => newNoteEventId());
    const done = await parts.store.notes.rejectAll({
      site_id: site.site_id,
      id,
      of,
      by,
      note,
      event_ids,
      ...(held && { held }),
    });
    rejected += done;
    if (done < REJECTED_AT_ONCE) return { rejected };
  }
}

async function rejectAll(ctx: OwnerCtx) {
  const members = await readMembers(ctx.request);
  const of = ALL_OF.find((one) => one === members.of);
  if (of === undefined) {
    throw new Refusal("invalid_input", `The member "of" says whose comments: ${ALL_OF.join(" or ")}.`, { field: "of" });
  }
  return rejectAllAsOwner(heldIn(ctx), idOf(ctx), of, noteIn(members));
}

interface OwnerReply {
  /** The id of the thread. */
  thread_id: string;
  text: string;
  /** The name of one try: sent twice under it, it is one reply. */
  canonical: string | null;
}

/** Answers a thread as its owner, public at once (ruling 8). Throws `invalid_annotation`, `unknown_thread`, 409. */
export function replyAsOwner({ parts, site, held }: SiteNotes, { thread_id, text, canonical }: OwnerReply) {
  return parts.store.notes.reply({
    site_id: site.site_id,
    id: newCommentId(),
    by: ownerOf(parts.keys, site),
    text: checkText(text),
    canonical,
    visibility: "public",
    network: null,
    most_waiting: Infinity,
    thread_id,
    as: { kind: "owner" },
    ...(held && { held }),
  });
}

/** Removes a comment; the first one of a thread takes its replies with it. Throws 412 `changed` if the comment has none of
 *  the entity tags `revs`. */
export function removeAsOwner(
  { parts, site, held }: SiteNotes,
  id: string,
  revs: readonly string[] | null = null,
): Promise<void> {
  const [by, event_id] = [ownerOf(parts.keys, site), newNoteEventId()];
  return parts.store.notes.remove({ site_id: site.site_id, id, by, revs, event_id, ...(held && { held }) });
}

async function removeComment(ctx: OwnerCtx): Promise<null> {
  if (!ctx.session) {
    const why = "A manage_token deletes nothing: reject the comment, which hides it, or sign in as the site's owner.";
    throw new Refusal("forbidden", why);
  }
  await removeAsOwner(heldIn(ctx), idOf(ctx), expectedRevs(ctx.request));
  return null;
}

async function readHistory(ctx: OwnerCtx): Promise<Response> {
  const { parts, site, request, exchange } = ctx;
  const id = idOf(ctx);
  const file = parts.documents.history(feedSite(parts, site), id, await historyOf(ctx, id));
  return answer({ request, exchange, headers: {} }, file, { "content-type": LD_JSON });
}

/** The rows of a site's own host that this file answers. */
export const MODERATING_HANDLERS = {
  "GET /_svc/comments/queue": queue,
  "POST /_svc/comments/c_:id/approve": moderation("approve"),
  "POST /_svc/comments/c_:id/reject": moderation("reject"),
  "POST /_svc/comments/c_:id/resolve": moderation("resolve"),
  "POST /_svc/comments/c_:id/reopen": moderation("reopen"),
} satisfies Partial<SiteHandlers>;

/** The rows of the API that this file answers for owners. */
export const OWNER_MODERATION = {
  "GET /sites/:id/comments/threads": listThreads,
  "GET /sites/:id/comments/queue": readQueue,
  "POST /sites/:id/comments/c_:comment/approve": deciding("approve"),
  "POST /sites/:id/comments/c_:comment/reject": deciding("reject"),
  "POST /sites/:id/comments/c_:comment/reject-all": rejectAll,
  "POST /sites/:id/comments/c_:comment/resolve": deciding("resolve"),
  "POST /sites/:id/comments/c_:comment/reopen": deciding("reopen"),
  "DELETE /sites/:id/comments/c_:comment": removeComment,
  "GET /sites/:id/comments/c_:comment/history": readHistory,
} satisfies Readonly<Record<string, OwnerHandler>>;
