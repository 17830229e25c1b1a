/** The feeds of pages and of the site, and the container of comments (COMMENTS 1). Every admitted reader gets the same
 *  documents (ruling 10). */
import { createHash } from "node:crypto";
import { Refusal } from "../../base/errors.ts";
import { feedAddress, type Page, pageOfFeed, siteFeedAddress } from "../../base/pages.ts";
import { scriptJson } from "../../html/template.ts";
import { COMMENTS, feedSite, pageOf, pathOfSource } from "../addresses.ts";
import { answer, LD_JSON, optionsAnswer } from "../answers.ts";
import type { Ctx, LivePages } from "../context.ts";
import { ANNO } from "../feed.ts";
import { FEED_INLINE, FEED_PAGE, type FeedAsked, type Identified } from "../types.ts";
import { isAdmitted, type SiteHandlers } from "../visitor.ts";

const ALLOW = "GET, HEAD, OPTIONS";

const noFeed = (): Refusal => new Refusal("not_found", "There is no such feed, or no such page of it.");

interface FeedPart {
  document: Identified;
  /** The page's number; null for the collection itself. */
  n: number | null;
}

/** The part that the request asks for of a page's feed, or of the site's if `of` is null. */
async function partOf({ parts, site, query, request }: Ctx, live: LivePages, of: Page | null): Promise<FeedPart> {
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
  await ctx.parts.views.refuseGreedy(ctx.from()[0]!);
  const { document, n } = await partOf(ctx, live, of);
  return sendDocument(ctx, document, { ...sharing(ctx, "Accept"), allow: ALLOW }, `-p${n ?? 0}`);
}

/** `/comments.json` and `X.comments.json`, if no file of the site has that name. */
export async function companion(ctx: Ctx): Promise<Response> {
  const live = await ctx.parts.livePages(ctx.site);
  if (ctx.path === "/comments.json") return send(ctx, live, null);
  const page = pageOfFeed(live, ctx.path);
  if (page === null) throw noFeed();
  return send(ctx, live, page);
}

/** The same feeds under one address, which no file of a site can hide. */
async function feed(ctx: Ctx): Promise<Response> {
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

async function feedOptions(ctx: Ctx): Promise<Response> {
  return optionsAnswer(ctx, ALLOW, { ...sharing(ctx, "Accept"), ...preflight(ctx, ALLOW) });
}

/** Headers of the container that comments are sent to (Annotation Protocol 4.1). */
const FIELDS = {
  link: '<http://www.w3.org/ns/ldp#BasicContainer>; rel="type", <http://www.w3.org/TR/annotation-protocol/>; rel="http://www.w3.org/ns/ldp#constrainedBy"',
  allow: "GET, HEAD, OPTIONS, POST",
  "accept-post": LD_JSON,
};
const VARY = "Accept, Prefer";
/** Pages of other sites may read and never write. */
const READING = "GET, HEAD, OPTIONS";

async function describe({ parts, site, query, request }: Ctx): Promise<Identified> {
  const live = await parts.livePages(site);
  const place = feedSite(parts, site);
  const { total, modified_at } = await parts.store.notes.feed(site.site_id, null, 0, 0);
  const iris = preferred(request) === "iris" || asksIris(query);
  const asked: FeedAsked = { site: place, id: place.origin + COMMENTS, iris, page: null, total, modified_at };
  return parts.documents.container(asked, place.origin + siteFeedAddress(live));
}

async function container(ctx: Ctx): Promise<Response> {
  const applied = preferred(ctx.request) !== null && { "preference-applied": "return=representation" };
  return sendDocument(ctx, await describe(ctx), { ...sharing(ctx, VARY), ...FIELDS, ...applied });
}

/** Every answer of a container has its entity tag, if the client may see it. */
async function containerOptions(ctx: Ctx): Promise<Response> {
  const tag = (await isAdmitted(ctx)) && { etag: documentTag(await describe(ctx)) };
  return optionsAnswer(ctx, FIELDS.allow, { ...sharing(ctx, VARY), ...preflight(ctx, READING), ...FIELDS, ...tag });
}

type Fields = Readonly<Record<string, string>>;
type Mode = { site: Pick<Ctx["site"], "comments_mode"> };

/** Headers that say who may keep or read a document: in passcode mode no cache and no page of another site; no cache either if
 *  the answer sets a cookie. */
const sharing = ({ site, exchange }: Mode & Pick<Ctx, "exchange">, vary: string): Fields =>
  site.comments_mode === "passcode"
    ? { "cache-control": "private, no-store", vary: `${vary}, Cookie` }
    : {
        "cache-control": exchange.cookies === null ? "public, max-age=0, must-revalidate" : "private, no-store",
        vary,
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag, Link, Content-Location",
      };

/** Headers for a browser that asks first because a page of another site names the profile or a preference. */
const preflight = ({ site }: Mode, methods: string): Fields =>
  site.comments_mode === "passcode"
    ? {}
    : {
        "access-control-allow-methods": methods,
        "access-control-allow-headers": "Accept, If-None-Match, Prefer",
        "access-control-max-age": "86400",
      };

const HASH_LENGTH = 12;

const textOf = (document: Identified): string => scriptJson(document).text;

const tagOf = (text: string, tag: string): string =>
  `"c-${createHash("sha256").update(text).digest("hex").slice(0, HASH_LENGTH)}${tag}"`;

/** The entity tag of a document that is not sent. */
const documentTag = (document: Identified): string => tagOf(textOf(document), "");

/** Sends a document. Its tag is made of the document alone, so it shows nothing that is not public. The text is safe inside a
 *  `<script>` element. */
function sendDocument(ctx: Ctx, document: Identified, fields: Fields, tag = ""): Response {
  const text = textOf(document);
  ctx.parts.views.countRead(ctx.from()[0]!, text.length, true);
  const own = { "content-type": LD_JSON, "content-location": document.id, etag: tagOf(text, tag) };
  return answer(ctx, text, { ...fields, ...own });
}

/** A member of Accept or Prefer: its name and its raw parameters. Quoted values may have commas. */
const MEMBER = /([^\s,;]+)((?:\s*;\s*[^\s,;=]+\s*=\s*(?:"[^"]*"|[^\s,;"]*))*)/g;
const PARAMETER = /;\s*([^\s,;=]+)\s*=\s*(?:"([^"]*)"|([^\s,;"]*))/g;

interface Member {
  name: string;
  parameters: ReadonlyMap<string, string>;
}

const membersOf = (header: string | null): Member[] =>
  [...(header ?? "").matchAll(MEMBER)].map(([, name, parameters]) => ({
    name: name!.toLowerCase(),
    parameters: new Map(
      [...parameters!.matchAll(PARAMETER)].map(([, key, quoted, plain]) => [key!.toLowerCase(), quoted ?? plain!]),
    ),
  }));

/** Several addresses in one value have spaces between them. */
const names = (value: string | undefined, iri: string): boolean => value?.split(/\s+/).includes(iri) ?? false;

/** Whether Accept names the profile of the Web Annotation model (COMMENTS, ruling 5). */
export const wantsW3c = ({ headers }: Request): boolean =>
  membersOf(headers.get("accept")).some(
    ({ name, parameters }) =>
      name === "application/ld+json" && names(parameters.get("profile"), ANNO) && Number(parameters.get("q") ?? 1) > 0,
  );

/** Preferences for the container's contents (Annotation Protocol 4.1.1). Pages always have them whole, so only IRIs need
 *  anything else. */
const PREFERENCES: readonly (readonly [iri: string, preference: "iris" | "other"])[] = [
  ["http://www.w3.org/ns/oa#PreferContainedIRIs", "iris"],
  ["http://www.w3.org/ns/oa#PreferContainedDescriptions", "other"],
  ["http://www.w3.org/ns/ldp#PreferMinimalContainer", "other"],
];

/** Null if Prefer has no known preference. */
export function preferred({ headers }: Request): "iris" | "other" | null {
  const included = membersOf(headers.get("prefer")).map(({ parameters }) => parameters.get("include"));
  return PREFERENCES.find(([iri]) => included.some((value) => names(value, iri)))?.[1] ?? null;
}

/** Null if no page is asked for; undefined if the page is not a number. */
function pageNumber(query: URLSearchParams): number | null | undefined {
  const asked = query.get("page");
  if (asked === null) return null;
  return /^\d{1,6}$/.test(asked) ? Number(asked) : undefined;
}

/** Whether the items shall be addresses alone. */
const asksIris = (query: URLSearchParams): boolean => query.get("iris") === "1";

/** The rows of a site's own host that this file answers. */
export const FEEDS_HANDLERS = {
  "GET /_svc/comments/": container,
  "OPTIONS /_svc/comments/": containerOptions,
  "GET /_svc/comments/feed.json": feed,
  "OPTIONS /_svc/comments/feed.json": feedOptions,
} satisfies Partial<SiteHandlers>;
