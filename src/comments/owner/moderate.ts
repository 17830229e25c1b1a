/** What owners decide and read, on the site's host by their cookie and on the API's by a session or a manage_token. */
import { Refusal } from "../../base/errors.ts";
import { newNoteEventId } from "../../base/tokens.ts";
import type { Action, Author, Decision, QueueState, StoredThread } from "../../store/notes.ts";
import { unknownComment } from "../../store/refusals.ts";
import type { Site } from "../../base/types.ts";
import { withoutUnseen } from "../../base/visible.ts";
import { readMembers } from "../annotation.ts";
import { answer, PRIVATE } from "../answers.ts";
import type { CommentParts, Ctx } from "../context.ts";
import { cursorOf, numberIn } from "../visitor/cursor.ts";
import { commentId } from "../site/read.ts";
import { limitOwner } from "../visitor/limits.ts";
import { threadJson } from "../wire.ts";
import { ownerAsks, ownerOf, refuseForeign, refuseOff } from "../visitor/who.ts";

const QUEUES: readonly QueueState[] = ["pending", "reported", "rejected"];
const QUEUE_PAGE = 50;
const LONGEST_NOTE = 1000;

type Asked = { parts: CommentParts; site: Site };

export const ownThread = ({ parts, site }: Asked, thread: StoredThread) =>
  threadJson(parts, site, thread, new Set([ownerOf(parts.keys, site).id]));

export const cursorIn = ({ parts, site }: Asked, list: string, cursor: string | null): number | null => {
  const found = numberIn(parts.keys.cursor, `${site.site_id}\0${list}`, cursor);
  if (cursor !== null && found === null) {
    throw new Refusal("invalid_input", "This cursor is none of this list: begin at its first page.", {
      field: "cursor",
    });
  }
  return found;
};
export const nextCursor = ({ parts, site }: Asked, list: string, next: number | null): string | null =>
  next === null ? null : cursorOf(parts.keys.cursor, `${site.site_id}\0${list}`, next);

/** The body of `queue`. */
export async function queueOf(asked: Asked, query: URLSearchParams) {
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

/** The thread as it is then. */
export async function decide(asked: Asked, request: Request, id: string, action: Action, by: Author) {
  const note = noteIn(await readMembers(request));
  return ownThread(asked, await decideOn(asked, { id, action, by, note }));
}

/** Throws 404 where the site has no such comment, or none at all for now, and 403 where it is frozen. */
export async function decideOn(
  { parts, site }: Asked,
  decision: Pick<Decision, "id" | "action" | "by" | "note">,
): Promise<StoredThread> {
  const event_id = newNoteEventId();
  return (await parts.store.notes.decide({ ...decision, site_id: site.site_id, event_id })).thread;
}

export const ACTIONS: readonly Action[] = ["approve", "reject", "resolve", "reopen"];

export async function queue(ctx: Ctx): Promise<Response> {
  refuseOff(ctx);
  ownerAsks(ctx);
  return answer(ctx, await queueOf(ctx, ctx.query), PRIVATE);
}

export const moderation =
  (action: Action) =>
  async (ctx: Ctx): Promise<Response> => {
    refuseForeign(ctx);
    const by = ownerAsks(ctx);
    Object.assign(ctx.headers, await limitOwner(ctx));
    return answer(ctx, await decide(ctx, ctx.request, commentId(ctx), action, by), PRIVATE);
  };

/** Throws 404 where the site has none of this id. */
export async function historyOf({ parts, site }: Asked, id: string) {
  const { notes } = parts.store;
  const events = await notes.history(site.site_id, id);
  if (events.length === 0 && (await notes.find(site.site_id, id, { kind: "owner" })) === null) throw unknownComment();
  return events;
}
