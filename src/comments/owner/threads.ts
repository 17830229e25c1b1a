/** Threads as their owner reads and decides them on the API's host (COMMENTS 2). */
import { Refusal } from "../../base/errors.ts";
import { newNoteEventId } from "../../base/tokens.ts";
import type { Action, Status } from "../../store/notes.ts";
import { feedSite, pageOf } from "../addresses.ts";
import { answer, LD_JSON } from "../answers.ts";
import type { OwnerCtx } from "../context.ts";
import { cursorIn, decide, decideOn, historyOf, nextCursor, ownThread, queueOf } from "./moderate.ts";
import { ownerOf } from "../visitor/who.ts";
import { expectedRevs } from "../wire.ts";

const PAGE = 50;
const STATUSES: readonly Status[] = ["open", "resolved"];

/** Of a page that is gone its threads are read under its old address. */
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

export async function listThreads(ctx: OwnerCtx) {
  const { parts, site, query } = ctx;
  const [page, status] = [await askedPage(ctx), askedStatus(ctx)];
  const list = `threads ${page ?? ""} ${status ?? ""}`;
  const after = cursorIn(ctx, list, query.get("cursor"));
  const asked = { page, status, since: null, after, limit: PAGE };
  const { threads, next } = await parts.store.notes.threads(site.site_id, { kind: "owner" }, asked);
  return { threads: threads.map((thread) => ownThread(ctx, thread)), next_cursor: nextCursor(ctx, list, next) };
}

export const readQueue = (ctx: OwnerCtx) => queueOf(ctx, ctx.query);

const idOf = ({ params }: OwnerCtx): string => `c_${params.comment!}`;

export const deciding = (action: Action) => (ctx: OwnerCtx) =>
  decide(ctx, ctx.request, idOf(ctx), action, ownerOf(ctx.parts.keys, ctx.site));

type Asked = Pick<OwnerCtx, "parts" | "site">;

export const decideAsOwner = (asked: Asked, id: string, action: Action, note: string | null) =>
  decideOn(asked, { id, action, note, by: ownerOf(asked.parts.keys, asked.site) });

/** The first one of a thread goes with its replies. `revs`: throws 412 `changed` where it is none of them. */
export function removeAsOwner(
  { parts, site }: Asked,
  id: string,
  revs: readonly string[] | null = null,
): Promise<void> {
  const [by, event_id] = [ownerOf(parts.keys, site), newNoteEventId()];
  return parts.store.notes.remove({ site_id: site.site_id, id, by, revs, event_id });
}

export async function removeComment(ctx: OwnerCtx): Promise<null> {
  if (!ctx.session) {
    const why = "A manage_token deletes nothing: reject the comment, which hides it, or sign in as the site's owner.";
    throw new Refusal("forbidden", why);
  }
  await removeAsOwner(ctx, idOf(ctx), expectedRevs(ctx.request));
  return null;
}

export async function readHistory(ctx: OwnerCtx): Promise<Response> {
  const { parts, site, request, exchange } = ctx;
  const id = idOf(ctx);
  const file = parts.documents.history(feedSite(parts, site), id, await historyOf(ctx, id));
  return answer({ request, exchange, headers: {} }, file, { "content-type": LD_JSON });
}
