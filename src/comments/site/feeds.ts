/** Feeds beside the pages, and everywhere under one address (COMMENTS 1). The same for every reader who gets them
 *  (ruling 10). */
import { Refusal } from "../../base/errors.ts";
import { feedAddress, type Page, pageOfFeed, siteFeedAddress } from "../../base/pages.ts";
import { feedSite, pageOf, pathOfSource } from "../addresses.ts";
import { optionsAnswer } from "../answers.ts";
import type { Ctx, LivePages } from "../context.ts";
import { asksIris, pageNumber, wantsW3c } from "../feed/asked.ts";
import { FEED_INLINE, FEED_PAGE, type FeedAsked, type Identified } from "../types.ts";
import { refuseOff, refuseReaders } from "../visitor/who.ts";
import { preflight, sendDocument, sharing } from "./shared.ts";

const ALLOW = "GET, HEAD, OPTIONS";

const noFeed = (): Refusal => new Refusal("not_found", "There is no such feed, or no such page of it.");

interface Told {
  document: Identified;
  /** Null: the collection itself. */
  n: number | null;
}

/** What `ctx` asks of the feed of this page, or of the site's where it is null. */
async function tell({ parts, site, query, request }: Ctx, live: LivePages, of: Page | null): Promise<Told> {
  const n = pageNumber(query);
  if (n === undefined) throw noFeed();
  const page = of?.page ?? null;
  const { notes } = parts.store;
  const { items, ...counted } =
    n === null
      ? await notes.feed(site.site_id, page, 0, FEED_INLINE, FEED_INLINE)
      : await notes.feed(site.site_id, page, n * FEED_PAGE, FEED_PAGE);
  const place = feedSite(parts, site);
  const id = place.origin + (of === null ? siteFeedAddress(live) : feedAddress(live, of));
  const asked: FeedAsked = { site: place, id, iris: asksIris(query), page, ...counted };
  if (n === null) return { document: parts.documents.collection(asked, items, wantsW3c(request)), n };
  if (items.length === 0) throw noFeed();
  return { document: parts.documents.page(asked, n, items), n };
}

async function send(ctx: Ctx, live: LivePages, of: Page | null): Promise<Response> {
  const { document, n } = await tell(ctx, live, of);
  return sendDocument(ctx, document, { ...sharing(ctx, "Accept"), allow: ALLOW }, `-p${n ?? 0}`);
}

/** `/comments.json` and `X.comments.json`, where no file of the site has that name. */
export async function companion(ctx: Ctx): Promise<Response> {
  await refuseReaders(ctx);
  const live = await ctx.parts.livePages(ctx.site);
  if (ctx.path === "/comments.json") return send(ctx, live, null);
  const page = pageOfFeed(live, ctx.path);
  if (page === null) throw noFeed();
  return send(ctx, live, page);
}

/** The same wherever a file has the companion's name. */
export async function feed(ctx: Ctx): Promise<Response> {
  await refuseReaders(ctx);
  const live = await ctx.parts.livePages(ctx.site);
  const source = ctx.query.get("source");
  if (source === null) return send(ctx, live, null);
  const page = pageAtSource(ctx, live, source);
  if (page === null) throw noFeed();
  return send(ctx, live, page);
}

/** A page's path, or its address as an annotation's target has it. */
function pageAtSource({ parts, site, origin }: Ctx, live: LivePages, source: string): Page | null {
  const path = !/^(?:\/|https?:)/.test(source) ? null : pathOfSource(source, [feedSite(parts, site).origin, origin]);
  return path === null ? null : pageOf(live, path);
}

export async function feedOptions(ctx: Ctx): Promise<Response> {
  refuseOff(ctx);
  return optionsAnswer(ctx, ALLOW, { ...sharing(ctx, "Accept"), ...preflight(ctx, ALLOW) });
}
