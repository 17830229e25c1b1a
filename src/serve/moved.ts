/** The answer on a host that a site left when it was renamed, or that leads to its primary domain: the same path and query there (BEYOND 17 and 10). It says
 *  nothing of the site, and carries none of its headers. */
import { fitsPreview } from "../base/preview-names.ts";
import { pathOf, queryOf } from "../http/exchange.ts";
import { domainUrl, siteUrl, urlBeside } from "../http/hosts.ts";
import type { Moved, SiteHost } from "./locate.ts";
import { unknownHost } from "./refusals.ts";

type NewPlace = Pick<Moved, "moved_to" | "primary">;

interface Hosting {
  base_url: string;
  sites_domain: string;
}

/** The host of what a former name's host showed, under the present name. No preview has a name that would not fit there. */
function originAt({ version_id, preview }: SiteHost, { moved_to: slug, primary }: NewPlace, hosting: Hosting): string {
  if (preview !== undefined && !fitsPreview(preview, slug)) throw unknownHost();
  const beside = version_id ?? preview;
  if (beside !== undefined) return urlBeside(hosting, beside, slug);
  return primary === null ? siteUrl(hosting, slug) : domainUrl(hosting, primary);
}

/** For a minute, as pages are: the name can be taken back, and then its own page is to be seen. */
const HEADERS = {
  "cache-control": "public, max-age=60, must-revalidate",
  "x-content-type-options": "nosniff",
};

/** The same path and query at the site's present name, or at the domain to which its live host leads. */
export function movedAnswer({ url }: Request, host: SiteHost, place: NewPlace, hosting: Hosting): Response {
  const location = originAt(host, place, hosting) + pathOf(url) + queryOf(url);
  return new Response(null, { status: 308, headers: { location, ...HEADERS } });
}
