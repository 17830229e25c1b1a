/** Follows every page of a site to what it loads, and that to what it loads in turn, as a browser would: pages, then
 *  stylesheets and scripts, each once. What no page reaches is not judged. */
import type { Files, Progress } from "../../base/types.ts";
import { addressOf, baseOf, fileAt, movedBase, ROOT } from "../../html/addresses.ts";
import { decodeHtml } from "../../html/decode.ts";
import type { Pages } from "../../html/page.ts";
import { bareImport, brokenMap, moduleAsScript, noAddress, nodeRequire, sourceLoaded } from "./findings.ts";
import { type ImportMap, NO_MAP, readImportMap } from "../references/import-map.ts";
import type { Judge } from "./judge.ts";
import { mediaType } from "../../base/media-types.ts";
import { type PageReferences, pageReferences, type PageScript } from "../references/page.ts";
import type { Reference } from "../references/reference.ts";
import { scriptReferences, type ScriptReferences } from "../references/script.ts";
import { styleReferences } from "../references/style.ts";
import type { Origin } from "./unanswered.ts";
import { webManifestReferences } from "../references/web-manifest.ts";

/** How a script runs. */
interface Running {
  /** A worker may be a module or not, which is unknown here: both are right. */
  kind: "classic" | "module" | "worker";
  map: ImportMap;
  /** The bases of the addresses that a script gives to its page: one for each page that runs it. */
  page_bases: Set<string>;
}

/** Asked for next to each page that runs a script. It is missing only if it is missing for all of them. */
interface ByPage {
  reference: Reference;
  file: string;
  bases: ReadonlySet<string>;
}

/** Pages in further folders that run the same script tell nothing new. */
const MOST_BASES = 8;
/** The most visits of files that load each other in ever new circumstances: far beyond any site, and a bound for
 *  hostile ones. */
const MOST_VISITS = 20_000;
const CODE = /^(?:text|application)\/(?:x-)?javascript|^application\/wasm/;
const NOT_LOADED = new Set<Reference["use"]>(["link", "film", "preview", "base"]);
/** Everything else that a module imports is a name. */
const IMPORT_ADDRESS = /^(?:\.{0,2}\/|(?:https?|data|blob):)/;
const STAGE = "following references";

export class Walk {
  /** Files that a page loads as it opens → the file that names them. */
  readonly loaded = new Map<string, string>();
  /** Files that a form sends its fields to. */
  readonly actions = new Set<string>();
  /** Stylesheets that pages load. */
  readonly styles = new Set<string>();
  /** A script gives the page its title. */
  sets_title = false;
  /** A script that the index starts has a router. */
  routed = false;
  /** The uploaded files that the pages were read from: one may have become two pages. */
  readonly pages_read = new Set<string>();

  private readonly sheets: string[] = [];
  private readonly read_scripts = new Set<string>();
  private readonly scripts: (Running & { path: string })[] = [];
  private readonly seen = new Set<string>();
  private readonly parsed = new Map<string, ScriptReferences>();
  private readonly code = new Map<string, boolean>();
  private readonly page_bases = new Map<string, Set<string>>();
  private readonly by_page: ByPage[] = [];

  constructor(
    private readonly files: Files,
    private readonly pages: Pages,
    private readonly judge: Judge,
    private readonly progress: Progress,
  ) {}

  run(pages: readonly PageFile[]): void {
    for (const page of pages) {
      this.progress(STAGE, page.path);
      this.pages_read.add(page.source);
      this.readPage(page);
      this.follow(); // what all pages load comes first, should the time not do for all of them
    }
    this.judge.counting = "apart";
    for (const { reference, file, bases } of this.by_page) {
      const running: Running = { kind: "worker", map: NO_MAP, page_bases: new Set(bases) };
      this.loadScript(reference, { file, bases: [...bases] }, reference.use === "worker" ? running : null);
    }
    this.follow();
  }

  private text(path: string): string {
    return decodeHtml(this.files.get(path)!);
  }
  private isCode(path: string): boolean {
    return this.code.getOrInsertComputed(path, () => CODE.test(mediaType(path, this.files.get(path)!)));
  }
  private once(key: string): boolean {
    if (this.seen.size >= MOST_VISITS || this.seen.has(key)) return false;
    this.seen.add(key);
    return true;
  }
  private read(path: string): ScriptReferences {
    const known = this.parsed.get(path) ?? scriptReferences(this.text(path));
    this.parsed.set(path, known);
    return known;
  }

  /** The file that answers, queued if it has references of its own. */
  private load(reference: Reference, origin: Origin): string | null {
    const path = this.judge.ask(reference, origin);
    if (path === null || !this.files.has(path)) return null;
    if (NOT_LOADED.has(reference.use)) return path;
    if (!this.loaded.has(path)) this.loaded.set(path, origin.file);
    if (reference.use === "style" && this.once(`style ${path}`)) this.sheets.push(path);
    if (reference.use === "web_manifest" && this.once(`web_manifest ${path}`)) this.readWebManifest(path);
    return path;
  }

  private loadScript(reference: Reference, origin: Origin, running: Running | null): string | null {
    const path = this.load(reference, origin);
    if (path === null || running === null) return path;
    const { kind, map } = running;
    const page_bases = this.page_bases.getOrInsertComputed(path, () => new Set());
    for (const base of running.page_bases) if (page_bases.size < MOST_BASES) page_bases.add(base);
    if (this.once(`${kind} ${map.id} ${path}`)) this.scripts.push({ kind, map, page_bases, path });
    return path;
  }

  private readPage(page: PageFile): void {
    const found = pageReferences(this.pages(this.files.get(page.path)!));
    const origin = originOf(page, found, this.judge);
    const running: Running = {
      kind: "module",
      map: this.mapOf(found, origin),
      page_bases: new Set([folderOf(origin.bases[0]!)]),
    };
    for (const url of running.map.addresses) this.loadScript({ url, use: "module" }, origin, running);
    for (const reference of found.references) {
      const runs = reference.use === "module" || reference.use === "worker" ? running : null;
      if (isOwnLink(page, reference)) this.judge.count(page.source, withoutQuery(reference.url));
      else this.loadScript(reference, origin, runs && { ...runs, kind: reference.use as "module" });
    }
    for (const css of found.styles) this.readStyle(css, origin);
    for (const script of found.scripts) this.runScript(script, origin, running);
    if (page.path === "index.html") this.routed = this.runsRouter(found, origin);
    for (const action of found.actions) this.noteAction(action, origin);
  }

  private mapOf({ import_map }: PageReferences, { file }: Origin): ImportMap {
    if (import_map === null) return NO_MAP;
    const map = readImportMap(import_map);
    if (map.broken) this.judge.note(brokenMap(file, "import map"));
    for (const url of map.invalid) this.judge.note(noAddress(file, url));
    return map;
  }

  private runScript({ url, code, module }: PageScript, origin: Origin, page: Running): void {
    const running: Running = { ...page, kind: module ? "module" : "classic" };
    if (url === null) return this.readScript(scriptReferences(code), origin, running, true);
    const path = this.loadScript({ url, use: module ? "module" : "script" }, origin, running);
    if (path === null || module || !this.isCode(path)) return;
    if (this.read(path).is_module) this.judge.note(moduleAsScript(origin.file, url));
  }

  private runsRouter({ references, scripts }: PageReferences, origin: Origin): boolean {
    if (scripts.some(({ url, code }) => url === null && code.includes("pushState"))) return true;
    const modules = references.filter(({ use }) => use === "module");
    return [...scripts, ...modules].some(({ url }) => {
      const path = url === null ? null : fileAt(addressOf(url, origin.bases[0]!));
      return path !== null && this.files.has(path) && this.isCode(path) && this.read(path).pushes_state;
    });
  }

  private noteAction(action: string, origin: Origin): void {
    const path = fileAt(addressOf(action, origin.bases[0]!));
    if (path !== null && this.files.has(path)) this.actions.add(path);
  }

  private readWebManifest(path: string): void {
    const origin = { file: path, bases: [baseOf(path)] };
    for (const reference of webManifestReferences(this.text(path))) this.load(reference, origin);
  }

  private readStyle(css: string, origin: Origin): void {
    for (const reference of styleReferences(css)) this.load(reference, origin);
  }

  /** A script's own words. Addresses in `origin` are resolved against the script, or against the page that contains
   *  it. */
  private readScript(read: ScriptReferences, origin: Origin, running: Running, inline: boolean): void {
    const { kind, page_bases } = running;
    const { file } = origin;
    this.sets_title ||= read.sets_title;
    if (kind === "classic" && read.required !== null) this.judge.note(nodeRequire(file, read.required));
    this.readImports(read, origin, running);
    const beside: Running = { ...running, kind: "worker", page_bases: new Set(origin.bases) };
    for (const reference of read.beside) this.loadScript(reference, origin, beside);
    this.by_page.push(...read.by_page.map((reference) => ({ reference, file, bases: page_bases })));
    // Frameworks register a service worker that only some of their sites have; an author who writes it into the page
    // has it.
    for (const worker of read.service_workers) {
      this.by_page.push({ reference: { ...worker, optional: !inline }, file, bases: page_bases });
    }
    for (const url of read.calls) this.judge.call(url, { file, bases: [...page_bases] });
  }

  private readImports({ imports }: ScriptReferences, origin: Origin, running: Running): void {
    const { map, kind } = running;
    for (const { specifier, dynamic, attributed } of imports) {
      if (map.names(specifier) || (kind === "classic" && !dynamic)) continue;
      if (!IMPORT_ADDRESS.test(specifier)) {
        if (!dynamic && !map.broken) this.judge.note(bareImport(origin.file, specifier));
        continue;
      }
      const imported: Running = kind === "classic" ? { ...running, kind: "module" } : running;
      const path = this.loadScript({ url: specifier, use: "module" }, origin, imported);
      if (path !== null && !attributed && !this.isCode(path)) this.judge.note(sourceLoaded(origin.file, specifier));
    }
  }

  private follow(): void {
    for (let path = this.sheets.pop(); path !== undefined; path = this.sheets.pop()) {
      this.progress(STAGE, path);
      this.styles.add(path);
      this.readStyle(this.text(path), { file: path, bases: [baseOf(path)] });
    }
    for (let next = this.scripts.pop(); next !== undefined; next = this.scripts.pop()) {
      if (!this.isCode(next.path)) continue;
      this.progress(STAGE, next.path);
      const beside = baseOf(next.path);
      // A worker has no page: it asks for everything next to itself.
      const page_bases = next.kind === "worker" ? new Set([beside]) : next.page_bases;
      const { counting } = this.judge;
      if (this.read_scripts.has(next.path)) this.judge.counting = "no"; // what it names was counted
      this.read_scripts.add(next.path);
      this.readScript(this.read(next.path), { file: next.path, bases: [beside] }, { ...next, page_bases }, false);
      this.judge.counting = counting;
    }
  }
}

// The origins of a page's references: which file to change, and what its addresses are resolved against.

export interface PageFile {
  path: string;
  /** The uploaded file to change: the service may have made `path` of it. */
  source: string;
}

const MARKDOWN = /\.(?:md|markdown)$/i;

const withoutQuery = (url: string): string => url.replace(/[?#].*/, "");

/** The Markdown stage has judged the links between its files. */
const isOwnLink = ({ source }: PageFile, { url, use }: Reference): boolean =>
  use === "link" && MARKDOWN.test(source) && MARKDOWN.test(withoutQuery(url));

/** Pages of one folder resolve alike. */
function folderOf(base: string): string {
  const path = withoutQuery(base);
  return path.slice(0, path.lastIndexOf("/") + 1);
}

const isRelative = (url: string): boolean => !/^(?:[a-z][a-z\d+.-]*:|[/\\]{2}|#)/i.test(url);
const ASKS = /\b(?:fetch|import|open|getJSON|getScript|Worker|axios)\b/;

/** Whether anything on the page is resolved by its base: an address that moves nothing does not matter. */
const movesAny = ({ references, scripts, styles, actions }: PageReferences): boolean =>
  references.some(({ url }) => isRelative(url)) ||
  scripts.some(({ url, code }) => (url === null ? ASKS.test(code) : isRelative(url))) ||
  styles.length + actions.length > 0;

function originOf({ path, source }: PageFile, found: PageReferences, judge: Judge): Origin {
  const own = baseOf(path);
  const origin = { file: source, bases: [own], filled_in: found.filled_in };
  if (found.base !== null) {
    if (movesAny(found)) judge.ask({ url: found.base, use: "base" }, origin);
    const moved = movedBase(found.base, own);
    return moved ? { ...origin, bases: [moved], moved: true } : origin;
  }
  // A part of a page is used in another page: its addresses may be meant from there.
  return found.whole || /(?:^|\/)index\.html$/.test(path) ? origin : { ...origin, bases: [own, ROOT] };
}
