/** What a page is to comments: an HTML file, however its address is written and whatever rule shows it, or each path that
 *  gets the shell of a single-page app (COMMENTS, ruling 19); and where its feed lies. Serving asks it, and comments, which
 *  may not think otherwise. */
import { isHtml } from "./media-types.ts";
import { decodePath, encodePath } from "./percent.ts";
import { resolve } from "./resolve.ts";
import { fallbackPath } from "./site-state.ts";
import type { ManifestFile, Spa, Version } from "./types.ts";

type Files = ReadonlyMap<string, ManifestFile>;

/** A version of a site, as far as its addresses go. `spa`: as the site has it. */
export interface Pages {
  files: Files;
  spa: Pick<Spa, "enabled">;
  version: Pick<Version, "spa_rule">;
  /** The file that a rule of the site shows at a path, percent-encoded; null where none does. Without it no rule is asked. */
  ruled?(path: string): ManifestFile | null;
}

export interface Page {
  /** Its address on the site's host, percent-encoded: `/guide.html`; of a route of an app `/app/users`. */
  page: string;
  /** What is shown there. */
  file: ManifestFile;
}

/** The page that a file is. */
export const pageOfFile = (file: ManifestFile): Page => ({ page: `/${encodePath(file.path)}`, file });
/** The page that a path is which gets the shell. */
export const pageOfRoute = (path: string, file: ManifestFile): Page => ({ page: encodePath(decodePath(path)!), file });

const ifPage = (file: ManifestFile): Page | null => (isHtml(file.media_type) ? pageOfFile(file) : null);

/** `path` is percent-encoded, as a request has it. Null where it is no page; throws `invalid_path`. */
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

/** The page whose feed is asked for at this path: `X.comments.json` is that of X, as serving resolves it; null where X is
 *  no page. `/comments.json` is the site's, which is no page's. */
export function pageOfFeed(pages: Pages, path: string): Page | null {
  if (!path.endsWith(FEED_END)) return null;
  return pageAt(pages, path.slice(0, -FEED_END.length));
}

/** Where the page's feed is told: beside the page, unless that address is a file's, or another page's feed. */
export function feedAddress(pages: Pages, { page }: Page): string {
  const beside = page.replace(/\.html$/, "") + FEED_END;
  const taken = pages.files.has(decodePath(beside)!.slice(1)) || page.endsWith("/");
  if (!taken && pageOfFeed(pages, beside)?.page === page) return beside;
  return `/_svc/comments/feed.json?source=${encodeURIComponent(page)}`;
}

/** The site's. */
export const siteFeedAddress = ({ files }: Pick<Pages, "files">): string =>
  files.has("comments.json") ? "/_svc/comments/feed.json" : "/comments.json";
