/** Authors change their own comments and name on a site's host (COMMENTS 2 and rulings 3, 4 and 11). */
import { Refusal } from "../../base/errors.ts";
import { newNoteEventId } from "../../base/tokens.ts";
import type { Author } from "../../store/notes.ts";
import { refusals } from "../../store/refusals.ts";
import { UNIT_MS } from "../../base/units.ts";
import { feedSite } from "../addresses.ts";
import { readChangedText, readMembers } from "../annotation.ts";
import { ANNOTATION, answer, emptyAnswer, PRIVATE } from "../answers.ts";
import type { Ctx } from "../context.ts";
import {
  endedIdentity,
  identityCookies,
  noIdentity,
  type SiteHandler,
  type SiteHandlers,
  type Who,
} from "../visitor.ts";
import { limitOwner, limitRename, limitWriting, mostWaiting } from "../limits.ts";
import { checkName } from "../visitor-names.ts";
import { waits } from "./post.ts";
import { commentId, personsOf } from "./read.ts";
import { entityTag, expectedRevs, itemOf } from "../wire.ts";

const EDITABLE_MS = 15 * UNIT_MS.m;

const ifMatchRequired = (): Refusal =>
  new Refusal("if_match_required", "Send the comment's ETag in If-Match, so that nobody's change is lost.");

/** The person who may change it: an owner who also wrote as a visitor is either of them. */
async function authorAt(ctx: Ctx, who: Who): Promise<Author> {
  const { parts, site } = ctx;
  const found = await parts.store.notes.find(site.site_id, commentId(ctx), who.as);
  if (found === "deleted") throw refusals.commentDeleted();
  if (found === null) throw refusals.unknownComment();
  if (who.author === null) throw noIdentity();
  if (!personsOf(who).has(found.comment.by?.id ?? "")) {
    throw new Refusal("forbidden", "This comment is somebody else's.");
  }
  return found.comment.by?.id === who.visitor?.id ? who.visitor! : who.author;
}

const edit: SiteHandler<"author"> = async (ctx) => {
  const { parts, site, request, who } = ctx;
  await limitWriting(ctx);
  const by = await authorAt(ctx, who);
  if (!request.headers.has("if-match")) throw ifMatchRequired();
  const revs = expectedRevs(request);
  const text = await readChangedText(request);
  const { thread, comment } = await parts.store.notes.edit({
    site_id: site.site_id,
    id: commentId(ctx),
    by,
    text,
    revs,
    written_after: new Date(parts.now() - EDITABLE_MS).toISOString(),
    waits: waits(ctx, by, text),
    most_waiting: mostWaiting(parts),
  });
  const annotation = parts.documents.annotation(feedSite(parts, site), itemOf(thread, comment));
  const pending = comment.visibility === "pending" && { "svc-visibility": "pending" };
  return answer(ctx, annotation, { ...ANNOTATION, etag: entityTag(comment), ...pending }, 200);
};

/** The author who deletes, or the owner. An owner by a manage_token deletes what they wrote as a visitor, and nothing else. */
async function remover(ctx: Ctx, who: Who): Promise<Author> {
  if (!who.owner) return authorAt(ctx, who);
  if (who.may_delete) return who.author!;
  const { parts, site } = ctx;
  const found = await parts.store.notes.find(site.site_id, commentId(ctx), who.as);
  const by_visitor = found !== null && found !== "deleted" && found.comment.by?.id === who.visitor?.id;
  if (by_visitor && who.visitor !== null) return who.visitor;
  const why =
    "A manage_token made you the owner here, and that deletes nothing: reject the comment, which hides it, or open the site as owner from its account's dashboard.";
  throw new Refusal("forbidden", why);
}

/** Deletes a comment for its author, or for the owner, who has no limit. */
const remove: SiteHandler<"author"> = async (ctx) => {
  const { parts, site, request, who } = ctx;
  if (who.owner) Object.assign(ctx.headers, await limitOwner(ctx));
  else await limitWriting(ctx);
  const by = await remover(ctx, who);
  const event_id = newNoteEventId();
  const revs = expectedRevs(request);
  await parts.store.notes.remove({ site_id: site.site_id, id: commentId(ctx), by, revs, event_id });
  return emptyAnswer(ctx, 204);
};

/** Renames the author. Strangers see the new name at once unless the owner approves comments first. */
const rename: SiteHandler<"visitor"> = async (ctx) => {
  const { parts, site, exchange, identity, visitor } = ctx;
  const counted = await limitRename(ctx, visitor);
  const name = await counted.unless(async () => {
    const wanted = checkName((await readMembers(ctx.request)).name, site.label);
    await parts.store.notes.rename(site.site_id, { ...visitor, name: wanted }, site.comments_mode !== "approved");
    return wanted;
  });
  exchange.cookies = identityCookies(parts.keys, ctx, { ...identity, name }, parts.now());
  const known = await parts.store.notes.person(site.site_id, visitor.id);
  return answer(ctx, { id: visitor.id, name, created_at: known?.created_at }, PRIVATE);
};

const erase: SiteHandler<"visitor"> = async (ctx) => {
  const { parts, site, exchange, visitor } = ctx;
  await limitWriting(ctx);
  await parts.store.notes.erase(site.site_id, visitor.id);
  exchange.cookies = endedIdentity(ctx); // a renewed one would bring them back
  return emptyAnswer(ctx, 204);
};

/** The rows of a site's own host that this file answers. */
export const CHANGING_HANDLERS = {
  "PUT /_svc/comments/c_:id": edit,
  "DELETE /_svc/comments/c_:id": remove,
  "PATCH /_svc/comments/me": rename,
  "DELETE /_svc/comments/me": erase,
} satisfies Partial<SiteHandlers>;
