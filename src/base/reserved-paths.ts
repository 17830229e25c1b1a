/** Paths that a site cannot have: those of its host that belong to the service, whatever the site holds (CONTRACT 4.2,
 *  COMMENTS 1), and those that are dropped from every upload (CONTRACT 4.1). Names are decoded and have no slash at the
 *  beginning, as names of a site's files. Letter case counts. Runs in browsers: it imports nothing. */

/** The service's own pages and calls. */
const SERVICE = /^_svc(?:\/|$)/;
/** With a file here the site's author could get a certificate for the host. */
const CERTIFICATES = /^\.well-known\/acme-challenge(?:\/|$)/;
/** The feed of the site's comments, or of one page's. A file of the site there is served, and wins over the feed. */
const COMMENTS = /^comments\.json$|[^/]\.comments\.json$/;

export type Reserved = "service" | "certificates" | "comments";

/** Says what a path is reserved for; null if it is free for the site. */
export function reservedFor(name: string): Reserved | null {
  if (SERVICE.test(name)) return "service";
  if (CERTIFICATES.test(name)) return "certificates";
  return COMMENTS.test(name) ? "comments" : null;
}

/** Whether the path is one of the service's own. The service answers at no other reserved path today. */
export const isService = (name: string): boolean => SERVICE.test(name);

/** Whether a file of the site with this name is kept and never served. */
export const isNeverServed = (name: string): boolean => SERVICE.test(name) || CERTIFICATES.test(name);

const JUNK_NAMES = new Set([".DS_Store", "Thumbs.db", "desktop.ini"]);
const JUNK_FOLDERS = new Set(["__MACOSX"]);
/** Sources and packages, and the folders of a home in which programs keep keys and credentials. */
const SECRET_FOLDERS = new Set([
  ...[".git", ".svn", ".hg", "node_modules"],
  ...[".ssh", ".aws", ".gnupg", ".kube", ".docker"],
]);
/** Files with credentials in them, and what was typed into a shell. */
const SECRET_FILE = /^\.(?:env.*|npmrc|netrc|pypirc|git-credentials|htpasswd|.*_history)$/;

/**
 * Whether a path never becomes part of a site (CONTRACT 4.1): `junk` is dropped silently, `secret` with a warning,
 * null is kept. The names count at any depth, and a folder's name takes all below it along.
 */
export function droppedAs(path: string): "junk" | "secret" | null {
  const segments = path.split("/");
  const name = segments.pop()!;
  if (segments.some((folder) => JUNK_FOLDERS.has(folder))) return "junk";
  if (segments.some((folder) => SECRET_FOLDERS.has(folder) || folder.startsWith(".env"))) return "secret";
  if (JUNK_NAMES.has(name) || name.startsWith("._")) return "junk";
  return SECRET_FILE.test(name) || SECRET_FOLDERS.has(name) ? "secret" : null;
}
