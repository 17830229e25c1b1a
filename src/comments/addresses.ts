/** Addresses on a site's host, and the pages of a version that they lead to. */
import { Refusal } from "../base/errors.ts";
import { siteUrl } from "../http/hosts.ts";
import { type Page, pageAt } from "../base/pages.ts";
import type { Site } from "../base/types.ts";
import type { CommentParts, LivePages } from "./context.ts";
import type { FeedSite } from "./types.ts";

export const COMMENTS = "/_svc/comments/";

type Addressed = { config: Pick<CommentParts["config"], "base_url" | "sites_domain"> };

export const feedSite = ({ config }: Addressed, { slug }: Pick<Site, "slug">): FeedSite => ({
  slug,
  origin: siteUrl(config, slug),
  versionOrigin: (version_id) => siteUrl(config, `${version_id}--${slug}`),
});

/** Null if it is not the address of a page. */
export function pageOf(live: LivePages, path: string): Page | null {
  try {
    return path.startsWith("/") ? pageAt(live, path) : null;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/** The path of an address of the site, as a program or a page wrote it; null for any other address. */
export function pathOfSource(source: string, origins: readonly string[]): string | null {
  const url = URL.parse(source, origins[0]);
  return url !== null && origins.includes(url.origin) ? url.pathname : null;
}
