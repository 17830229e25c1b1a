/** Lists in pages with numbers: which one is asked for, and the way to the ones beside it. */
import { html, type Html } from "../../html/template.ts";

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
