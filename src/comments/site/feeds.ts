/** Which feed is asked for, and its headers; the documents are feed.ts's. The same for every reader who gets them
 *  (COMMENTS, ruling 10). */
import { Refusal } from "../../errors.ts";
import { feedAddress, type Page, pageOfFeed, siteFeedAddress } from "../../pages.ts";
import { COMMENTS, feedSite, pageOf } from "../addresses.ts";
import { answer, ANNO, digestTag, LD_JSON, optionsAnswer } from "../answers.ts";
import type { Ctx, LivePages } from "../context.ts";
import { FEED_INLINE, FEED_PAGE, type FeedAsked } from "../types.ts";
import { refuseOff, refuseReaders } from "../visitor/who.ts";

const noFeed = (): Refusal => new Refusal("not_found", "There is no such feed, or no such page of it.");

const ALLOW = "GET, HEAD, OPTIONS";
const CONTAINER_ALLOW = "GET, HEAD, OPTIONS, POST";

/** In passcode mode a shared cache must not hand it to others. */
const shared = ({ site }: Ctx, vary: string): Record<string, string> =>
  site.comments_mode === "passcode"
    ? { "cache-control": "private, no-store", vary: `${vary}, Cookie` }
    : {
        "cache-control": "public, max-age=0, must-revalidate",
        vary,
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag, Link, Content-Location",
      };

/** Whether the client reads the W3C's names rather than SPEC's. */
const wantsW3c = ({ request }: Ctx): boolean => request.headers.get("accept")?.includes(ANNO) ?? false;

/** `page`: null for the site's. `address`: its own, without the number of a page. */
async function sendFeed(ctx: Ctx, live: LivePages, page: Page | null): Promise<Response> {
  const { parts, site, query } = ctx;
  const address = page === null ? siteFeedAddress(live) : feedAddress(live, page);
  const place = feedSite(parts, site);
  const number = query.get("page");
  const n = number === null ? null : Number(/^\d{1,6}$/.exec(number)?.[0] ?? NaN);
  if (Number.isNaN(n)) throw noFeed();
  const of = page?.page ?? null;
  const { notes } = parts.store;
  const { total, modified_at, items } =
    n === null
      ? await notes.feed(site.site_id, of, 0, FEED_INLINE)
      : await notes.feed(site.site_id, of, n * FEED_PAGE, FEED_PAGE);
  if (n !== null && items.length === 0) throw noFeed();
  const asked: FeedAsked = { site: place, id: place.origin + address, page: of, total, modified_at };
  const w3c = wantsW3c(ctx);
  const document =
    n === null
      ? parts.documents.collection(asked, total <= FEED_INLINE ? items : [], w3c)
      : parts.documents.page(asked, n, items);
  const text = JSON.stringify(document);
  const etag = digestTag("c", text).replace(/"$/, `-p${n ?? 0}"`);
  return answer(ctx, text, { ...shared(ctx, "Accept"), "content-type": LD_JSON, allow: ALLOW, etag });
}

/** `/comments.json` and `X.comments.json`, where no file of the site has that name. */
export async function companion(ctx: Ctx, path: string): Promise<Response> {
  await refuseReaders(ctx);
  const live = await ctx.parts.livePages(ctx.site);
  if (path === "/comments.json") return sendFeed(ctx, live, null);
  const page = pageOfFeed(live, path);
  if (page === null) throw noFeed();
  return sendFeed(ctx, live, page);
}

/** The same wherever a file has the companion's name. */
export async function feed(ctx: Ctx): Promise<Response> {
  await refuseReaders(ctx);
  const live = await ctx.parts.livePages(ctx.site);
  const source = ctx.query.get("source");
  if (source === null) return sendFeed(ctx, live, null);
  const page = pageOf(live, source);
  if (page === null) throw noFeed();
  return sendFeed(ctx, live, page);
}

const CONTAINER = {
  link: '<http://www.w3.org/ns/ldp#BasicContainer>; rel="type", <http://www.w3.org/TR/annotation-protocol/>; rel="http://www.w3.org/ns/ldp#constrainedBy"',
  allow: CONTAINER_ALLOW,
  "accept-post": LD_JSON,
};

export async function container(ctx: Ctx): Promise<Response> {
  await refuseReaders(ctx);
  const { parts, site } = ctx;
  const live = await parts.livePages(site);
  const place = feedSite(parts, site);
  const { total, modified_at } = await parts.store.notes.feed(site.site_id, null, 0, 0);
  const id = place.origin + COMMENTS;
  const asked: FeedAsked = { site: place, id, page: null, total, modified_at };
  const text = JSON.stringify(parts.documents.container(asked, place.origin + siteFeedAddress(live)));
  const etag = digestTag("c", text);
  const fields = { ...CONTAINER, "content-type": LD_JSON, "content-location": id, etag };
  return answer(ctx, text, { ...shared(ctx, "Accept, Prefer"), ...fields });
}

export async function containerOptions(ctx: Ctx): Promise<Response> {
  refuseOff(ctx);
  return optionsAnswer(ctx, CONTAINER_ALLOW, { ...CONTAINER, vary: "Accept, Prefer" });
}

export async function feedOptions(ctx: Ctx): Promise<Response> {
  refuseOff(ctx);
  return optionsAnswer(ctx, ALLOW, shared(ctx, "Accept"));
}
