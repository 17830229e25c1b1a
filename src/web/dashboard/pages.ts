/** The addresses of the dashboard's pages, lists in pages with numbers, and the check that a site is the account's own. */
import { siteState } from "../../base/site-state.ts";
import type { Site } from "../../base/types.ts";
import { html, type Html } from "../../html/template.ts";
import { noSuchSite, type SignedIn } from "../who.ts";

/** The number of the page in the query. Nonsense means the first page; past the end the store takes the last one. */
export function pageOf(query: URLSearchParams): number {
  const text = query.get("page") ?? "";
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 1;
}

/** The path with those of the fields that are not empty. */
export function hrefOf(path: string, fields: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== "")).toString();
  return query === "" ? path : `${path}?${query}`;
}

/** A page's number as an address has it: the first page has none. */
export const pageField = (page: number): string => (page === 1 ? "" : String(page));

/** The links to the pages before and after; nothing if there is one page. `href`: the address of a page of this list. */
export const pagesNav = (page: number, pages: number, href: (page: number) => string): Html | false =>
  pages > 1 &&
  html`<nav class="pages" aria-label="Pages">
    ${page > 1 && html`<a href="${href(page - 1)}" rel="prev">Previous</a>`}
    <span>Page ${page} of ${pages}</span>
    ${page < pages && html`<a href="${href(page + 1)}" rel="next">Next</a>`}
  </nav>`;

/** The account's site of that id; null if it has none. A site of another account, a deleted one and one that never was
 *  are the same for the visitor (WEB 1.5). */
export async function ownSiteOf({ caller, parts }: SignedIn, site_id: string): Promise<Site | null> {
  const site = await parts.store.sites.byId(site_id);
  return site?.owner_account_id === caller.account_id && siteState(site, parts.now()) !== "expired" ? site : null;
}

/** The site that the request's path names; refused if it is not the account's. */
export async function ownSite(ctx: SignedIn): Promise<Site> {
  const site = await ownSiteOf(ctx, ctx.params.id!);
  if (site === null) throw noSuchSite();
  return site;
}

export const nameOf = ({ label, slug }: Pick<Site, "label" | "slug">): string => label ?? slug;
export const pathOfSite = (site_id: string): string => `/dashboard/sites/${site_id}`;

export const pathOfVersion = (site_id: string, version_id: string): string =>
  `${pathOfSite(site_id)}/versions/${version_id}`;

export const ACCOUNT = "/dashboard/account";
