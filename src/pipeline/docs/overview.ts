/** The page of a folder whose index nobody wrote: every page in it and below it, with its first words. */
import type { DocsSite } from "./site.ts";
import { type DocsPage, flatten, type Folder, isFolder } from "./tree.ts";
import { folderOf } from "../markdown/words.ts";

/** Folders inside folders each list what is below them: past this many characters the rest is counted only. */
const LONGEST = 200_000;

const escape = Bun.escapeHTML;

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
    if (html.length > LONGEST) break;
    shown += inside.length;
    html += section(path, folder, inside.map((page) => card(page, url)).join(""), url, answers(folder));
  }
  const rest = pages.length - shown;
  return rest > 0 ? `${html}<p>and ${rest} more</p>\n` : html;
}
