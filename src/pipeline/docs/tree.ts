/** All pages of a docs site in the order that its navigation shows: a folder at a time, its index first. */
import type { Heading } from "../markdown/render.ts";
import type { Language } from "./language.ts";
import { folderOf, inWords, nameOf } from "../markdown/words.ts";

export interface DocsPage {
  /** Null: an overview that nobody wrote. */
  source: string | null;
  /** `docs/` where the page is a folder's index, else its path. */
  address: string;
  title: string;
  order: number | null;
  excerpt: string;
  headings: readonly Heading[];
  /** What stands before the first heading, then below each. */
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

/** `docs/` → `docs`, `a.html` → `a`: what the entry is called beside others. */
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
