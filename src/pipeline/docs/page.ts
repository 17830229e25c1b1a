/** The frame around a page's text. Its own ids have a colon, which no anchor of a heading has. */

import type { DocsSite, PageFolder } from "./site.ts";
import { type DocsPage, flatten, type Folder, isFolder } from "./plan.ts";
import type { Heading } from "../markdown/render.ts";
import { folderOf, inWords, nameOf } from "../markdown/text.ts";

const escape = Bun.escapeHTML;

/** Without one, browsers ask for `/favicon.ico`. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='7' fill='%23176b5b'/%3E%3Cpath d='M9 10h14M9 16h14M9 22h8' stroke='%23fff' stroke-width='2.6' stroke-linecap='round'/%3E%3C/svg%3E";

const icon = (path: string): string =>
  `<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="${path}"/></svg>`;
const MENU = icon("M3 5h14M3 10h14M3 15h14");
const MAGNIFIER = icon("M13 13l4 4M14 9A5 5 0 1 1 4 9a5 5 0 0 1 10 0z");
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
const searchField = ({ scope, parts }: DocsSite["search"]): string =>
  `<search hidden${parts.length > 0 ? ` data-parts="${parts.length}"` : ""}>
<input type="search" placeholder="Search ${scope}" aria-label="Search ${scope}" aria-keyshortcuts="/ Control+K" autocomplete="off" spellcheck="false">
${MAGNIFIER}<kbd aria-hidden="true">/</kbd>
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
${searchField(site.search)}
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

/** Before anything shows, so that no page flashes, and no text moves where the address opens the panel of comments. */
const THEME_SCRIPT =
  '{let r=document.documentElement.dataset;if(/^#svc-/.test(location.hash))r.svcComments="";try{r.theme=localStorage["docs-theme"]||""}catch{}}';

// The ways through a docs site: all pages, this page's headings, the folders above, the pages before and after.

/** Every page carries the navigation: past this many characters it shows the pages around the current one. */
const LONGEST = 100_000;
/** With more pages than this, folders that do not hold the current one are folded. */
const FOLDED_ABOVE = 40;

/** A title in its own direction, placed by the page's. */
const bdi = (text: string): string => `<bdi>${escape(text)}</bdi>`;

const costOf = ({ title, address }: DocsPage): number => title.length + 3 * address.length + 80;

/** Values that are the same on all pages of a site. They are computed once, because thousands of pages may ask for
 *  them. */
interface Whole {
  cost: number;
  /** Page → its place. */
  places: ReadonlyMap<DocsPage, number>;
  /** Without overviews of folders, which are signposts, no stations on the way. */
  stations: readonly DocsPage[];
  stops: ReadonlyMap<DocsPage, number>;
}

const known = new WeakMap<readonly DocsPage[], Whole>();
const placesOf = (pages: readonly DocsPage[]): ReadonlyMap<DocsPage, number> =>
  new Map(pages.map((page, i) => [page, i]));

function wholeOf(pages: readonly DocsPage[]): Whole {
  const found = known.get(pages);
  if (found) return found;
  const stations = pages.filter(({ source, address }) => source !== null || address === "");
  const cost = pages.reduce((sum, page) => sum + costOf(page), 0);
  const whole = { cost, places: placesOf(pages), stations, stops: placesOf(stations) };
  known.set(pages, whole);
  return whole;
}

/** All pages, or as many around the current one as there is room for. */
function shownPages(pages: readonly DocsPage[], current: DocsPage): ReadonlySet<DocsPage> {
  const { cost, places } = wholeOf(pages);
  if (cost <= LONGEST) return new Set(pages);
  const shown = new Set([current]);
  const middle = places.get(current) ?? 0;
  for (let [room, step] = [LONGEST, 1]; step < pages.length; step++) {
    for (const page of [pages[middle - step], pages[middle + step]]) {
      room -= page ? costOf(page) : 0;
      if (room < 0) return shown;
      if (page) shown.add(page);
    }
  }
  return shown;
}

interface View {
  current: DocsPage;
  shown: ReadonlySet<DocsPage>;
  place: PageFolder;
  all_open: boolean;
}

function link(page: DocsPage, text: string, { current, place }: View): string {
  const write = (here: string): string =>
    `<li><a href="${escape(place.url(page.address))}"${here}>${bdi(text)}</a></li>`;
  return page === current ? write(' aria-current="page"') : place.links.getOrInsertComputed(page, () => write(""));
}

/** The name of an index in its folder's list. The list is called by the folder; at the root it has no name. */
const nameOfIndex = ({ path }: Folder, { source, title }: DocsPage): string =>
  path === "" && source !== null ? title : "Overview";

/** A folder's index comes first in its list. */
function items(folder: Folder, view: View): string {
  const { index } = folder;
  let list = index && view.shown.has(index) ? link(index, nameOfIndex(folder, index), view) : "";
  for (const entry of folder.entries) {
    if (isFolder(entry)) list += group(entry, view);
    else if (view.shown.has(entry)) list += link(entry, entry.title, view);
  }
  return list;
}

/** A folder of one page is that page. */
function group(folder: Folder, view: View): string {
  const { index, entries } = folder;
  if (index && entries.length === 0) return view.shown.has(index) ? link(index, index.title, view) : "";
  const list = items(folder, view);
  if (list === "") return "";
  const open = view.all_open || view.current.address.startsWith(folder.path) ? " open" : "";
  return `<li><details${open}><summary>${bdi(folder.name)}</summary><ul>${list}</ul></details></li>`;
}

function pageList(site: DocsSite, current: DocsPage, place: PageFolder): string {
  const view = { current, shown: shownPages(site.pages, current), place, all_open: site.pages.length <= FOLDED_ABOVE };
  return `<ul>${items(site.tree, view)}</ul>`;
}

/** The h2 and h3 of a page; empty where there is nothing to choose from. */
function contents(headings: readonly Heading[]): string {
  const shown = headings.filter(({ depth, text }) => (depth === 2 || depth === 3) && text !== "");
  if (shown.length < 2) return "";
  const entries = shown.map(
    ({ depth, text, id }) => `<li class="h${depth}"><a href="#${escape(id)}">${bdi(text)}</a></li>`,
  );
  return `<ul>${entries.join("")}</ul>`;
}

/** Folders that are named above a page, besides the root. */
const DEEPEST = 5;

/** The folders around the page, as links if they answer. */
function trail(site: DocsSite, { address }: DocsPage, { url }: PageFolder): string {
  const above = [...address.slice(0, -1).matchAll(/\//g)].map(({ index }) => address.slice(0, index + 1));
  if (!address.includes("/")) return "";
  const links = ["", ...above.slice(-DEEPEST)].map((folder) => {
    const name = bdi(folder === "" ? site.name : inWords(nameOf(folder.slice(0, -1))));
    const text = site.answers(folder) ? `<a href="${escape(url(folder))}">${name}</a>` : name;
    return `<li>${text}</li>`;
  });
  return `<nav class="trail" aria-label="Folders"><ol>${links.join("")}</ol></nav>`;
}

function neighbours(site: DocsSite, page: DocsPage, { url }: PageFolder): string {
  const { stations: pages, stops } = wholeOf(site.pages);
  const at = stops.get(page) ?? NaN;
  const one = (other: DocsPage | undefined, rel: string, label: string): string =>
    other
      ? `<a rel="${rel}" href="${escape(url(other.address))}"><span>${label}</span> <b>${bdi(other.title)}</b></a>`
      : "";
  const links = one(pages[at - 1], "prev", "Previous") + one(pages[at + 1], "next", "Next");
  return links && `<nav class="turn" aria-label="Previous and next page">${links}</nav>`;
}

// The page of a folder that has no index: every page in it and below it, with its first words.

/** Folders inside folders each list what is below them: past this many characters the rest is counted only. */
const LONGEST_EXCERPT = 200_000;

function card({ address, title, excerpt }: DocsPage, url: (address: string) => string): string {
  const words = excerpt && `<p dir="auto">${escape(excerpt)}</p>`;
  return `<li><a href="${escape(url(address))}" dir="auto">${escape(title)}</a>${words}</li>\n`;
}

/** `path` is the folder's, below which sections are named. */
function section(
  path: string,
  folder: string,
  cards: string,
  url: (address: string) => string,
  linked: boolean,
): string {
  const list = `<ul class="overview">\n${cards}</ul>\n`;
  if (folder === path) return list;
  const name = escape(folder.slice(path.length, -1));
  return `<h2 dir="auto">${linked ? `<a href="${escape(url(folder))}">${name}</a>` : name}</h2>\n${list}`;
}

/** The tree's folder of that path. */
function folderIn(tree: Folder, path: string): Folder {
  const next = tree.entries.filter(isFolder).find((folder) => path.startsWith(folder.path));
  return tree.path === path || !next ? tree : folderIn(next, path);
}

/** `page`: the folder's index, which says nothing itself. */
export function overview({ tree, answers }: DocsSite, page: DocsPage, url: (address: string) => string): string {
  const path = page.address;
  const pages = flatten(folderIn(tree, path)).filter((other) => other.source !== null && other !== page);
  const by_folder = Map.groupBy(pages, ({ address }) => folderOf(address));
  let [html, shown] = ["", 0];
  for (const [folder, inside] of by_folder) {
    if (html.length > LONGEST_EXCERPT) break;
    shown += inside.length;
    html += section(path, folder, inside.map((page) => card(page, url)).join(""), url, answers(folder));
  }
  const rest = pages.length - shown;
  return rest > 0 ? `${html}<p>and ${rest} more</p>\n` : html;
}
