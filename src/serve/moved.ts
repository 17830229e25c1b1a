/** The answer on a host that a site left when it was renamed: the same path and query on its present one (BEYOND 17). It says
 *  nothing of the site, and carries none of its headers. */
import { fitsPreview } from "../base/preview-names.ts";
import { pathOf, queryOf } from "../http/exchange.ts";
import { siteUrl, urlBeside } from "../http/hosts.ts";
import type { SiteHost } from "./locate.ts";
import { unknownHost } from "./refusals.ts";

interface Hosting {
  base_url: string;
  sites_domain: string;
}

/** The host of what a former name's host showed, under the present name. No preview has a name that would not fit there. */
function originAt({ version_id, preview }: SiteHost, slug: string, hosting: Hosting): string {
  if (preview !== undefined && !fitsPreview(preview, slug)) throw unknownHost();
  const beside = version_id ?? preview;
  return beside === undefined ? siteUrl(hosting, slug) : urlBeside(hosting, beside, slug);
}

/** For a minute, as pages are: the name can be taken back, and then its own page is to be seen. */
const HEADERS = {
  "cache-control": "public, max-age=60, must-revalidate",
  "x-content-type-options": "nosniff",
};

export function movedAnswer({ url }: Request, host: SiteHost, slug: string, hosting: Hosting): Response {
  const location = originAt(host, slug, hosting) + pathOf(url) + queryOf(url);
  return new Response(null, { status: 308, headers: { location, ...HEADERS } });
}
