/** `POST /_svc/comments/`: a thread on a page, or a reply (COMMENTS 2 and rulings 11 to 19). */
import { Refusal } from "../../base/errors.ts";
import { newCommentId, newPseudonym } from "../../base/tokens.ts";
import type { Author, Written } from "../../store/notes.ts";
import { feedSite, COMMENTS, pageOf, pathOfSource } from "../addresses.ts";
import { readComment, type SentComment } from "../annotation.ts";
import { ANNOTATION, answer } from "../answers.ts";
import type { Ctx } from "../context.ts";
import { identityCookies, newIdentity, type SiteHandler, type SiteHandlers, type Who } from "../visitor.ts";
import { networkHash, personId } from "../keys.ts";
import { limitPost, mostWaiting } from "../limits.ts";
import { entityTag, itemOf } from "../wire.ts";

/** A comment with more links waits for the owner, in every mode. */
const MOST_LINKS = 2;

const unknownPage = (): Refusal =>
  new Refusal("unknown_page", "This site has no such page. Reload it, then try again.");

/** The author of a new comment. */
interface Writer {
  author: Author;
  /** Cookies for the answer, if this is their first comment. */
  cookies: string[];
}

export function writerOf(ctx: Ctx, { author }: Who): Writer {
  if (author !== null) return { author, cookies: [] };
  const { parts, site } = ctx;
  const { keys, now } = parts;
  const fresh = newIdentity(newPseudonym(), now());
  const { identity, name } = fresh;
  const id = personId(keys, site.site_id, identity);
  return { author: { id, name, kind: "visitor" }, cookies: identityCookies(keys, ctx, fresh, now()) };
}

const hasManyLinks = (text: string): boolean =>
  (text.match(/https?:\/\/(?:www\.)?|\bwww\./gi)?.length ?? 0) > MOST_LINKS;

/** Whether a comment waits for the owner: a visitor's does in approved mode, and in every mode with many links. */
export const waits = ({ site }: Pick<Ctx, "site">, { kind }: Author, text: string): boolean =>
  kind === "visitor" && (site.comments_mode === "approved" || hasManyLinks(text));

/** The comment that a target names; null if it is not a comment of this site. */
function answeredBy(target: string, origins: readonly string[]): string | null {
  const path = pathOfSource(target, origins);
  return path?.startsWith(`${COMMENTS}c_`) ? path.slice(COMMENTS.length) : null;
}

/** The members of a new comment, be it the first of a thread or a reply. */
function writingOf(ctx: Ctx, { text, canonical }: SentComment, author: Author) {
  const { parts, site } = ctx;
  return {
    site_id: site.site_id,
    id: newCommentId(),
    by: author,
    text,
    canonical,
    visibility: waits(ctx, author, text) ? ("pending" as const) : ("public" as const),
    network: author.kind === "visitor" ? networkHash(parts.keys, "comments", site.site_id, ctx.block()) : null,
    most_waiting: mostWaiting(parts),
  };
}

async function begin(ctx: Ctx, sent: SentComment, author: Author, path: string | null): Promise<Written> {
  const { parts, site } = ctx;
  const live = await parts.livePages(site);
  const page = path === null ? null : pageOf(live, path);
  if (page === null) throw unknownPage();
  const { quote, element } = sent;
  const found =
    quote === null
      ? { carried: null, place: null }
      : await parts.locate(live, page, quote, [site.site_id, ...ctx.from()]);
  const { version_id, created_at } = live.version;
  return parts.store.notes.start({
    ...writingOf(ctx, sent, author),
    page: page.page,
    version_id,
    version_created_at: created_at,
    quote,
    element,
    ...found,
  });
}

async function reply(ctx: Ctx, sent: SentComment, author: Author, thread_id: string, who: Who): Promise<Written> {
  return ctx.parts.store.notes.reply({ ...writingOf(ctx, sent, author), thread_id, as: who.as });
}

/** Stores what was sent, or finds what was stored under its key. */
export async function store(ctx: Ctx, sent: SentComment, who: Who, author: Author): Promise<Written> {
  const { notes } = ctx.parts.store;
  const { canonical, target, motivation } = sent;
  const before = canonical === null ? null : await notes.byCanonical(ctx.site.site_id, author, canonical);
  if (before !== null) return before;
  const origins = [feedSite(ctx.parts, ctx.site).origin, ctx.origin];
  const thread_id = answeredBy(target, origins);
  if (thread_id !== null) return reply(ctx, sent, author, thread_id, who);
  if (motivation === "replying")
    throw new Refusal("unknown_thread", "A reply's target is the comment that it answers.");
  return begin(ctx, sent, author, pathOfSource(target, origins));
}

const post: SiteHandler<"writer"> = async (ctx) => {
  const { who } = ctx;
  const { author, cookies } = writerOf(ctx, who);
  const counted = await limitPost(ctx, author);
  const [sent, written] = await counted.unless(async () => {
    const sent = await readComment(ctx.request);
    return [sent, await store(ctx, sent, who, author)] as const;
  });
  for (const cookie of cookies) ctx.exchange.setCookie(cookie);
  return answerWritten(ctx, written);
};

function answerWritten(ctx: Ctx, { thread, comment_id, repeated }: Written): Response {
  const site = feedSite(ctx.parts, ctx.site);
  const comment = thread.comments.find(({ id }) => id === comment_id)!;
  const annotation = ctx.parts.documents.annotation(site, itemOf(thread, comment));
  const fields = {
    ...ANNOTATION,
    // It is the container's answer, too.
    vary: "Accept, Prefer, Cookie",
    location: site.origin + COMMENTS + comment_id,
    etag: entityTag(comment),
    ...(comment.visibility === "pending" && { "svc-visibility": "pending" }),
  };
  return answer(ctx, annotation, fields, repeated ? 200 : 201);
}

/** The rows of a site's own host that this file answers. */
export const POSTING_HANDLERS = {
  "POST /_svc/comments/": post,
} satisfies Partial<SiteHandlers>;
