/** Makes sure that `/` resolves. If no index was uploaded, the only page that can be the index becomes it. If there is no
 *  such page, the index is a list of the files. */

import { encodePath } from "../base/percent.ts";
import type { Bytes, Draft, Files, Healed, Progress, Warning } from "../base/types.ts";
import { humanSize } from "../base/units.ts";
import { document } from "../html/document.ts";
import { html, type Html } from "../html/template.ts";

const INDEX = "index.html";

/** Pages at the root that could be the index. */
const rootPages = (files: Files): string[] =>
  [...files.keys()].filter((path) => /^[^/]+\.html?$/i.test(path) && !/^(?:404|200)\.html?$/i.test(path));

function indexPage(files: Files): string | null {
  if (files.has("200.html")) return "200.html";
  const [page, ...others] = rootPages(files);
  return page && others.length === 0 ? page : null;
}

const withIndex = (draft: Draft, content: Bytes, healed: Healed, warnings: Warning[] = []): Draft => ({
  ...draft,
  files: new Map([...draft.files, [INDEX, content]]),
  made: new Set([...draft.made, INDEX]),
  healed: [...draft.healed, healed],
  warnings: [...draft.warnings, ...warnings],
});

const depth = (path: string): number => path.split("/").length;

/** The folder of a site that is deeper in the upload: the one nearest to the root. */
function indexElsewhere(files: Files): Warning[] {
  const found = [...files.keys()].filter((path) => path.endsWith(`/${INDEX}`));
  const [path] = found.toSorted((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1));
  if (!path) return [];
  const folder = path.slice(0, -INDEX.length - 1);
  const message = `/ shows a list of files, for the site's ${INDEX} is in the folder ${folder}.`;
  const fix_recipe = `Deploy the folder ${folder} itself instead of the folder around it.`;
  return [{ code: "index_elsewhere", message, path, fix_recipe }];
}

/** `name` is the heading of a list of the files. */
export function ensureIndex(draft: Draft, progress: Progress, name?: string): Draft {
  if (draft.files.has(INDEX)) return draft;
  progress("making an index");
  const page = indexPage(draft.files);
  if (page) {
    const message = `${page} answers /, for there is no ${INDEX}.`;
    return withIndex(draft, draft.files.get(page)!, { code: "index_from_single_html", message, path: page });
  }
  const message = `A list of the files answers /, for there is no ${INDEX}.`;
  const healed: Healed = { code: "index_generated", message, path: INDEX };
  const made = withIndex(draft, listing(draft, name), healed, indexElsewhere(draft.files));
  return { ...made, written: new Map([...(draft.written ?? []), [INDEX, new Uint8Array()]]) };
}

// The list of an upload's files, for `/`: its pictures, and a link to every file, by folder.

/** Types that browsers show as a picture. */
const PICTURE = /\.(?:png|apng|jpe?g|jfif|gif|webp|avif|svg|bmp|ico)$/i;

/** Rows are in one card, as lists are on all pages of svc. Pictures are in a grid. */
const STYLE = `main{max-width:67rem;margin:0 auto;padding:clamp(1.5rem,5vw,2.5rem) 1.5rem 4rem}
h1+p{margin-top:4px}section{margin-top:24px}h2{font-size:1.125rem;margin-bottom:12px}
ul{list-style:none;padding:0}
.files{overflow:hidden}.files li+li{border-top:1px solid var(--line)}
.files a{display:flex;justify-content:space-between;align-items:baseline;gap:4px 16px;padding:14px 20px;color:inherit;text-decoration:none;transition:background-color .12s}
.files a:hover{background:var(--wash)}.files a:focus-visible{outline-offset:-3px}
.name{min-width:0;font-weight:600;color:var(--strong)}a:hover .name{text-decoration:underline}
.size{color:var(--dim);font-size:.875rem;white-space:nowrap}
.pictures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,12rem),1fr));gap:16px}.pictures+.files{margin-top:16px}
.pictures a{display:grid;gap:2px;color:inherit;text-decoration:none}
.pictures img{width:100%;height:12rem;object-fit:scale-down;margin-bottom:6px;border:1px solid var(--line);border-radius:14px;background:repeating-conic-gradient(#8881 0 25%,#0000 0 50%) 0/1rem 1rem}
.pictures:has(li:only-child){grid-template-columns:1fr}.pictures li:only-child img{height:min(70vh,36rem)}
@media(max-width:48rem){.files a{padding:12px 14px}}`;

interface Entry {
  path: string;
  /** Its name below the heading of its folder. */
  name: string;
  bytes: number;
}

const caption = ({ name, bytes }: Entry): Html =>
  html`<span class="name" dir="auto">${name}</span> <span class="size">${humanSize(bytes)}</span>`;

const picture = (entry: Entry): Html =>
  html`<li>
    <a href="${encodePath(entry.path)}"
      ><img src="${encodePath(entry.path)}" alt="" loading="lazy" />${caption(entry)}</a
    >
  </li>`;

const file = (entry: Entry): Html => html`<li><a href="${encodePath(entry.path)}">${caption(entry)}</a></li>`;

const list = (name: string, items: Html[]): Html | null =>
  items.length > 0
    ? html`<ul class="${name}" role="list">
        ${items}
      </ul>`
    : null;

function folder(name: string, entries: Entry[]): Html {
  const pictures = entries.filter(({ path }) => PICTURE.test(path));
  const others = entries.filter(({ path }) => !PICTURE.test(path));
  return html`<section>
    ${name && html`<h2 dir="auto">${name}/</h2>`} ${list("pictures", pictures.map(picture))}
    ${list("files card", others.map(file))}
  </section>`;
}

const inOrder = new Intl.Collator("en", { numeric: true });

function entriesOf(draft: Draft): Entry[] {
  const uploaded = [...draft.files].filter(([path]) => !draft.made.has(path));
  const entries = uploaded.map(([path, content]) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    return { path, name, bytes: content.length };
  });
  return entries.toSorted((a, b) => inOrder.compare(a.path, b.path));
}

/** Folders in order. The root comes first, because its name is the empty text. */
function byFolder(entries: Entry[]): [name: string, entries: Entry[]][] {
  const folders = Map.groupBy(entries, ({ path }) => path.slice(0, Math.max(0, path.lastIndexOf("/"))));
  return [...folders].toSorted(([a], [b]) => inOrder.compare(a, b));
}

/** The HTML of the list. It loads nothing but the pictures, and works at any path. */
function listing(draft: Draft, name?: string): Bytes {
  const entries = entriesOf(draft);
  const title = name ?? draft.stripped_folder ?? (entries.length === 1 ? entries[0]!.name : "Files");
  const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  const body = html`<h1 dir="auto">${title}</h1>
    <p class="dim">${entries.length} ${entries.length === 1 ? "file" : "files"}, ${humanSize(total)}</p>
    ${byFolder(entries).map(([name, inside]) => folder(name, inside))}`;
  return new TextEncoder().encode(document({ title, style: STYLE, body }));
}
