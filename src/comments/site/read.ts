/** Handlers for visitors on a site's host: they read, post, change, enter and follow comments. Visitors read the threads
 *  of a page, one comment, and their own data (COMMENTS 2). */
import { Refusal } from "../../base/errors.ts";
import type { Bytes } from "../../base/types.ts";
import type { StoredThread, Viewpoint } from "../../store/notes.ts";
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

/** Those who see the same of a page: all who have nothing of their own there, or one viewer. */
interface Audience {
  stamp: number;
  /** The site's last change when that was so: what is read after another one is newer. */
  no: number;
  as: Viewpoint;
  /** The persons whose comments are "mine". */
  mine: ReadonlySet<string>;
  /** Names the audience, the page and its stamp: what is written out of a page follows from it. */
  key: string;
}

const NOBODY: ReadonlySet<string> = new Set();

/** One look at a key, unless a comment of the site has changed since the viewer's last one. */
export async function audienceOf({ parts, site }: Ctx, page: string, who: Who): Promise<Audience> {
  const { notes } = parts.store;
  const { site_id } = site;
  const own = [site_id, page, who.as.kind, ...personsOf(who)].join("\0");
  const no = await notes.changeNumber(site_id);
  const standing = await parts.views.standing(own, no, () => notes.standing(site_id, page, who.as));
  const { stamp } = standing;
  if (standing.own || who.owner) return { stamp, no, as: who.as, mine: personsOf(who), key: `${own}\0${stamp}` };
  return { stamp, no, as: { kind: "public" }, mine: NOBODY, key: [site_id, page, "public", stamp].join("\0") };
}

/** A list of threads as it is written out; it may be newer than the audience's stamp. */
interface WrittenList {
  threads: Bytes;
  gone: Bytes;
}

const NONE = Buffer.from("[]");

function written({ parts, site }: Ctx, threads: readonly StoredThread[], { mine }: Audience): Bytes {
  return Buffer.from(JSON.stringify(threads.map((thread) => threadJson(parts, site, thread, mine))));
}

/** All threads of the page. */
async function wholeList(ctx: Ctx, page: string, audience: Audience): Promise<WrittenList> {
  const { parts, site, from } = ctx;
  const { views, store } = parts;
  const customer = from()[0]!;
  const [kept] = views.find(audience.key) ?? [];
  await views.refuseGreedy(customer);
  if (kept !== undefined) {
    views.countRead(customer, kept.byteLength, false);
    return { threads: kept, gone: NONE };
  }
  const seen = await store.notes.view(site.site_id, page, audience.as);
  const threads = written(ctx, seen.threads, audience);
  views.countRead(customer, threads.byteLength, true);
  if (seen.no === audience.no) views.keep(audience.key, [threads]);
  return { threads, gone: NONE };
}

/** The threads that changed after `since`, or all as they are kept where that is much; and what is gone. */
async function changedList(ctx: Ctx, page: string, audience: Audience, since: number): Promise<WrittenList> {
  if (since >= audience.stamp) return { threads: NONE, gone: NONE };
  const { parts, site } = ctx;
  const key = `${audience.key}\0since ${since}`;
  const [kept_gone, kept_threads] = parts.views.find(key) ?? [];
  if (kept_threads !== undefined) return { threads: kept_threads, gone: kept_gone! };
  if (kept_gone !== undefined) return { ...(await wholeList(ctx, page, audience)), gone: kept_gone };
  const seen = await parts.store.notes.changedView(site.site_id, page, audience.as, since);
  const gone = Buffer.from(JSON.stringify(seen.gone));
  const threads = seen.threads && written(ctx, seen.threads, audience);
  if (seen.no === audience.no) parts.views.keep(key, threads === null ? [gone] : [gone, threads]);
  return threads === null ? { ...(await wholeList(ctx, page, audience)), gone } : { threads, gone };
}

/** The common answer is an empty 304, or a list that is kept. */
async function threads(ctx: Ctx): Promise<Response> {
  const { parts, site, query, request } = ctx;
  const who = await whoAsks(ctx);
  const page = await askedPage(ctx);
  const scope = scopeOf(ctx, page, who);
  const audience = await audienceOf(ctx, page, who);
  const cursor = cursorOf(parts.keys.cursor, scope, audience.stamp);
  const viewer = viewerOf(ctx, who);
  const mode = site.comments_mode;
  const etag = digestTag("t", cursor, mode, viewer, site.live_version_id);
  const fields = { ...PRIVATE, etag };
  if (request.headers.get("if-none-match") === etag) return answer(ctx, "", fields);
  const since = numberIn(parts.keys.cursor, scope, query.get("since"));
  const list = await (since === null ? wholeList(ctx, page, audience) : changedList(ctx, page, audience, since));
  const head: Omit<ThreadsView, "threads" | "gone" | "poll_s"> = { cursor, mode, page, viewer };
  const body = Buffer.concat([
    Buffer.from(`${JSON.stringify(head).slice(0, -1)},"threads":`),
    list.threads,
    Buffer.from(`,"gone":`),
    list.gone,
    Buffer.from(`,"poll_s":${POLL_S}}`),
  ]);
  return answer(ctx, body, fields);
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
  const { parts, site, visitor, from } = ctx;
  await parts.views.refuseGreedy(from()[0]!);
  const place = feedSite(parts, site);
  const items = await parts.store.notes.written(site.site_id, visitor.id);
  const file = JSON.stringify(parts.documents.exported(place, visitor.name, items));
  parts.views.countRead(from()[0]!, file.length, true);
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
