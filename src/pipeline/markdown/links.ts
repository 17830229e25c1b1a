/** Links as the author wrote them, for the repository, turned into links of the site. */
import { addressOf, baseOf, fileAt } from "../../html/addresses.ts";
import { decodeEntities } from "../../html/character-references.ts";
import { encodePath } from "../../base/percent.ts";
import { folderOf } from "./text.ts";
import type { Rewrite } from "../../html/close-html.ts";
import { isMarkdownName } from "./source.ts";

/** The answers of the site, as far as links need them. */
export interface LinkTargets {
  /** Path of a Markdown file → where its page is (`docs/` for a folder's index, else a path). */
  addresses: ReadonlyMap<string, string>;
  files: ReadonlySet<string>;
}

/** A link to a Markdown file that is not there. `found` is the same name in other letter case. */
export interface BrokenLink {
  target: string;
  found: string | null;
}

const OTHER_PLACE = /^(?:[a-z][a-z\d+.-]*:|[\\/]{2})/i;

/** The URL as a browser reads it: no white space around it, no line breaks or tabs inside. */
function cleaned(url: string): string {
  let end = url.length;
  while (end > 0 && url.charCodeAt(end - 1) <= 32) end--;
  return url
    .slice(0, end)
    .replace(/^[\0- ]+/, "")
    .replace(/[\t\n\r]/g, "");
}

/** A relative URL from a page in `folder` to an address; both with `/` behind folders. */
export function relativeUrl(folder: string, address: string): string {
  const [from, to] = [folder.split("/").slice(0, -1), address.split("/")];
  let shared = 0;
  while (shared < from.length && shared < to.length - 1 && from[shared] === to[shared]) shared++;
  return "../".repeat(from.length - shared) + encodePath(to.slice(shared).join("/")) || "./";
}

interface Url {
  path: string;
  /** Query and fragment, as written. */
  suffix: string;
}

/** A URL's parts; null where it leads to another place or is only a fragment or query. */
function localUrl(url: string): Url | null {
  if (url === "" || /^[#?]/.test(url) || OTHER_PLACE.test(url)) return null;
  const end = url.search(/[?#]/);
  return { path: end < 0 ? url : url.slice(0, end), suffix: end < 0 ? "" : url.slice(end) };
}

/** One map for all pages of a deploy: a look at every file for each broken link would be their product. */
const lower = new WeakMap<ReadonlySet<string>, ReadonlyMap<string, string>>();

function otherCase(files: ReadonlySet<string>, path: string): string | null {
  const names = lower.get(files) ?? new Map([...files].toReversed().map((file) => [file.toLowerCase(), file]));
  lower.set(files, names);
  return names.get(path.toLowerCase()) ?? null;
}

/** Attributes that hold one URL. */
const URLS = new Set(["href", "src", "poster", "data", "xlink:href"]);

interface Linker {
  rewrite: Rewrite;
  broken(): BrokenLink[];
}

/** For the page of `source` in `folder` (its own, or the root if a lone page is the site's index). */
export function createLinker(source: string, folder: string, targets: LinkTargets): Linker {
  const home = folderOf(source);
  const base = baseOf(source);
  const broken = new Map<string, BrokenLink>();

  function toMarkdown({ path, suffix }: Url): string | null {
    const named = fileAt(addressOf(path, base));
    if (named === null || !isMarkdownName(named)) return null;
    // No file's name has a backslash or an empty folder: an author who writes them means this path.
    const file = named.replace(/[\\/]+/g, "/").replace(/^\//, "");
    const address = targets.addresses.get(file);
    if (address !== undefined)
      return file === source && suffix.startsWith("#") ? suffix : relativeUrl(folder, address) + suffix;
    if (!targets.files.has(file) && !broken.has(file)) {
      broken.set(file, { target: file, found: otherCase(targets.files, file) });
    }
    return null;
  }
  /** The page is not in the folder of its source, so relative links are written from the source's folder. */
  function moved({ path, suffix }: Url): string | null {
    return folder === home || path.startsWith("/") ? null : relativeUrl(folder, home) + path + suffix;
  }
  const rewrite: Rewrite = (element, { name, value }, all) => {
    if (!URLS.has(name)) return null;
    const url = localUrl(cleaned(decodeEntities(value)));
    if (!url) return null;
    const link =
      name === "href" && (element === "a" || element === "area") && !all.some((other) => other.name === "download");
    const written = (link ? toMarkdown(url) : null) ?? moved(url);
    return written === null ? null : Bun.escapeHTML(written);
  };
  return { rewrite, broken: () => [...broken.values()] };
}
