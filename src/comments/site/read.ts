/** Handlers for visitors on a site's host: they read, post, change, enter and follow comments. Visitors read the threads
 *  of a page, one comment, and their own data (COMMENTS 2). */
import { Refusal } from "../../base/errors.ts";
import { refusals } from "../../store/refusals.ts";
import { feedSite, pageOf } from "../addresses.ts";
import { ANNOTATION, answer, digestTag, LD_JSON, optionsAnswer, PRIVATE } from "../answers.ts";
import type { Ctx } from "../context.ts";
import type { ThreadsView } from "../types.ts";
import { cursorOf, numberIn } from "../keys.ts";
import { type SiteHandler, type SiteHandlers, viewerOf, type Who, whoAsks } from "../visitor.ts";
import { entityTag, itemOf, threadJson } from "../wire.ts";

const POLL_S = 20;

const noPage = (): Refusal => new Refusal("not_found", "The site has no such page.");

/** The scope of a cursor: one of another viewer would skip other comments. */
const scopeOf = ({ site }: Ctx, page: string, { as }: Who): string =>
  [site.site_id, page, as.kind, as.kind === "visitor" ? as.person_id : ""].join("\0");

/** The ids of all persons that the viewer is. */
export const personsOf = ({ author, visitor }: Pick<Who, "author" | "visitor">): ReadonlySet<string> =>
  new Set([author, visitor].flatMap((one) => (one === null ? [] : [one.id])));

async function askedPage({ query, parts, site }: Ctx): Promise<string> {
  const found = pageOf(await parts.livePages(site), query.get("page") ?? "");
  if (found === null) throw noPage();
  return found.page;
}

async function viewOf(ctx: Ctx, who: Who, page: string, since: number | null): Promise<ThreadsView> {
  const { parts, site } = ctx;
  const seen = await parts.store.notes.view(site.site_id, page, who.as, since);
  const mine = personsOf(who);
  return {
    cursor: cursorOf(parts.keys.cursor, scopeOf(ctx, page, who), seen.stamp),
    mode: site.comments_mode,
    page,
    viewer: viewerOf(ctx, who),
    threads: seen.threads.map((thread) => threadJson(parts, site, thread, mine)),
    gone: seen.gone,
    poll_s: POLL_S,
  };
}

/** The common answer is an empty 304, and takes one look at an index. */
async function threads(ctx: Ctx): Promise<Response> {
  const { parts, site, query, request } = ctx;
  const who = await whoAsks(ctx);
  const page = await askedPage(ctx);
  const scope = scopeOf(ctx, page, who);
  const stamp = await parts.store.notes.stamp(site.site_id, page, who.as);
  const cursor = cursorOf(parts.keys.cursor, scope, stamp);
  const etag = digestTag("t", cursor, site.comments_mode, viewerOf(ctx, who), site.live_version_id);
  const fields = { ...PRIVATE, etag };
  const since = numberIn(parts.keys.cursor, scope, query.get("since"));
  if (request.headers.get("if-none-match") === etag) return answer(ctx, "", fields);
  const key = [scope, etag, ...personsOf(who)].join("\0");
  const kept = since === null ? parts.views.find(key) : undefined;
  if (kept !== undefined) return answer(ctx, kept, fields);
  const view = await viewOf(ctx, who, page, since);
  const text = JSON.stringify(view);
  // Something may have been written between the two looks.
  if (since === null && view.cursor === cursor) parts.views.keep(key, text);
  return answer(ctx, text, fields);
}

/** The id `c_…` in the path. */
export const commentId = ({ params }: Pick<Ctx, "params">): string => `c_${params.id!}`;

async function comment(ctx: Ctx): Promise<Response> {
  const { parts, site } = ctx;
  const who = await whoAsks(ctx);
  const found = await parts.store.notes.find(site.site_id, commentId(ctx), who.as);
  if (found === null) throw refusals.unknownComment();
  if (found === "deleted") throw refusals.commentDeleted();
  const { thread, comment } = found;
  const annotation = parts.documents.annotation(feedSite(parts, site), itemOf(thread, comment));
  return answer(ctx, annotation, { ...ANNOTATION, etag: entityTag(comment) });
}

async function commentOptions(ctx: Ctx): Promise<Response> {
  return optionsAnswer(ctx, ANNOTATION.allow, { vary: "Accept" });
}

const me: SiteHandler<"visitor_reads"> = async (ctx) => {
  const { parts, site, visitor, identity } = ctx;
  const known = await parts.store.notes.person(site.site_id, visitor.id);
  const created_at = known?.created_at ?? new Date(identity.issued * 1000).toISOString();
  return answer(ctx, { id: visitor.id, name: visitor.name, created_at }, PRIVATE);
};

/** Everything that they wrote, public or not, as one file. */
const exported: SiteHandler<"visitor_reads"> = async (ctx) => {
  const { parts, site, visitor } = ctx;
  const place = feedSite(parts, site);
  const items = await parts.store.notes.written(site.site_id, visitor.id);
  const file = parts.documents.exported(place, visitor.name, items);
  return answer(ctx, file, { ...PRIVATE, "content-type": LD_JSON });
};

/** The rows of a site's own host that this file answers. */
export const READING_HANDLERS = {
  "GET /_svc/comments/threads": threads,
  "GET /_svc/comments/c_:id": comment,
  "OPTIONS /_svc/comments/c_:id": commentOptions,
  "GET /_svc/comments/me": me,
  "GET /_svc/comments/me/export": exported,
} satisfies Partial<SiteHandlers>;
