/** The ways through a docs site: all pages, this page's headings, the folders above, the pages before and after. */

import type { Heading } from "../markdown/render.ts";
import { folderOf, inWords, nameOf } from "../markdown/text.ts";
import { type DocsPage, flatten, type Folder, isFolder } from "./plan.ts";
import type { DocsSite, PageFolder } from "./site.ts";

/** Every page carries the navigation: past this many characters it shows the pages around the current one. */
const LONGEST = 100_000;
/** With more pages than this, folders that do not hold the current one are folded. */
const FOLDED_ABOVE = 40;

const escape = Bun.escapeHTML;
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

export function pageList(site: DocsSite, current: DocsPage, place: PageFolder): string {
  const view = { current, shown: shownPages(site.pages, current), place, all_open: site.pages.length <= FOLDED_ABOVE };
  return `<ul>${items(site.tree, view)}</ul>`;
}

/** The h2 and h3 of a page; empty where there is nothing to choose from. */
export function contents(headings: readonly Heading[]): string {
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
export function trail(site: DocsSite, { address }: DocsPage, { url }: PageFolder): string {
  const above = [...address.slice(0, -1).matchAll(/\//g)].map(({ index }) => address.slice(0, index + 1));
  if (!address.includes("/")) return "";
  const links = ["", ...above.slice(-DEEPEST)].map((folder) => {
    const name = bdi(folder === "" ? site.name : inWords(nameOf(folder.slice(0, -1))));
    const text = site.answers(folder) ? `<a href="${escape(url(folder))}">${name}</a>` : name;
    return `<li>${text}</li>`;
  });
  return `<nav class="trail" aria-label="Folders"><ol>${links.join("")}</ol></nav>`;
}

export function neighbours(site: DocsSite, page: DocsPage, { url }: PageFolder): string {
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

const escapeHtml = Bun.escapeHTML;

function card({ address, title, excerpt }: DocsPage, url: (address: string) => string): string {
  const words = excerpt && `<p dir="auto">${escapeHtml(excerpt)}</p>`;
  return `<li><a href="${escapeHtml(url(address))}" dir="auto">${escapeHtml(title)}</a>${words}</li>\n`;
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
  const name = escapeHtml(folder.slice(path.length, -1));
  return `<h2 dir="auto">${linked ? `<a href="${escapeHtml(url(folder))}">${name}</a>` : name}</h2>\n${list}`;
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
