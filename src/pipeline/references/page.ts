/** References of pages, stylesheets and scripts: found, never judged. Finds what a page loads and links to, in one pass
 *  over its tags. Comments, templates and text hold no references. */
import { decodeEntities } from "../../html/character-references.ts";
import { attributesOf } from "../../html/attributes.ts";
import type { OpenTag, Page } from "../../html/page.ts";
import { distinctReferences, LONGEST_URL, type Reference, type Use } from "./reference.ts";

export interface PageScript {
  /** Null if it is in the page itself. */
  url: string | null;
  code: string;
  module: boolean;
}

export interface PageReferences {
  /** As written. Null if the page has none. */
  base: string | null;
  references: readonly Reference[];
  scripts: readonly PageScript[];
  /** Stylesheets in the page: style elements and attributes. */
  styles: readonly string[];
  /** The text of its import map. Null if it has none. */
  import_map: string | null;
  /** The addresses that its forms send to. */
  actions: readonly string[];
  /** A document of its own, not a part that some script puts into another page. */
  whole: boolean;
  /** AngularJS fills in its links. */
  filled_in: boolean;
}

type Attributes = ReadonlyMap<string, string>;

const DRAWING: Record<string, Use> = { href: "image", "xlink:href": "image" };
const BACKGROUND: Record<string, Use> = { background: "image" };

/** Element → attribute → what it is for. A script, a link and a meta element say it in other attributes. */
const ADDRESSES: Record<string, Record<string, Use>> = {
  a: { href: "link", "xlink:href": "link" },
  area: { href: "link" },
  img: { src: "image", srcset: "image" },
  source: { src: "film", srcset: "image" },
  video: { src: "film", poster: "image" },
  audio: { src: "film" },
  track: { src: "data" },
  embed: { src: "frame" },
  object: { data: "frame" },
  iframe: { src: "frame" },
  frame: { src: "frame" },
  use: DRAWING,
  image: DRAWING,
  body: BACKGROUND,
  table: BACKGROUND,
  td: BACKGROUND,
};

const CLASSIC = /^(?:|(?:text|application)\/(?:x-)?(?:java|ecma)script)$/i;
/** Compilers in the page fetch these by themselves. */
const COMPILED = /^text\/(?:babel|jsx|typescript|x-typescript|less|coffeescript)$/i;
const ICON = /^(?:icon|apple-touch-icon(?:-precomposed)?|mask-icon|apple-touch-startup-image)$/;
const PREVIEW = /^(?:og:image(?::url|:secure_url)?|twitter:image(?::src)?)$/i;
const PLAYABLE = /\.(?:mp4|webm|mp3|m4a|wav)(?:[?#]|$)/i;
/** Only the first few of a long list of sources count. */
const MOST_PLAYABLE = 4;
const PRELOADED: Record<string, Use> = {
  script: "script",
  style: "style",
  font: "font",
  image: "image",
  worker: "worker",
};

/** The addresses of a `srcset`: each ends at white space, and commas at its end are not part of it. */
function candidates(srcset: string): string[] {
  const urls: string[] = [];
  const parts = /[^\s,]\S*/g;
  for (let part = parts.exec(srcset); part; part = parts.exec(srcset)) {
    const url = part[0].replace(/,{1,99}$/, "");
    urls.push(url);
    if (url.length < part[0].length) continue;
    const comma = srcset.indexOf(",", parts.lastIndex);
    if (comma < 0) break;
    parts.lastIndex = comma;
  }
  return urls;
}

function linkUse(found: Attributes): Use | null {
  const rel = (found.get("rel") ?? "").toLowerCase().split(/\s+/);
  if (rel.includes("stylesheet")) return found.has("disabled") ? null : "style";
  if (rel.includes("manifest")) return "web_manifest";
  if (rel.includes("modulepreload")) return "module";
  if (rel.includes("preload") || rel.includes("prefetch"))
    return PRELOADED[(found.get("as") ?? "").toLowerCase()] ?? "data";
  return rel.some((word) => ICON.test(word)) ? "image" : null;
}

class PageReader {
  readonly references: Reference[] = [];
  readonly scripts: PageScript[] = [];
  readonly styles: string[] = [];
  readonly actions: string[] = [];
  base: string | null = null;
  import_map: string | null = null;
  whole = false;
  filled_in = false;
  /** The use that the open video or audio makes of its sources. */
  private film: Use = "film";
  /** Its sources so far that every browser plays: one that is there is taken, and no other asked for. */
  private playable: string[] = [];

  private add(url: string | undefined, use: Use): void {
    if (url === undefined || url.length > LONGEST_URL) return;
    const decoded = decodeEntities(url).trim();
    if (decoded !== "") this.references.push({ url: decoded, use });
  }

  private source(url: string | undefined): void {
    if (url === undefined || url.length > LONGEST_URL) return;
    const decoded = decodeEntities(url).trim();
    if (decoded === "") return;
    this.references.push({ url: decoded, use: this.film, earlier: [...this.playable] });
    if (PLAYABLE.test(decoded) && this.playable.length < MOST_PLAYABLE) this.playable.push(decoded);
  }

  private script(found: Attributes, raw: string): void {
    const type = (found.get("type") ?? "").trim();
    if (/^importmap(?:-shim)?$/i.test(type)) this.import_map ??= raw;
    else if (COMPILED.test(type)) this.add(found.get("src"), "data");
    else if (found.has("nomodule") || !(CLASSIC.test(type) || /^module(?:-shim)?$/i.test(type))) return;
    else {
      const module = !CLASSIC.test(type);
      const url = found.get("src");
      const main = found.get("data-main");
      if (main !== undefined && main.trim() !== "" && /require/i.test(url ?? ""))
        this.required(decodeEntities(main).trim());
      if (url === undefined) this.scripts.push({ url: null, code: raw, module });
      else if (url.length <= LONGEST_URL) this.scripts.push({ url: decodeEntities(url).trim(), code: "", module });
    }
  }

  /** Adds the script that RequireJS starts with, if there is one: next to the page, without its ending, like all its
   *  modules. */
  private required(main: string): void {
    if (main.length > LONGEST_URL || /[!]/.test(main)) return;
    const url = /\.js$|[?#]/.test(main) ? main : `${main}.js`;
    this.scripts.push({ url, code: "", module: false });
  }

  private link(found: Attributes): void {
    const use = linkUse(found);
    if (use === null) return;
    this.add(found.get("href"), use);
    for (const url of candidates(found.get("imagesrcset") ?? "")) this.add(url, "image");
  }

  private meta(found: Attributes): void {
    const content = found.get("content");
    if (PREVIEW.test(found.get("property") ?? found.get("name") ?? "")) this.add(content, "preview");
    if (/^refresh$/i.test(found.get("http-equiv") ?? "")) {
      this.add(/^[\s\d.]*(?:[;,]\s*)?url\s*=\s*["']?([^"']*)/i.exec(content ?? "")?.[1], "link");
    }
  }

  private plain(name: string, found: Attributes): void {
    for (const [attribute, use] of Object.entries(ADDRESSES[name]!)) {
      const url = found.get(attribute);
      if (url === undefined || (name === "iframe" && found.has("srcdoc"))) continue;
      if (attribute === "srcset") for (const candidate of candidates(url)) this.add(candidate, use);
      else if (name === "source") this.source(url);
      else this.add(url, use === "film" ? this.film : use);
    }
  }

  open({ name, attributes, raw }: OpenTag): void {
    if (name === "html" || name === "head" || name === "body" || name === "title") this.whole = true;
    if (/\bng-app\b/.test(attributes)) this.filled_in = true;
    const styled = attributes.includes("url(");
    if (name === "style") this.styles.push(raw ?? "");
    if (!styled && !READ.has(name)) return;
    const found = attributesOf(attributes);
    if (styled) this.styles.push(decodeEntities(found.get("style") ?? ""));
    if (name === "video" || name === "audio") {
      this.film = found.has("autoplay") ? "data" : "film";
      this.playable = [];
    }
    if (name === "script") this.script(found, raw ?? "");
    else if (name === "link") this.link(found);
    else if (name === "meta") this.meta(found);
    else if (name === "base") this.base ??= found.has("href") ? decodeEntities(found.get("href")!).trim() : null;
    else if (name === "form") this.actions.push(found.get("action") ?? "");
    else if (name === "input" || name === "button") {
      if (/^image$/i.test(found.get("type") ?? "")) this.add(found.get("src"), "image");
      if (found.has("formaction")) this.actions.push(found.get("formaction")!);
    } else if (name in ADDRESSES) this.plain(name, found);
  }
}

const READ = new Set([...Object.keys(ADDRESSES), "script", "link", "meta", "base", "form", "input", "button"]);

export function pageReferences(page: Page): PageReferences {
  const reader = new PageReader();
  reader.whole = /^\s*<!doctype/i.test(page.text);
  let templates = 0; // what a template holds is neither shown nor loaded
  for (const part of page.parts()) {
    if (part.kind === "text") continue;
    if (part.name === "template") templates = Math.max(0, templates + (part.kind === "open" ? 1 : -1));
    else if (part.kind === "open" && templates === 0) reader.open(part);
  }
  const { base, scripts, styles, import_map, actions, whole, filled_in } = reader;
  const references = distinctReferences(reader.references);
  return { base, references, scripts, styles, import_map, actions, whole, filled_in };
}
