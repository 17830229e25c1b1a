/** The frame around a page's text. Its own ids have a colon, which no anchor of a heading has. */

import { contents, neighbours, pageList, trail } from "./nav.ts";
import type { DocsSite, PageFolder } from "./site.ts";
import type { DocsPage } from "./plan.ts";

const escape = Bun.escapeHTML;

/** Without one, browsers ask for `/favicon.ico`. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='7' fill='%23176b5b'/%3E%3Cpath d='M9 10h14M9 16h14M9 22h8' stroke='%23fff' stroke-width='2.6' stroke-linecap='round'/%3E%3C/svg%3E";

const icon = (path: string): string =>
  `<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="${path}"/></svg>`;
const MENU = icon("M3 5h14M3 10h14M3 15h14");
const LIST = icon("M3 5h1M7 5h10M3 10h1M7 10h10M3 15h1M7 15h10");

const titleElement = (site: DocsSite, { title }: DocsPage): string =>
  `<title>${escape(title === site.name ? title : `${title} · ${site.name}`)}</title>`;

/** The part of a page that its author wrote, without the frame. */
export const docsText = (site: DocsSite, page: DocsPage, body: string): string =>
  `<!doctype html>\n${titleElement(site, page)}\n${body}`;

function head(site: DocsSite, page: DocsPage, { url }: PageFolder): string {
  const favicon = site.icon === null ? "" : `<link rel="icon" href="${site.icon ? escape(url(site.icon)) : ICON}">\n`;
  const description = page.excerpt && `<meta name="description" content="${escape(page.excerpt)}">\n`;
  return `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${titleElement(site, page)}
${description}${favicon}<script>${THEME_SCRIPT}</script>
<link rel="stylesheet" href="${url(`${site.assets}style.css`)}">
<script src="${url(`${site.assets}script.js`)}" defer></script>`;
}

/** Hidden: the script that answers it shows it. */
const searchField = (scope: string): string => `<search hidden>
<input type="search" placeholder="Search ${scope}" aria-label="Search ${scope}" aria-keyshortcuts="/ Control+K" autocomplete="off" spellcheck="false">
<kbd aria-hidden="true">/</kbd>
<div class="found" hidden><p role="status"></p><ul></ul></div>
</search>`;

/** Hidden as the search is. */
const THEME = `<button class="theme" hidden aria-label="Dark colours" aria-pressed="false">${icon("M10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.5 1.5M14.2 14.2l1.5 1.5M4.3 15.7l1.5-1.5M14.2 5.8l1.5-1.5M13 10a3 3 0 1 1-6 0 3 3 0 0 1 6 0z")}</button>`;

/** `popover`: on a narrow screen the lists open over the page, without a script; on a wide one they are next to it. */
function top(site: DocsSite, parts: { pages: boolean; contents: boolean }, home: string): string {
  const pages = `<button class="open" popovertarget="docs:pages" aria-label="All pages">${MENU}</button>`;
  const contents_button = `<button class="open here" popovertarget="docs:contents" aria-label="On this page">${LIST}<span>On this page</span></button>`;
  return `<header class="top">
${parts.pages ? pages : ""}
<a class="brand" href="${escape(home)}"><bdi>${escape(site.name)}</bdi></a>
${searchField(site.search.scope)}
${THEME}
${parts.contents ? contents_button : ""}
</header>`;
}

export function docsPage(site: DocsSite, page: DocsPage, body: string, place: PageFolder): string {
  const list = contents(page.headings);
  const pages = site.pages.length > 1 ? pageList(site, page, place) : "";
  const source = page.source && `<p class="source"><a href="${escape(place.url(page.source))}">Markdown source</a></p>`;
  return `<!doctype html>
<html lang="${page.language.lang}" dir="${page.language.dir}">
<head>
${head(site, page, place)}
</head>
<body>
<a class="skip" href="#docs:text">Skip to the text</a>
${top(site, { pages: pages !== "", contents: list !== "" }, place.url(""))}
<div class="frame">
${pages && `<nav id="docs:pages" class="pages" popover aria-label="Pages">${pages}</nav>`}
<main id="docs:text" tabindex="-1">
${trail(site, page, place)}
<article>
${body}</article>
${neighbours(site, page, place)}
${source ?? ""}
</main>
${list && `<nav id="docs:contents" class="contents" popover aria-label="On this page"><p>On this page</p>${list}</nav>`}
</div>
</body>
</html>
`;
}

// The colour scheme: as the reader's machine is set, until the reader chooses another, in `data-theme` of the page.

const DARK = /@media \(prefers-color-scheme: dark\) \{\s*:root \{([^{}]*)\}\s*\}/g;

/** The dark colours come a second time, for readers who chose them on a machine that is set to light. */
export const themed = (css: string): string =>
  css.replace(
    DARK,
    (_, colours: string) =>
      `@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) {${colours}} }\n:root[data-theme="dark"] {${colours}}`,
  );

/** Before anything shows, so that no page flashes. */
const THEME_SCRIPT = 'try{document.documentElement.dataset.theme=localStorage["docs-theme"]||""}catch{}';
