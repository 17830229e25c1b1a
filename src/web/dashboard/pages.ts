/** Lists in pages with numbers: which one is asked for, and the way to the ones beside it. */
import { siteState } from "../../base/site-state.ts";
import type { Site } from "../../base/types.ts";
import { html, type Html } from "../../html/template.ts";
import { noSuchSite, type SignedIn } from "../who.ts";

/** Nonsense is the first; past the end the store tells the last. */
export function pageOf(query: URLSearchParams): number {
  const text = query.get("page") ?? "";
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 1;
}

/** An own path with what of `fields` says something. */
export function hrefOf(path: string, fields: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== "")).toString();
  return query === "" ? path : `${path}?${query}`;
}

/** As it stands in an address. */
export const pageField = (page: number): string => (page === 1 ? "" : String(page));

/** Nothing where there is one page alone. `href`: the address of another page of the same list. */
export const pagesNav = (page: number, pages: number, href: (page: number) => string): Html | false =>
  pages > 1 &&
  html`<nav class="pages" aria-label="Pages">
    ${page > 1 && html`<a href="${href(page - 1)}" rel="prev">Previous</a>`}
    <span>Page ${page} of ${pages}</span>
    ${page < pages && html`<a href="${href(page + 1)}" rel="next">Next</a>`}
  </nav>`;

/** Whose a site is: another account's, one that is gone and one that never was are the same to whoever asks (WEB
 *  1.5). The account's site of that id; null where it has none. */
export async function ownSiteOf({ caller, parts }: SignedIn, site_id: string): Promise<Site | null> {
  const site = await parts.store.sites.byId(site_id);
  return site?.owner_account_id === caller.account_id && siteState(site, parts.now()) !== "expired" ? site : null;
}

/** The site whose page is asked for. */
export async function ownSite(ctx: SignedIn): Promise<Site> {
  const site = await ownSiteOf(ctx, ctx.params.id!);
  if (site === null) throw noSuchSite();
  return site;
}

export const nameOf = ({ label, slug }: Pick<Site, "label" | "slug">): string => label ?? slug;
export const pathOfSite = (site_id: string): string => `/dashboard/sites/${site_id}`;

export const ACCOUNT = "/dashboard/account";
