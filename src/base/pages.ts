/** The pages of a site as comments see them, and the addresses of their feeds. A page is an HTML file, however its address
 *  is written and whatever rule shows it, or each path that gets the shell of a single-page app (COMMENTS, ruling 19).
 *  Serving and comments ask the same functions, so that they agree. */
import { isHtml } from "./media-types.ts";
import { decodePath, encodePath } from "./percent.ts";
import { resolve } from "./resolve.ts";
import { fallbackPath } from "./site-state.ts";
import type { ManifestFile, Spa, Version } from "./types.ts";

type ManifestFiles = ReadonlyMap<string, ManifestFile>;

/** A version of a site, as far as its addresses go. `spa` is the site's setting. */
export interface Pages {
  files: ManifestFiles;
  spa: Pick<Spa, "enabled">;
  version: Pick<Version, "spa_rule">;
  /** The file that a rule of the site shows at a percent-encoded path; null if no rule does. Left out if no rule is asked. */
  ruled?(path: string): ManifestFile | null;
}

export interface Page {
  /** Its address on the site's host, percent-encoded: `/guide.html`, or `/app/users` for a route of an app. */
  page: string;
  /** The file that is shown there. */
  file: ManifestFile;
}

/** The page of a file. */
export const pageOfFile = (file: ManifestFile): Page => ({ page: `/${encodePath(file.path)}`, file });
/** The page of a path that gets the shell. */
export const pageOfRoute = (path: string, file: ManifestFile): Page => ({ page: encodePath(decodePath(path)!), file });

const ifPage = (file: ManifestFile): Page | null => (isHtml(file.media_type) ? pageOfFile(file) : null);

/** The page at a path, percent-encoded as a request has it; null if there is none. Throws `invalid_path`. */
export function pageAt(pages: Pages, path: string): Page | null {
  const { files, spa, version } = pages;
  const ruled = pages.ruled?.(path) ?? null;
  if (ruled !== null) return ifPage(ruled);
  const found = resolve<ManifestFile>(files, path);
  if (found.kind === "redirect") return pageAt(pages, found.location);
  if (found.kind === "file") return ifPage(found.file);
  const shell = files.get(fallbackPath(version.spa_rule, (name) => files.has(name)));
  if (!found.fallback || !spa.enabled || shell === undefined) return null;
  return pageOfRoute(path, shell);
}

const FEED_END = ".comments.json";

/** The page whose feed is at this path: `X.comments.json` is the feed of X, as serving resolves it. Null if X is no page;
 *  `/comments.json` is the feed of the site. */
export function pageOfFeed(pages: Pages, path: string): Page | null {
  if (!path.endsWith(FEED_END)) return null;
  return pageAt(pages, path.slice(0, -FEED_END.length));
}

/** The address of the page's feed: next to the page, unless a file or the feed of another page is there. */
export function feedAddress(pages: Pages, { page }: Page): string {
  const beside = page.replace(/\.html$/, "") + FEED_END;
  const taken = pages.files.has(decodePath(beside)!.slice(1)) || page.endsWith("/");
  if (!taken && pageOfFeed(pages, beside)?.page === page) return beside;
  return `/_svc/comments/feed.json?source=${encodeURIComponent(page)}`;
}

/** The address of the site's feed. */
export const siteFeedAddress = ({ files }: Pick<Pages, "files">): string =>
  files.has("comments.json") ? "/_svc/comments/feed.json" : "/comments.json";
