/** Hosted sites are siblings of the dashboard, so a browser attaches its cookie to what they send: a write by cookie
 *  must prove that a page of our own made it (CONTRACT 5, RELIABILITY A10). */
import { Refusal } from "../base/errors.ts";
import { UNIT_MS } from "../base/units.ts";
import { mediaType, readForm, readJson } from "./body.ts";
import { isFileForm, openFileForm } from "./multipart.ts";

/** A page may lie open over a weekend. */
const LIFETIME_MS = 7 * UNIT_MS.d;
const LONGEST = 500;

/** The types that our own forms and scripts send. A foreign form can forge JSON with `text/plain`. */
const OWN_TYPES = new Set([
  "application/json",
  "application/x-www-form-urlencoded",
  "application/zip",
  "application/x-zip-compressed",
  "application/octet-stream",
]);

/** The value that our own forms and scripts send in `csrf` or `Svc-CSRF`. In another session it is worth nothing. */
export const csrfToken = (secret: string, session_id: string): string =>
  Bun.CSRF.generate(secret, { sessionId: session_id, expiresIn: LIFETIME_MS });

const crossOrigin = (): Refusal =>
  new Refusal(
    "cross_origin",
    "This page was open for too long, or the change did not come from it. Go back, reload, and try again.",
  );

/** Throws 403 where a page of another origin than the one that is asked made the request; a program, which says nothing of
 *  it, passes. */
export function refuseForeignOrigin({ request, origin }: { request: Request; origin: string }): void {
  const site = request.headers.get("sec-fetch-site");
  const sent = request.headers.get("origin");
  if ((site ?? "same-origin") !== "same-origin" || (sent ?? origin) !== origin) throw crossOrigin();
}

/** Throws 403 for a request that a page of another origin may have sent, and for one that does not say its origin:
 *  sites are siblings, so the browser attaches a site's cookies to requests of another one (COMMENTS 4). */
export function refuseUnlessOwnOrigin({ request, origin }: { request: Request; origin: string }): void {
  const site = request.headers.get("sec-fetch-site");
  const own = site === null ? request.headers.get("origin") === origin : site === "same-origin";
  if (!own)
    throw new Refusal("cross_origin", "This did not come from a page of this site. Reload the page, then try again.");
}

async function sentToken(request: Request, type: string | null): Promise<string> {
  const header = request.headers.get("svc-csrf");
  if (header !== null) return header;
  if (isFileForm(request)) return (await openFileForm(request)).fields.csrf ?? "";
  if (type === "application/x-www-form-urlencoded") return (await readForm(request)).csrf ?? "";
  if (type !== "application/json") return "";
  const { csrf } = await readJson(request);
  return typeof csrf === "string" ? csrf : "";
}

interface Proof {
  origin: string;
  secret: string;
  /** True if a page of ours sends a form with a file to this row; other rows refuse such a form. */
  takes_file: boolean;
}

/** Refuses a forged write that a cookie alone authorises. In a form with a file, the file is not read. */
export async function refuseForged(
  request: Request,
  session_id: string,
  { origin, secret, takes_file }: Proof,
): Promise<void> {
  const { headers } = request;
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin") throw crossOrigin();
  if (headers.get("origin") !== origin) throw crossOrigin();
  const type = mediaType(request);
  if (type !== null && !OWN_TYPES.has(type) && !(takes_file && isFileForm(request))) throw crossOrigin();
  const token = await sentToken(request, type);
  const genuine =
    token !== "" &&
    token.length <= LONGEST &&
    Bun.CSRF.verify(token, { secret, sessionId: session_id, maxAge: LIFETIME_MS });
  if (!genuine) throw crossOrigin();
}
