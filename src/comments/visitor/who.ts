/** Visitors: their identity, keys, names, limits and rights. The visitor behind a request on a site's host, and what
 *  they may do; checks are in the order of COMMENTS, ruling 12. */
import type { SITE_HOST } from "../../api/site-host.ts";
import type { SiteCallers } from "../../api/who.ts";
import { Refusal } from "../../base/errors.ts";
import { refuseUnlessOwnOrigin } from "../../http/csrf.ts";
import type { Author, Viewpoint } from "../../store/notes.ts";
import { refusals } from "../../store/refusals.ts";
import type { Site } from "../../base/types.ts";
import type { CommentParts, Ctx } from "../context.ts";
import { clearedIdentity, hasGrant, type Identity, identityCookies, isOld, isOwner, readIdentity } from "./identity.ts";
import { type Keys, personId } from "./keys.ts";
import type { Viewer } from "../types.ts";

export interface Who {
  identity: Identity | null;
  /** True if the request has several valid identities: then none counts. */
  conflict: boolean;
  /** The visitor with this identity; null without one. */
  visitor: Author | null;
  owner: boolean;
  /** The author of what they write now: the owner goes before the visitor. `as` is whose view they have. */
  author: Author | null;
  as: Viewpoint;
}

export const ownerOf = (keys: Keys, { site_id }: Pick<Site, "site_id">): Author => ({
  id: personId(keys, site_id, "owner"),
  name: "Owner",
  kind: "owner",
});

async function visitorOf({ keys, store }: CommentParts, site: Site, { identity, name }: Identity): Promise<Author> {
  const id = personId(keys, site.site_id, identity);
  // The cookie has the name that they had when it was issued.
  const known = await store.notes.person(site.site_id, id);
  return { id, name: known?.name ?? name, kind: "visitor" };
}

function viewpointOf(owner: boolean, visitor: Author | null): Viewpoint {
  if (owner) return { kind: "owner" };
  return visitor === null ? { kind: "public" } : { kind: "visitor", person_id: visitor.id };
}

/** Renews an old identity, whatever the request is about (ruling 9). */
export async function renewIdentity(ctx: Ctx): Promise<void> {
  const { exchange, site, parts } = ctx;
  const { identity } = readIdentity(parts.keys, ctx, parts.now());
  if (identity === null || !isOld(identity, parts.now())) return;
  const { name } = await visitorOf(parts, site, identity);
  exchange.cookies = identityCookies(parts.keys, ctx, { ...identity, name }, parts.now());
}

export async function whoAsks(ctx: Ctx): Promise<Who> {
  const { request, exchange, site, parts, path } = ctx;
  const { keys, now, config } = parts;
  const { identity, conflict, planted } = readIdentity(keys, ctx, now());
  if (conflict || planted) exchange.cookies = clearedIdentity(config.sites_domain, ctx, path);
  const owner = isOwner(keys, site, request, now());
  const visitor = identity && (await visitorOf(parts, site, identity));
  const author = owner ? ownerOf(keys, site) : visitor;
  return { identity, conflict, visitor, owner, author, as: viewpointOf(owner, visitor) };
}

function refuseOff({ site }: Pick<Ctx, "site">): void {
  if (site.comments_mode === "off") throw refusals.commentsOff();
}

const passcodeRequired = (): Refusal =>
  new Refusal(
    "passcode_required",
    "The comments of this site need its passcode.",
    {},
    { "cache-control": "private, no-store" },
  );

/** Whether the visitor gave the passcode if the site has one; the owner needs none. */
export async function isAdmitted({ request, site, parts }: Ctx): Promise<boolean> {
  if (site.comments_mode !== "passcode") return true;
  const { keys, store, now } = parts;
  if (isOwner(keys, site, request, now())) return true;
  const { passcode_epoch } = await store.notes.settings(site);
  return hasGrant(keys, site, passcode_epoch, request, now());
}

/** Throws 404 if comments are off and 401 without the passcode. */
async function refuseReaders(ctx: Ctx): Promise<void> {
  refuseOff(ctx);
  if (!(await isAdmitted(ctx))) throw passcodeRequired();
}

/** Refuses a write before anything of it is read: comments off, another origin, a frozen site (unless `on_frozen`). */
function refuseForeign(ctx: Ctx, on_frozen = false): void {
  refuseOff(ctx);
  refuseUnlessOwnOrigin(ctx);
  if (!on_frozen && ctx.site.frozen) throw refusals.commentsFrozen();
}

const identityConflict = (): Refusal =>
  new Refusal("identity_conflict", "Your browser sent two identities for this site. Reload the page, then try again.");

export async function writer(ctx: Ctx): Promise<Who> {
  refuseForeign(ctx);
  if (!(await isAdmitted(ctx))) throw passcodeRequired();
  const who = await whoAsks(ctx);
  if (who.conflict) throw identityConflict();
  return who;
}

const noOwner = (): Refusal =>
  new Refusal(
    "unauthorized",
    "This is for the site's owner: open the comments from the dashboard, or by svc comments owner.",
  );

/** The owner, who reads the queue on the site's host. Throws 401 for anybody else. */
function ownerAsks({ request, site, parts: { keys, now } }: Ctx): Author {
  if (!isOwner(keys, site, request, now())) throw noOwner();
  return ownerOf(keys, site);
}

export const noIdentity = (): Refusal =>
  new Refusal("no_identity", "You have written nothing here yet, so there is nothing of yours.");

export function viewerOf({ site }: Pick<Ctx, "site">, { author, owner }: Who): Viewer {
  return { id: author?.id ?? null, name: author?.name ?? null, owner, can_post: site.frozen === 0 };
}

/** All that a handler is told of the caller whom its row let in. */
type AdmittedHere<By extends SiteCallers> = By extends "writer" | "author"
  ? { who: Who }
  : By extends "visitor" | "visitor_reads"
    ? { visitor: Author; identity: Identity }
    : By extends "owner_here"
      ? { by: Author }
      : object;

/** The handler of a row of a site's own host: it runs once its row has let the caller in. */
export type SiteHandler<By extends SiteCallers> = (ctx: Ctx & AdmittedHere<By>) => Promise<Response>;

/** A handler for each row below `/_svc/comments/`: a row without one, or a handler without a row, does not compile. Reports of
 *  sites and the feeds next to pages are answered elsewhere. */
export type SiteHandlers = {
  readonly [Row in Exclude<keyof typeof SITE_HOST, "POST /_svc/report" | `GET /${string}comments.json`>]: SiteHandler<
    (typeof SITE_HOST)[Row]["who"]
  >;
};

/** Throws unless the caller is one of those whom a row names. */
export async function admitHere<By extends SiteCallers>(who: By, ctx: Ctx): Promise<AdmittedHere<By>> {
  return admittedHere(who, ctx) as Promise<AdmittedHere<By>>;
}

async function admittedHere(who: SiteCallers, ctx: Ctx): Promise<AdmittedHere<SiteCallers>> {
  const { method } = ctx.request;
  switch (who) {
    case "no_one":
      refuseOff(ctx);
      return {};
    case "entrant":
    case "form_writer":
      refuseForeign(ctx, true);
      return {};
    case "reader":
      await refuseReaders(ctx);
      return {};
    case "writer":
    case "author":
      return { who: await writer(ctx) };
    case "visitor":
      return visitorIn(await writer(ctx));
    case "visitor_reads":
      refuseOff(ctx);
      return visitorIn(await whoAsks(ctx));
    case "owner_here":
      if (method === "GET" || method === "HEAD") refuseOff(ctx);
      else refuseForeign(ctx);
      return { by: ownerAsks(ctx) };
  }
}

function visitorIn({ visitor, identity }: Who): { visitor: Author; identity: Identity } {
  if (visitor === null || identity === null) throw noIdentity();
  return { visitor, identity };
}
