/** Visitors: their identity, keys, names, limits and rights. The visitor behind a request on a site's host, and what
 *  they may do; checks are in the order of COMMENTS, ruling 12. */
import type { SITE_HOST } from "../api/site-host.ts";
import type { SiteCallers } from "../api/who.ts";
import { Refusal } from "../base/errors.ts";
import { refuseUnlessOwnOrigin } from "../http/csrf.ts";
import type { Author, SpentOwnerCode, Viewpoint } from "../store/notes.ts";
import { refusals } from "../store/refusals.ts";
import type { Site } from "../base/types.ts";
import type { CommentParts, Ctx } from "./context.ts";
import { type Keys, personId, seal, single, unseal } from "./keys.ts";
import type { Viewer } from "./types.ts";
import { randomKey } from "../base/random.ts";
import { UNIT_MS } from "../base/units.ts";
import { cookieValues } from "../http/context.ts";

export interface Who {
  identity: Identity | null;
  /** True if the request has several valid identities: then none counts. */
  conflict: boolean;
  /** The visitor with this identity; null without one. */
  visitor: Author | null;
  owner: boolean;
  /** False for an owner whose code a manage_token made: it never deletes. */
  may_delete: boolean;
  /** The author of what they write now: the owner goes before the visitor. `as` is whose view they have. */
  author: Author | null;
  as: Viewpoint;
}

export const ownerOf = (keys: Keys, { site_id }: Pick<Site, "site_id">): Author => ({
  id: personId(keys, site_id, "owner"),
  name: "Owner",
  kind: "owner",
});

/** The owner by a cookie, which a revocation may end before the change commits. */
const ownerHere = (keys: Keys, site: Site): Author => ({ ...ownerOf(keys, site), owner_epoch: site.owner_epoch });

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
  const cookie = ownerCookieOf(keys, site, request, now());
  const owner = cookie !== null;
  const visitor = identity && (await visitorOf(parts, site, identity));
  const author = owner ? ownerHere(keys, site) : visitor;
  const may_delete = !owner || cookie.may_delete;
  return { identity, conflict, visitor, owner, may_delete, author, as: viewpointOf(owner, visitor) };
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
  if (ownerCookieOf(keys, site, request, now()) !== null) return true;
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
  if (ownerCookieOf(keys, site, request, now()) === null) throw noOwner();
  return ownerHere(keys, site);
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
  readonly [
    Row in Exclude<keyof typeof SITE_HOST, "POST /_svc/report" | "POST /_svc/access" | `GET /${string}comments.json`>
  ]: SiteHandler<(typeof SITE_HOST)[Row]["who"]>;
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

// The cookies of comments (COMMENTS 4 and rulings 8 and 9) say who a visitor is on this site, that they gave its passcode,
// or that they are its owner. Each counts on its own site alone.

interface Identity {
  /** 16 random bytes, base64url; only the visitor's browser knows them. */
  identity: string;
  name: string;
  /** When it was issued: epoch seconds. */
  issued: number;
}

const SECONDS = 1000;
const DAY_S = UNIT_MS.d / SECONDS;
/** The longest time that browsers keep a cookie. */
const IDENTITY_S = 400 * DAY_S;
const RENEWED_AFTER_S = 30 * DAY_S;
const GRANT_S = 30 * DAY_S;
const OWNER_S = 3600;

type SiteId = Pick<Site, "site_id">;

const secondsOf = (now: number): number => Math.floor(now / SECONDS);

function identityIn(keys: Keys, { site_id }: SiteId, value: string, now: number): Identity | null {
  const said = unseal("svc_cmt", keys.visitor, value);
  if (said === null || said.s !== site_id) return null;
  const [identity, name, issued] = [said.i, said.n, said.t];
  if (typeof identity !== "string" || typeof name !== "string" || typeof issued !== "number") return null;
  return issued + IDENTITY_S > secondsOf(now) ? { identity, name, issued } : null;
}

/** The parts of a request that cookies depend on. */
interface CookieRequest {
  request: Request;
  site: SiteId;
  /** The site's origin, as the client asked for it. */
  origin: string;
}

interface Said {
  identity: Identity | null;
  /** True if the request has several valid identities: then none counts. */
  conflict: boolean;
  /** True if a valid identity was not set by this host. */
  planted: boolean;
}

/** Reads the identity of a request. Several valid ones count as none: a sibling site can plant a cookie for the parent domain,
 *  and the visitor would then write as the person who planted it. */
function readIdentity(keys: Keys, asked: CookieRequest, now: number): Said {
  const found = cookieValues(asked.request, "svc_cmt")
    .map((value) => identityIn(keys, asked.site, value, now))
    .filter((one) => one !== null);
  if (found.length > 1) return { identity: null, conflict: true, planted: false };
  const [identity = null] = found;
  const planted = identity !== null && lacksProof(keys, asked.site.site_id, asked, identity.identity);
  return { identity: planted ? null : identity, conflict: false, planted };
}

export const newIdentity = (name: string, now: number): Identity => ({
  identity: randomKey(16),
  name,
  issued: secondsOf(now),
});

const isOld = ({ issued }: Identity, now: number): boolean => issued + RENEWED_AFTER_S < secondsOf(now);

/** A value of Set-Cookie. `Secure` under http too: browsers keep it on localhost (ruling 9). */
const cookie = (name: string, value: string, age: number, rest = "SameSite=Lax; Path=/"): string =>
  `${name}=${value}; HttpOnly; Secure; ${rest}; Max-Age=${age}`;

type Place = Pick<CookieRequest, "site" | "origin">;

export function identityCookies(keys: Keys, place: Place, { identity, name }: Identity, now: number): string[] {
  const { site_id } = place.site;
  const value = seal("svc_cmt", keys.visitor, { i: identity, s: site_id, n: name, t: secondsOf(now) });
  return [cookie("svc_cmt", value, IDENTITY_S), ...proofCookies(keys, site_id, place, identity, IDENTITY_S)];
}

export const endedIdentity = (place: Pick<CookieRequest, "origin">): string[] => [
  cookie("svc_cmt", "", 0),
  ...endedProof(place),
];

/** A path that adds nothing else to Set-Cookie. */
const PLAIN_PATH = /^[\w./-]+$/;

/** Ends our own cookie and, as far as a browser lets us, one that was planted for the parent domain, also under the path that
 *  was `asked` for. */
const clearedIdentity = (sites_domain: string, place: Pick<CookieRequest, "origin">, asked: string): string[] => {
  const domain = sites_domain.split(":")[0]!;
  const above = ["/", "/_svc", "/_svc/comments", "/_svc/comments/"];
  const paths = PLAIN_PATH.test(asked) && !above.includes(asked) ? [...above, asked] : above;
  return [
    ...endedIdentity(place),
    ...paths.map((path) => cookie("svc_cmt", "", 0, `SameSite=Lax; Domain=${domain}; Path=${path}`)),
  ];
};

/** `epoch` is that of the passcode which was given; a new passcode ends the grant. */
export function grantCookie(keys: Keys, { site_id }: SiteId, epoch: number, now: number): string {
  const value = seal("svc_cmt_pass", keys.grant, { s: site_id, e: epoch, x: secondsOf(now) + GRANT_S });
  return cookie("svc_cmt_pass", value, GRANT_S);
}

const hasGrant = (keys: Keys, { site_id }: SiteId, epoch: number, request: Request, now: number): boolean =>
  cookieValues(request, "svc_cmt_pass").some((value) => {
    const said = unseal("svc_cmt_pass", keys.grant, value);
    return said?.s === site_id && said.e === epoch && typeof said.x === "number" && said.x > secondsOf(now);
  });

/** For the code that was spent. A revocation moves the site's epoch and so ends the cookie; `d` says whether it may delete. */
export function ownerCookie(keys: Keys, { site_id }: SiteId, spent: SpentOwnerCode, now: number): string {
  const { owner_epoch: e, made_by } = spent;
  const said = { s: site_id, e, d: made_by === "account", x: secondsOf(now) + OWNER_S };
  const value = seal("svc_cmt_own", single(keys.owner), said);
  return cookie("svc_cmt_own", value, OWNER_S, "SameSite=Strict; Path=/_svc/comments/");
}

/** Finds out what the request's cookie lets its bearer do as the site's owner; null if none counts. */
function ownerCookieOf(
  keys: Keys,
  { site_id, owner_epoch }: Pick<Site, "site_id" | "owner_epoch">,
  request: Request,
  now: number,
): { may_delete: boolean } | null {
  const valid = cookieValues(request, "svc_cmt_own")
    .map((value) => unseal("svc_cmt_own", single(keys.owner), value))
    .filter((said) => said?.s === site_id && said.e === owner_epoch)
    .filter((said) => typeof said?.x === "number" && said.x > secondsOf(now));
  return valid.length === 0 ? null : { may_delete: valid.some((said) => said?.d === true) };
}

// The proof below says which `svc_cmt` this host set. A sibling site may set one for the parent domain, with the identity of
// somebody who really wrote here, and its visitor would write as that person (COMMENTS 4). No other host can set a cookie
// whose name begins with `__Host-`, so under https such a cookie goes along and names the identity. Only browsers must have
// it: they say where a request comes from and have both cookies or neither; nobody plants a cookie in a program.

const NAME = "__Host-svc_cmt";
const LABEL = "svc_cmt_host";

interface ProofRequest {
  request: Request;
  /** The site's origin, as the client asked for it: under http browsers take no such cookie. */
  origin: string;
}

const takesProof = ({ origin }: Pick<ProofRequest, "origin">): boolean => origin.startsWith("https:");

/** Headers that only browsers send; all browsers do since 2023. */
const isBrowser = ({ headers }: Request): boolean =>
  ["site", "mode", "dest"].every((what) => headers.has(`sec-fetch-${what}`));

/** Whether a browser with this identity should also have the proof and does not. */
function lacksProof(keys: Keys, site_id: string, asked: ProofRequest, identity: string): boolean {
  if (!takesProof(asked) || !isBrowser(asked.request)) return false;
  return !cookieValues(asked.request, NAME).some((value) => {
    const said = unseal(LABEL, keys.visitor, value);
    return said?.s === site_id && said.i === identity;
  });
}

const proofCookie = (value: string, age: number): string =>
  `${NAME}=${value}; HttpOnly; Secure; SameSite=Lax; Path=/; Max-Age=${age}`;

/** Values of Set-Cookie, none if browsers would not take it. `age` is in seconds. */
const proofCookies = (
  keys: Keys,
  site_id: string,
  asked: Pick<ProofRequest, "origin">,
  identity: string,
  age: number,
): string[] => (takesProof(asked) ? [proofCookie(seal(LABEL, keys.visitor, { i: identity, s: site_id }), age)] : []);

const endedProof = (asked: Pick<ProofRequest, "origin">): string[] => (takesProof(asked) ? [proofCookie("", 0)] : []);
