/** The headers that follow the site and the kind of host, not the file (CONTRACT 2 and 6). */
import type { Exchange } from "../http/exchange.ts";
import type { Site } from "../base/types.ts";

export interface Policy {
  /** The number under which prebuilt headers are kept. */
  readonly index: number;
  /** True for the host of a version or a preview, false for the live one. */
  readonly version_host: boolean;
  /** True if the site's `_headers` may say how long answers are cached. More than a minute outlives a takedown, so the site
   *  must have an owner who answers for it. */
  readonly caching_is_theirs: boolean;
  readonly cache_control: string;
  readonly robots: string | null;
  /** A 304 cannot take a header away: a page cached as `noindex` before the claim needs to be told otherwise. */
  readonly robots_unchanged: string;
  /** In quarantine: nothing that a page loads or sends leaves the site. It is on every answer, because a text that becomes
   *  a frame or a worker has only the policy of that text. */
  readonly csp: string | null;
  /** For a 304: after a quarantine, an empty policy replaces the one that the browser keeps. */
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
/** The next deploy may change what a preview's name shows. */
const PREVIEW: Base = { ...STORED_VERSION, cache_control: "no-cache" };
const BASES = [ANONYMOUS, OWNED, STORED_VERSION, PREVIEW];

/** If only forms were stopped, fetch, beacon, picture, script, style, font and prefetch would still deliver typed text. */
const QUARANTINE = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; form-action 'self'";
const policies = (from: number, csp: string | null, csp_unchanged: string | null): Policy[] =>
  BASES.map((base, i) => ({ ...base, index: from + i, csp, csp_unchanged }));

const ORDINARY = policies(0, null, null);
const QUARANTINED = policies(BASES.length, QUARANTINE, QUARANTINE);
const CLEARED = policies(2 * BASES.length, null, "");

type HostKind = "live" | "version" | "preview";

function baseOf({ owner_account_id }: Site, kind: HostKind): number {
  if (kind === "live") return owner_account_id === null ? 0 : 1;
  return kind === "version" ? 2 : 3;
}

export const policyOf = (site: Site, kind: HostKind): Policy => policyAt(site, baseOf(site, kind));

/** The policy of a former version's file at the live address: search engines must not find it there. */
export const skewPolicyOf = (site: Site): Policy => policyAt(site, 0);

function policyAt(site: Site, base: number): Policy {
  if (site.quarantine !== null) return QUARANTINED[base]!;
  return (site.cleared_version_no === null ? ORDINARY : CLEARED)[base]!;
}

const CSP = "content-security-policy";
/** Stops what no CSP stops, such as navigation to other hosts and WebRTC: browsers that know this header connect to the site
 *  alone (WICG Connection Allowlists; Chromium from 152 on). */
const CONNECTIONS = "connection-allowlist";
const NOWHERE_ELSE = "(response-origin)";

/** Adds the connection header to an error: an error is a document too, and a page of the site may run code in it. */
export function confineError(response: Response, { held }: Pick<Exchange, "held">): Response {
  if (held) response.headers.set(CONNECTIONS, NOWHERE_ELSE);
  return response;
}

/** The headers of a quarantine. After it `csp` is empty, and so is the other header. */
const headersOf = (csp: string | null): Record<string, string> =>
  csp === null ? {} : { [CSP]: csp, [CONNECTIONS]: csp === "" ? "" : NOWHERE_ELSE };

/** The policy's headers for an answer that is made anew. */
export const policyHeaders = ({ robots, csp }: Policy): Record<string, string> => ({
  ...(robots !== null && { "x-robots-tag": robots }),
  ...headersOf(csp),
});

/** The same for a 304, which changes the headers that the browser keeps. */
export const unchangedPolicyHeaders = ({ robots_unchanged, csp_unchanged }: Policy): Record<string, string> => ({
  "x-robots-tag": robots_unchanged,
  ...headersOf(csp_unchanged),
});

/** Adds the headers of a quarantine to an answer of the service itself on a site's host: a page of the site may frame it and
 *  run code there. */
export function confine({ quarantine }: Site, response: Response): Response {
  if (quarantine === null) return response;
  if (!response.headers.has(CSP)) response.headers.set(CSP, QUARANTINE);
  response.headers.set(CONNECTIONS, NOWHERE_ELSE);
  return response;
}

/** True if a site in quarantine is asked for a service worker: it would make pages without these headers, and it stays. */
export const isForbiddenWorker = (request: Request, { csp }: Policy): boolean =>
  csp !== null && request.headers.get("service-worker") === "script";
