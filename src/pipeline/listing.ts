/** The page at `/` of an upload that has none: pictures to look at, every file to open, by folder. */
import { document, html, type Html } from "../html/template.ts";
import { encodePath } from "../base/percent.ts";
import type { Bytes, Draft } from "../base/types.ts";
import { humanSize } from "../base/units.ts";

/** What browsers show as a picture. */
const PICTURE = /\.(?:png|apng|jpe?g|jfif|gif|webp|avif|svg|bmp|ico)$/i;

/** Rows in one card, as lists are on all pages of svc; pictures in a grid. */
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
  /** Below its folder's heading. */
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

/** The root's files first: a folder's name is the empty text there. */
function byFolder(entries: Entry[]): [name: string, entries: Entry[]][] {
  const folders = Map.groupBy(entries, ({ path }) => path.slice(0, Math.max(0, path.lastIndexOf("/"))));
  return [...folders].toSorted(([a], [b]) => inOrder.compare(a, b));
}

/** The listing's HTML. It asks for nothing but the pictures, and works from any path it is answered at. */
export function listing(draft: Draft, name?: string): Bytes {
  const entries = entriesOf(draft);
  const title = name ?? draft.stripped_folder ?? (entries.length === 1 ? entries[0]!.name : "Files");
  const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  const body = html`<h1 dir="auto">${title}</h1>
    <p class="dim">${entries.length} ${entries.length === 1 ? "file" : "files"}, ${humanSize(total)}</p>
    ${byFolder(entries).map(([name, inside]) => folder(name, inside))}`;
  return new TextEncoder().encode(document({ title, style: STYLE, body }));
}
