/** The headers that follow the site and the kind of host, not the file (CONTRACT.md 2 and 6). */
import type { Site } from "../types.ts";

export interface Policy {
  /** Prebuilt headers are kept by it. */
  readonly index: 0 | 1 | 2;
  readonly cache_control: string;
  readonly robots: string | null;
  /** A 304 cannot take a header away: a page cached as `noindex` before the claim needs to be told otherwise. */
  readonly robots_unchanged: string;
}

const LIVE = "public, max-age=60, must-revalidate";
const NOINDEX = "noindex";

const ANONYMOUS: Policy = { index: 0, cache_control: LIVE, robots: NOINDEX, robots_unchanged: NOINDEX };
const OWNED: Policy = { index: 1, cache_control: LIVE, robots: null, robots_unchanged: "all" };
/** Longer than an hour would outlive a takedown. */
const STORED_VERSION: Policy = {
  index: 2,
  cache_control: "public, max-age=3600",
  robots: NOINDEX,
  robots_unchanged: NOINDEX,
};

export function policyOf(site: Site, version_host: boolean): Policy {
  if (version_host) return STORED_VERSION;
  return site.owner_account_id === null ? ANONYMOUS : OWNED;
}

/** For the headers of answers that are made one by one. */
export const robotsHeader = (policy: Policy): Record<string, string> =>
  policy.robots === null ? {} : { "x-robots-tag": policy.robots };
