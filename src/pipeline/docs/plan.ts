/** Which Markdown file becomes which page, and which page answers which folder. */

import type { Files } from "../../base/types.ts";
import type { Heading } from "../markdown/render.ts";
import { isSource } from "../markdown/source.ts";
import { folderOf, inWords, nameOf, withoutExtension } from "../markdown/text.ts";
import type { Language } from "./language.ts";

export interface PlannedPage {
  source: string;
  /** The address that links lead to: a folder with its slash (empty: the root), else the page's path. */
  address: string;
  /** Paths that the page is stored at, made and free. */
  paths: readonly string[];
}

export interface Plan {
  pages: readonly PlannedPage[];
  /** Every Markdown file → where a link to it leads: its page, or the uploaded page of the same name. */
  addresses: ReadonlyMap<string, string>;
  /** Folders that have pages but no written index: they get an overview. */
  overviews: readonly string[];
}

const INDEX = "index.html";
const INDEX_NAMES = ["index.md", "index.markdown", "readme.md", "readme.markdown"];

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Whether a file is called as a folder's index is. */
export const isIndexName = (path: string): boolean => INDEX_NAMES.includes(nameOf(path).toLowerCase());

/** Lower is better; the name in lower case before others. */
function indexRank(path: string): number {
  const name = nameOf(path);
  const rank = INDEX_NAMES.indexOf(name.toLowerCase());
  return rank < 0 ? Infinity : 2 * rank + (INDEX_NAMES.includes(name) ? 0 : 1);
}

/** Folder → the file that is its index. A site of one file has that file as its index, in whatever folder it is. */
function chooseIndexes(sources: readonly string[], files: Files): Map<string, string> {
  const chosen = new Map<string, string>();
  for (const source of sources.toSorted((a, b) => indexRank(a) - indexRank(b) || byText(a, b))) {
    const folder = folderOf(source);
    const fits = sources.length === 1 || indexRank(source) < Infinity;
    if (fits && !chosen.has(folder) && !files.has(folder + INDEX)) chosen.set(folder, source);
  }
  const [only, ...others] = sources;
  return only !== undefined && others.length === 0 ? chosen.set("", only) : chosen;
}

/** `a.md` → `a.html`, `.md` before `.markdown` where both would be the same page. */
function ownPages(sources: readonly string[]): Map<string, string> {
  const owners = new Map<string, string>();
  for (const source of sources.toSorted((a, b) => a.length - b.length || byText(a, b))) {
    const own = `${withoutExtension(source)}.html`;
    if (!owners.has(own)) owners.set(own, source);
  }
  return owners;
}

/** The first page of an upload whose only pages are MDX, which a build turns into some; null for any other upload. */
export function firstMdx(files: Files): string | null {
  const names = [...files.keys()];
  if (names.some((path) => /\.(?:md|markdown|x?html?)$/i.test(path))) return null;
  return names.filter((path) => /[^/]\.mdx$/i.test(path)).toSorted(byText)[0] ?? null;
}

/** Null where there is no Markdown, or every file of it has an uploaded page already. */
export function planDocs(files: Files): Plan | null {
  const sources = [...files.keys()].filter(isSource);
  const indexes = chooseIndexes(sources, files);
  const owners = ownPages(sources);
  const addresses = new Map<string, string>();
  const pages: PlannedPage[] = [];
  for (const source of sources) {
    const own = `${withoutExtension(source)}.html`;
    const folders = [...indexes].filter(([, index]) => index === source).map(([folder]) => folder);
    const isOwner = owners.get(own) === source && !files.has(own);
    const address = folders.toSorted(byText)[0] ?? own;
    addresses.set(source, address);
    const paths = new Set([...folders.map((folder) => folder + INDEX), ...(isOwner ? [own] : [])]);
    if (paths.size > 0) pages.push({ source, address, paths: [...paths] });
  }
  if (pages.length === 0) return null;
  const folders = new Set(["", ...pages.map(({ source }) => folderOf(source))]);
  const overviews = [...folders].filter((folder) => !files.has(folder + INDEX) && !indexes.has(folder));
  return { pages, addresses, overviews };
}

// All pages of a docs site in the order that its navigation shows: a folder at a time, its index first.

export interface DocsPage {
  /** Null for a generated overview. */
  source: string | null;
  /** `docs/` where the page is a folder's index, else its path. */
  address: string;
  title: string;
  order: number | null;
  excerpt: string;
  headings: readonly Heading[];
  /** The text before the first heading, then the text below each heading. */
  sections: readonly string[];
  language: Language;
}

export interface Folder {
  /** With its slash; empty for the root. */
  path: string;
  /** In words. */
  name: string;
  index: DocsPage | null;
  entries: (DocsPage | Folder)[];
}

export const isFolder = (entry: DocsPage | Folder): entry is Folder => "entries" in entry;

const collator = new Intl.Collator("en", { numeric: true });

/** `docs/` → `docs`, `a.html` → `a`: the name of the entry among others. */
const keyOf = (entry: DocsPage | Folder): string =>
  isFolder(entry) ? nameOf(entry.path.slice(0, -1)) : nameOf(entry.source ?? entry.address).replace(/\.[^.]*$/, "");

const orderOf = (entry: DocsPage | Folder): number => (isFolder(entry) ? entry.index?.order : entry.order) ?? Infinity;

/** Numbered names come in front; pages before folders where neither order nor number says otherwise. */
const numberOf = (key: string): number => Number(/^\d+/.exec(key)?.[0] ?? Infinity);

const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

function inOrder(a: DocsPage | Folder, b: DocsPage | Folder): number {
  const [x, y] = [keyOf(a), keyOf(b)];
  return (
    compare(orderOf(a), orderOf(b)) ||
    compare(numberOf(x), numberOf(y)) ||
    Number(isFolder(a)) - Number(isFolder(b)) ||
    collator.compare(x, y) ||
    (x < y ? -1 : 1)
  );
}

function sorted(folder: Folder): Folder {
  for (const entry of folder.entries) if (isFolder(entry)) sorted(entry);
  folder.entries.sort(inOrder);
  return folder;
}

export function docsTree(pages: readonly DocsPage[]): Folder {
  const folders = new Map<string, Folder>();
  const folderAt = (path: string): Folder => {
    const known = folders.get(path);
    if (known) return known;
    const folder: Folder = { path, name: inWords(nameOf(path.slice(0, -1))), index: null, entries: [] };
    folders.set(path, folder);
    if (path !== "") folderAt(folderOf(path.slice(0, -1))).entries.push(folder);
    return folder;
  };
  for (const page of pages) {
    const folder = folderAt(folderOf(page.address));
    if (folder.path === page.address) folder.index = page;
    else folder.entries.push(page);
  }
  return sorted(folderAt(""));
}

/** As the navigation reads, top to bottom. */
export function flatten(folder: Folder): DocsPage[] {
  const pages: DocsPage[] = folder.index ? [folder.index] : [];
  // A loop, not flatMap: folders nest as deep as names allow.
  for (const entry of folder.entries) {
    if (!isFolder(entry)) pages.push(entry);
    else for (const page of flatten(entry)) pages.push(page);
  }
  return pages;
}
