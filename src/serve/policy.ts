/** The headers that follow the site and the kind of host, not the file (CONTRACT 2 and 6). */
import type { Exchange } from "../http/exchange.ts";
import type { Site } from "../base/types.ts";

export interface Policy {
  /** Prebuilt headers are kept by it. */
  readonly index: number;
  /** A version's own host or a preview's, not the live one. */
  readonly version_host: boolean;
  /** Whether the site's `_headers` may say how long its answers are kept: longer than a minute would outlive a takedown, so
   *  somebody has to answer for it. */
  readonly caching_is_theirs: boolean;
  readonly cache_control: string;
  readonly robots: string | null;
  /** A 304 cannot take a header away: a page cached as `noindex` before the claim needs to be told otherwise. */
  readonly robots_unchanged: string;
  /** In quarantine: nothing that a page loads or sends leaves the site. On every answer, for what a frame or a worker makes
   *  of a text has the policy of that text alone. */
  readonly csp: string | null;
  /** For a 304: once the site is cleared, an empty one takes the place of the one that the browser keeps. */
  readonly csp_unchanged: string | null;
}

const LIVE = "public, max-age=60, must-revalidate";
const NOINDEX = "noindex";

type Base = Omit<Policy, "index" | "csp" | "csp_unchanged">;
const LIVE_HOST = { version_host: false, caching_is_theirs: false };
const ANONYMOUS: Base = { ...LIVE_HOST, cache_control: LIVE, robots: NOINDEX, robots_unchanged: NOINDEX };
const OWNED: Base = {
  ...LIVE_HOST,
  caching_is_theirs: true,
  cache_control: LIVE,
  robots: null,
  robots_unchanged: "all",
};
/** Longer than an hour would outlive a takedown. */
const STORED_VERSION: Base = {
  version_host: true,
  caching_is_theirs: false,
  cache_control: "public, max-age=3600",
  robots: NOINDEX,
  robots_unchanged: NOINDEX,
};
/** What its name shows moves with the next deploy. */
const PREVIEW: Base = { ...STORED_VERSION, cache_control: "no-cache" };
const BASES = [ANONYMOUS, OWNED, STORED_VERSION, PREVIEW];

/** With the form alone stopped, fetch, beacon, picture, script, style, font and prefetch deliver what was typed. */
const QUARANTINE = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; form-action 'self'";
const policies = (from: number, csp: string | null, csp_unchanged: string | null): Policy[] =>
  BASES.map((base, i) => ({ ...base, index: from + i, csp, csp_unchanged }));

const ORDINARY = policies(0, null, null);
const QUARANTINED = policies(BASES.length, QUARANTINE, QUARANTINE);
const CLEARED = policies(2 * BASES.length, null, "");

type Kind = "live" | "version" | "preview";

function baseOf({ owner_account_id }: Site, kind: Kind): number {
  if (kind === "live") return owner_account_id === null ? 0 : 1;
  return kind === "version" ? 2 : 3;
}

export const policyOf = (site: Site, kind: Kind): Policy => policyAt(site, baseOf(site, kind));

/** Of a former version's file at the live address: nobody shall find it there who does not ask for it. */
export const skewPolicyOf = (site: Site): Policy => policyAt(site, 0);

function policyAt(site: Site, base: number): Policy {
  if (site.quarantine !== null) return QUARANTINED[base]!;
  return (site.cleared_version_no === null ? ORDINARY : CLEARED)[base]!;
}

const CSP = "content-security-policy";
/** What no CSP stops, steps elsewhere and WebRTC among it: browsers that know it connect to the site alone (WICG Connection
 *  Allowlists; Chromium from 152 on). */
const CONNECTIONS = "connection-allowlist";
const NOWHERE_ELSE = "(response-origin)";

/** An error, too, is a document that a page of the site may open and run code in. */
export function confineError(response: Response, { held }: Pick<Exchange, "held">): Response {
  if (held) response.headers.set(CONNECTIONS, NOWHERE_ELSE);
  return response;
}

/** The headers of a quarantine. `csp` is empty once it is over: so is the other then. */
const headersOf = (csp: string | null): Record<string, string> =>
  csp === null ? {} : { [CSP]: csp, [CONNECTIONS]: csp === "" ? "" : NOWHERE_ELSE };

/** For the headers of answers that are made one by one. */
export const policyHeaders = ({ robots, csp }: Policy): Record<string, string> => ({
  ...(robots !== null && { "x-robots-tag": robots }),
  ...headersOf(csp),
});

/** The same for a 304, which changes what the browser keeps. */
export const unchangedPolicyHeaders = ({ robots_unchanged, csp_unchanged }: Policy): Record<string, string> => ({
  "x-robots-tag": robots_unchanged,
  ...headersOf(csp_unchanged),
});

/** What the service itself answers on a site's host: a page that frames it may run code there. */
export function confine({ quarantine }: Site, response: Response): Response {
  if (quarantine === null) return response;
  if (!response.headers.has(CSP)) response.headers.set(CSP, QUARANTINE);
  response.headers.set(CONNECTIONS, NOWHERE_ELSE);
  return response;
}

/** A service worker makes pages that have no header, and stays: a site in quarantine gets none. */
export const isForbiddenWorker = (request: Request, { csp }: Policy): boolean =>
  csp !== null && request.headers.get("service-worker") === "script";
