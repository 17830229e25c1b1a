/** What every page of a docs site shares. */
import { encodePath } from "../../base/percent.ts";
import { relativeUrl } from "../markdown/links.ts";
import { searchIndex } from "./search-index.ts";
import { type DocsPage, docsTree, flatten, type Folder } from "./tree.ts";
import type { Files } from "../../base/types.ts";

export interface DocsSite {
  name: string;
  tree: Folder;
  /** In reading order. */
  pages: readonly DocsPage[];
  /** Folder of the site's own style, script and search index, with its slash; no upload has it. */
  assets: string;
  /** The index, and what of the pages it holds. */
  search: ReturnType<typeof searchIndex>;
  /** The upload's icon; null where browsers find it by themselves; undefined where there is none. */
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

/** A folder that pages stand in: what each of them writes in the same way is written once. */
export interface Place {
  folder: string;
  /** A relative URL from there. */
  url(address: string): string;
  /** Links of the navigation, but for the current page's. */
  links: Map<DocsPage, string>;
}

/** For a page that answers at any path: its URLs begin at the root. */
export const placeAnywhere = (): Place => ({
  folder: "",
  url: (address) => `/${encodePath(address)}`,
  links: new Map(),
});

export function placeAt(folder: string): Place {
  const urls = new Map<string, string>();
  const url = (address: string) => urls.getOrInsertComputed(address, () => relativeUrl(folder, address));
  return { folder, url, links: new Map() };
}
