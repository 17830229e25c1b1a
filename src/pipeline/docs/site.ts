/** Everything that the pages of a docs site share. */

import { encodePath } from "../../base/percent.ts";
import type { Files } from "../../base/types.ts";
import { relativeUrl } from "../markdown/links.ts";
import { type DocsPage, docsTree, flatten, type Folder } from "./plan.ts";

export interface DocsSite {
  name: string;
  tree: Folder;
  /** In reading order. */
  pages: readonly DocsPage[];
  /** Folder of the site's own style, script and search index, with its slash; no upload has it. */
  assets: string;
  /** The index, and what of the pages it holds. */
  search: ReturnType<typeof searchIndex>;
  /** The upload's icon. Null if browsers find it by themselves, undefined if there is none. */
  icon: string | null | undefined;
  /** Whether a folder (with its slash) has an index, made or uploaded. */
  answers(folder: string): boolean;
}

function freeFolder(files: Files): string {
  const used = new Set([...files.keys()].map((path) => path.split("/", 1)[0]!.toLowerCase()));
  for (let n = 1; ; n++) {
    const name = n === 1 ? "_docs" : `_docs-${n}`;
    if (!used.has(name)) return `${name}/`;
  }
}

function iconOf(files: Files): string | null | undefined {
  if (files.has("favicon.ico")) return null;
  return ["favicon.svg", "favicon.png"].find((path) => files.has(path));
}

export function docsSite(name: string, pages: readonly DocsPage[], files: Files): DocsSite {
  const tree = docsTree(pages);
  const in_order = flatten(tree);
  const indexes = new Set(pages.map(({ address }) => address));
  const answers = (folder: string): boolean => indexes.has(folder) || files.has(`${folder}index.html`);
  const search = searchIndex(in_order);
  return { name, tree, pages: in_order, assets: freeFolder(files), search, icon: iconOf(files), answers };
}

/** A folder with pages: the parts that all of them write in the same way are written once. */
export interface PageFolder {
  folder: string;
  /** A relative URL from there. */
  url(address: string): string;
  /** Links of the navigation, but for the current page's. */
  links: Map<DocsPage, string>;
}

/** For a page that answers at any path: its URLs begin at the root. */
export const placeAnywhere = (): PageFolder => ({
  folder: "",
  url: (address) => `/${encodePath(address)}`,
  links: new Map(),
});

export function placeAt(folder: string): PageFolder {
  const urls = new Map<string, string>();
  const url = (address: string) => urls.getOrInsertComputed(address, () => relativeUrl(folder, address));
  return { folder, url, links: new Map() };
}

// The index of the search: titles, headings and as much text as is worth loading at once; the whole text of a large site
// follows in parts, which a reader loads if the first one finds too little.

/** Bytes of the index, which a reader loads at the first key, and of each part: only a single page makes one longer. */
const MOST = 300_000;

/** A section: its heading and that heading's id (both empty before the first, and below the page's title), its text. */
type Section = [heading: string, id: string, text: string];
/** A page: its title, its address from the site's root, its sections. */
type Entry = [title: string, url: string, sections: Section[]];

/** The share of each page that the search index keeps. */
interface Level {
  shorten(text: string): string;
  /** The deepest heading. */
  depth: number;
  /** The number of headings kept for a page. */
  headings: number;
}

/** The longest part kept of a sentence or heading: some texts have neither. */
const LONGEST_SENTENCE = 300;
const cut = (text: string): string =>
  text.length <= LONGEST_SENTENCE ? text : text.slice(0, LONGEST_SENTENCE).replace(/[\ud800-\udbff]$/, "");
/** The anchor of a heading that was cut is as long as that was: its page is near enough. */
const anchor = (id: string): string => (id.length > LONGEST_SENTENCE ? "" : id);

/** Languages without spaces between words have none between sentences either. */
const SENTENCE_END = /[.!?](?=\s)|[。！？]/;

function firstSentence(line: string): string {
  return cut(line.slice(0, line.search(SENTENCE_END) + 1 || line.length));
}

const whole: Level = { shorten: (text) => text, depth: 6, headings: Infinity };
const sentences: Level = {
  shorten: (text) => text.split("\n").map(firstSentence).join("\n"),
  depth: 6,
  headings: Infinity,
};
const headingsTo = (depth: number): Level => ({ shorten: () => "", depth, headings: Infinity });
const firstHeadings = (headings: number): Level => ({ ...headingsTo(2), headings });
const titles: Level = { ...headingsTo(0), headings: 0 };
const SHORTER = [sentences, ...[6, 3, 2].map(headingsTo), ...[64, 32, 16, 8, 4].map(firstHeadings)];

/** The texts that a reader can search; `scope` names them, after "Search". */
interface SearchIndex {
  json: string;
  scope: string;
  /** All texts, if `json` has no room for them. */
  parts: readonly string[];
}

function sectionsOf({ title, headings, sections }: DocsPage, level: Level): Section[] {
  const { shorten, depth: deepest } = level;
  const below = (i: number): string => shorten(sections[i] ?? "");
  const all = headings.map(({ text, id, depth }, i): Section =>
    text === title || depth > deepest ? ["", "", below(i + 1)] : [cut(text), anchor(id), below(i + 1)],
  );
  const found = [["", "", below(0)] as Section, ...all].filter(([heading, , text]) => heading !== "" || text !== "");
  return found.slice(0, level.headings);
}

const entryOf = (page: DocsPage, level: Level): string => {
  const entry: Entry = [page.title, relativeUrl("", page.address), sectionsOf(page, level)];
  return JSON.stringify(entry);
};

/** Entries as far as there is room, and whether that was for all. */
function indexOf(pages: readonly DocsPage[], level: Level): { json: string; whole: boolean } {
  const entries: string[] = [];
  let room = MOST - 2;
  for (const page of pages) {
    const json = entryOf(page, level);
    room -= Buffer.byteLength(json) + 1;
    if (room < 0) break;
    entries.push(json);
  }
  return { json: `[${entries.join()}]`, whole: room >= 0 };
}

function partsOf(pages: readonly DocsPage[]): string[] {
  const parts: string[] = [];
  let entries: string[] = [];
  let room = MOST - 2;
  for (const page of pages) {
    const json = entryOf(page, whole);
    const bytes = Buffer.byteLength(json) + 1;
    if (bytes > room && entries.length > 0) {
      parts.push(`[${entries.join()}]`);
      [entries, room] = [[], MOST - 2];
    }
    entries.push(json);
    room -= bytes;
  }
  return [...parts, `[${entries.join()}]`];
}

/** All text, if there is room for it; else the first sentence of each paragraph, then headings alone, as deep and as many as there
 *  is room for, then titles; and behind it all text in parts. */
export function searchIndex(pages: readonly DocsPage[]): SearchIndex {
  const written = pages.filter(({ source }) => source !== null);
  const scope = "titles and text";
  const all = indexOf(written, whole);
  if (all.whole) return { json: all.json, scope, parts: [] };
  const parts = partsOf(written);
  for (const level of SHORTER) {
    const { json, whole } = indexOf(written, level);
    if (whole) return { json, scope, parts };
  }
  return { json: indexOf(written, titles).json, scope, parts };
}
