/** The name of a preview, made of any text: of a branch, of a merge request (BEYOND 7). */
import { createHash } from "node:crypto";
import type { Env } from "../../terminal/index.ts";

/** Of a label of a host name; the name stands in it before two hyphens and the slug. */
const LONGEST_LABEL = 63;
const longestFor = (slug: string): number => LONGEST_LABEL - "--".length - slug.length;

const isVersionId = (text: string): boolean => /^[0-9a-f]{16}$/.test(text);
/** What no preview may be called: a version's id, and what browsers take for another writing system's mark. */
const isTaken = (name: string): boolean => isVersionId(name) || name === "xn";

const withoutEnds = (text: string): string => text.replace(/^-+|-+$/g, "");

/** `slug`: of the site. */
export function nameOf(text: string, slug: string): string {
  const name = withoutEnds(text.toLowerCase().replace(/[^a-z0-9]+/g, "-"));
  const longest = longestFor(slug);
  if (name !== "" && name.length <= longest && !isTaken(name)) return name;
  const mark = createHash("sha256").update(text).digest("hex").slice(0, 4);
  // Of a text without a letter that a host name has, nothing is left.
  return `${withoutEnds(name.slice(0, longest - mark.length - 1)) || "preview"}-${mark}`;
}

/** As a command takes it: a version_id is one already. */
export const namedPreview = (text: string, slug: string): string =>
  isVersionId(text.toLowerCase()) ? text.toLowerCase() : nameOf(text, slug);

/** What the build runs for: the pull request that GitHub or Forgejo names, else GitLab's branch; null where neither is
 *  known. */
export function textFrom(env: Env): string | null {
  const pull = /^refs\/pull\/(\d+)\//.exec(env["GITHUB_REF"] ?? "")?.[1];
  return pull === undefined ? env["CI_COMMIT_REF_SLUG"] || null : `pr-${pull}`;
}

/** The slug in a site's address. */
export const slugIn = (url: string): string => new URL(url).hostname.split(".")[0]!;
