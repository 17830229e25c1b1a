/** Feeds beside the pages, and everywhere under one address (COMMENTS 1). The same for every reader who gets them
 *  (ruling 10). */

import { createHash } from "node:crypto";
import { Refusal } from "../../base/errors.ts";
import { feedAddress, type Page, pageOfFeed, siteFeedAddress } from "../../base/pages.ts";
import { scriptJson } from "../../html/template.ts";
import { COMMENTS, feedSite, pageOf, pathOfSource } from "../addresses.ts";
import { answer, LD_JSON, optionsAnswer } from "../answers.ts";
import type { Ctx, LivePages } from "../context.ts";
import { ANNO } from "../feed.ts";
import { FEED_INLINE, FEED_PAGE, type FeedAsked, type Identified } from "../types.ts";
import { isAdmitted, refuseOff, refuseReaders } from "../visitor/who.ts";

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

/** The container that comments are sent to, as its address describes it (Annotation Protocol 4.1). */

const FIELDS = {
  link: '<http://www.w3.org/ns/ldp#BasicContainer>; rel="type", <http://www.w3.org/TR/annotation-protocol/>; rel="http://www.w3.org/ns/ldp#constrainedBy"',
  allow: "GET, HEAD, OPTIONS, POST",
  "accept-post": LD_JSON,
};
const VARY = "Accept, Prefer";
/** Pages of other sites read, and never write. */
const READING = "GET, HEAD, OPTIONS";

async function describe({ parts, site, query, request }: Ctx): Promise<Identified> {
  const live = await parts.livePages(site);
  const place = feedSite(parts, site);
  const { total, modified_at } = await parts.store.notes.feed(site.site_id, null, 0, 0);
  const iris = preferred(request) === "iris" || asksIris(query);
  const asked: FeedAsked = { site: place, id: place.origin + COMMENTS, iris, page: null, total, modified_at };
  return parts.documents.container(asked, place.origin + siteFeedAddress(live));
}

export async function container(ctx: Ctx): Promise<Response> {
  await refuseReaders(ctx);
  const applied = preferred(ctx.request) !== null && { "preference-applied": "return=representation" };
  return sendDocument(ctx, await describe(ctx), { ...sharing(ctx, VARY), ...FIELDS, ...applied });
}

/** Every answer of a container has its tag, for whoever may see it. */
export async function containerOptions(ctx: Ctx): Promise<Response> {
  refuseOff(ctx);
  const tag = (await isAdmitted(ctx)) && { etag: documentTag(await describe(ctx)) };
  return optionsAnswer(ctx, FIELDS.allow, { ...sharing(ctx, VARY), ...preflight(ctx, READING), ...FIELDS, ...tag });
}

/** Documents that are the same for every reader who gets them: their entity tags, and who else may keep or read them. */

type Fields = Readonly<Record<string, string>>;
type Mode = { site: Pick<Ctx["site"], "comments_mode"> };

/** In passcode mode no cache and no page of another site may hand them on; no cache either with somebody's cookie. */
const sharing = ({ site, exchange }: Mode & Pick<Ctx, "exchange">, vary: string): Fields =>
  site.comments_mode === "passcode"
    ? { "cache-control": "private, no-store", vary: `${vary}, Cookie` }
    : {
        "cache-control": exchange.cookies === null ? "public, max-age=0, must-revalidate" : "private, no-store",
        vary,
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag, Link, Content-Location",
      };

/** A browser asks first where a page of another site names the profile or a preference. */
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

/** Of a document that is not sent. */
const documentTag = (document: Identified): string => tagOf(textOf(document), "");

/** Its tag says what is public, and nothing else: it is made of the document alone. Whoever writes the text into a page's
 *  script as it is ends no script with it. */
function sendDocument(ctx: Ctx, document: Identified, fields: Fields, tag = ""): Response {
  const text = textOf(document);
  const own = { "content-type": LD_JSON, "content-location": document.id, etag: tagOf(text, tag) };
  return answer(ctx, text, { ...fields, ...own });
}

/** What a client asks of a feed beside its address: in whose words, and how much of it. */

/** A member of Accept or Prefer: its name, and its parameters as they stand. Quoted values may hold commas. */
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

/** How much of its contents a client wants of the container (Annotation Protocol 4.1.1). Pages carry them whole, so that
 *  nothing else is to be done for those who want them whole, or not at all. */
const PREFERENCES: readonly (readonly [iri: string, preference: "iris" | "other"])[] = [
  ["http://www.w3.org/ns/oa#PreferContainedIRIs", "iris"],
  ["http://www.w3.org/ns/oa#PreferContainedDescriptions", "other"],
  ["http://www.w3.org/ns/ldp#PreferMinimalContainer", "other"],
];

/** Null where Prefer says nothing that is known. */
export function preferred({ headers }: Request): "iris" | "other" | null {
  const included = membersOf(headers.get("prefer")).map(({ parameters }) => parameters.get("include"));
  return PREFERENCES.find(([iri]) => included.some((value) => names(value, iri)))?.[1] ?? null;
}

/** Null where no page is asked for, undefined where what is asked for is no number. */
function pageNumber(query: URLSearchParams): number | null | undefined {
  const asked = query.get("page");
  if (asked === null) return null;
  return /^\d{1,6}$/.test(asked) ? Number(asked) : undefined;
}

/** Whether items shall be told as their addresses alone. */
const asksIris = (query: URLSearchParams): boolean => query.get("iris") === "1";
