/** The cookies of comments (COMMENTS 4 and rulings 8 and 9) say who a visitor is on this site, that they gave its passcode,
 *  or that they are its owner. Each counts on its own site alone. */

import { randomKey } from "../../base/random.ts";
import type { Site } from "../../base/types.ts";
import { UNIT_MS } from "../../base/units.ts";
import { cookieValues } from "../../http/context.ts";
import { type Keys, seal, single, unseal } from "./keys.ts";

export interface Identity {
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
export function readIdentity(keys: Keys, asked: CookieRequest, now: number): Said {
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

export const isOld = ({ issued }: Identity, now: number): boolean => issued + RENEWED_AFTER_S < secondsOf(now);

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
export const clearedIdentity = (
  sites_domain: string,
  place: Pick<CookieRequest, "origin">,
  asked: string,
): string[] => {
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

export const hasGrant = (keys: Keys, { site_id }: SiteId, epoch: number, request: Request, now: number): boolean =>
  cookieValues(request, "svc_cmt_pass").some((value) => {
    const said = unseal("svc_cmt_pass", keys.grant, value);
    return said?.s === site_id && said.e === epoch && typeof said.x === "number" && said.x > secondsOf(now);
  });

export function ownerCookie(keys: Keys, { site_id }: SiteId, now: number): string {
  const value = seal("svc_cmt_own", single(keys.owner), { s: site_id, x: secondsOf(now) + OWNER_S });
  return cookie("svc_cmt_own", value, OWNER_S, "SameSite=Strict; Path=/_svc/comments/");
}

export const isOwner = (keys: Keys, { site_id }: SiteId, request: Request, now: number): boolean =>
  cookieValues(request, "svc_cmt_own").some((value) => {
    const said = unseal("svc_cmt_own", single(keys.owner), value);
    return said?.s === site_id && typeof said.x === "number" && said.x > secondsOf(now);
  });

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
