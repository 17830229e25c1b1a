/** The paths on a site's host that belong to the service, whatever the site holds (CONTRACT 4.2, COMMENTS 1). They are
 *  asked by name: decoded, without the slash at the beginning, as a site's files are called. Letter case counts. */

/** Its own pages and calls. */
const SERVICE = /^_svc(?:\/|$)/;
/** A file here would get the site's author a certificate for the host. */
const CERTIFICATES = /^\.well-known\/acme-challenge(?:\/|$)/;
/** The feed of the site's comments, or of one page's. A file of the site there is served, and wins over the feed. */
const COMMENTS = /^comments\.json$|[^/]\.comments\.json$/;

export type Reserved = "service" | "certificates" | "comments";

/** What a path is kept for; null: it is the site's alone. */
export function reservedFor(name: string): Reserved | null {
  if (SERVICE.test(name)) return "service";
  if (CERTIFICATES.test(name)) return "certificates";
  return COMMENTS.test(name) ? "comments" : null;
}

/** Whether the path is one of the service's own. The service answers at no other reserved path today. */
export const isService = (name: string): boolean => SERVICE.test(name);

/** Whether a file of the site with this name is kept and never served. */
export const isNeverServed = (name: string): boolean => SERVICE.test(name) || CERTIFICATES.test(name);
