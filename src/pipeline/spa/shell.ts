/** What a page shows and what it loads: the two things that tell an app's shell from a document. */
import { addressOf, baseOf, fileAt } from "../../html/addresses.ts";
import type { Budget } from "../budget.ts";
import { decodeEntities } from "../../html/entities.ts";
import { attributesOf } from "../../html/attributes.ts";
import type { Page, Part } from "../../html/page.ts";

/** Visible characters beside which a page is no longer a shell: enough for "Loading …" and an apology. */
const MAX_TEXT = 120;
/** A shell is short: what has more parts than any preload list is a document, or hostile. */
const MAX_PARTS = 10_000;
const DOCUMENT_PARTS = new Set(["form", "table", "canvas", "iframe", "video"]);
const MOUNT =
  /^(?:_*(?:root|app|application|mount|nuxt|next|gatsby|svelte|react|vue|solid|preact|lit|elm|ember)(?:[-_](?:root|app|mount|container))?|q-app)$/i;

type Opened = Extract<Part, { kind: "open" }>;

const visibleLength = (text: string): number =>
  text
    .replace(/&#?\w+;/g, "x")
    .replace(/\s+/g, " ")
    .trim().length;

function isMount({ name, attributes }: Opened): boolean {
  if (name === "html") return false;
  if (name.includes("-")) return true;
  const found = attributesOf(attributes);
  const names = [found.get("id") ?? "", ...(found.get("class") ?? "").split(/\s+/)];
  // SvelteKit's own wrapper around what it mounts.
  return names.some((each) => MOUNT.test(each)) || /^display:\s?contents;?$/.test(found.get("style") ?? "");
}

/** Whether a tag belongs to a document. A link to the page itself is an error message's "Reload". */
const isDocumentPart = ({ name, attributes }: Opened): boolean =>
  DOCUMENT_PARTS.has(name) || (name === "a" && !/^\.?\/?$/.test(attributesOf(attributes).get("href") ?? ""));

/** The body of a page that shows next to nothing, and whether it has a node for an app to mount on. Null: a document. */
export function bareBody(page: Page): { mount: boolean } | null {
  let parts = 0;
  let text = 0;
  let mount = false;
  let templates = 0; // what a template holds is not shown
  let elements = 0; // open custom elements: a heading inside is their fallback
  for (const part of page.parts()) {
    if (++parts > MAX_PARTS) return null;
    const step = part.kind === "open" ? 1 : -1;
    if (part.kind !== "text" && part.name === "template") templates = Math.max(0, templates + step);
    else if (templates > 0) continue;
    else if (part.kind === "text") text += visibleLength(part.text);
    else if (part.name.includes("-")) elements = Math.max(0, elements + step);
    if (part.kind === "open" && (isDocumentPart(part) || (part.name === "h1" && elements === 0))) return null;
    if (part.kind === "open" && !mount) mount = isMount(part);
    if (text > MAX_TEXT) return null;
  }
  return { mount };
}

export interface Loaded {
  /** Paths of the site's own code that the page starts: script elements and imports in inline modules. */
  entries: ReadonlySet<string>;
  /** `entries`, and what is preloaded for them. */
  own: ReadonlySet<string>;
  /** Addresses of code on other hosts, as written. */
  foreign: readonly string[];
  inline: string;
}

const RUNS = /^(?:|module|(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/(?:babel|jsx))$/i;
const IMPORT = /\b(?:import\s{0,9}\(?|from)\s{0,9}["'`]([^"'`\n]{1,500})["'`]/g;

/** The path on this site that `address` on `page` names; null where it is another host's, or none. */
const ownPath = (address: string, page: string): string | null =>
  fileAt(addressOf(decodeEntities(address).trim(), baseOf(page)));

/** Addresses that an inline script imports; a bare name is a package, not a path. */
const importsIn = (code: string): string[] =>
  [...code.matchAll(IMPORT)].map((found) => found[1]!).filter((address) => /^\.{0,2}\/|^https?:/.test(address));

/** What an element does with code: the addresses it names, and whether it runs them or only tells of them. */
function codeIn({ name, attributes, raw }: Opened): { addresses: string[]; runs: boolean } {
  const found = attributesOf(attributes);
  const type = found.get("type") ?? "";
  if (name === "link") {
    const preload = found.get("rel")?.toLowerCase() === "modulepreload";
    return { addresses: preload ? [found.get("href") ?? ""] : [], runs: false };
  }
  if (type === "importmap") return { addresses: raw?.match(/https?:[^"\s]+/g) ?? [], runs: false };
  if (!RUNS.test(type)) return { addresses: [], runs: false };
  return { addresses: found.has("src") ? [found.get("src")!] : importsIn(raw ?? ""), runs: true };
}

const LOADING = new Set(["script", "link", "base"]);

/** The code that the page at `path` loads. Throws `Spent`. */
export function loadedBy(page: Page, path: string, budget: Budget): Loaded {
  let base: string | null = null;
  const entries = new Set<string>();
  const own = new Set<string>();
  const foreign: string[] = [];
  const inline: string[] = [];
  for (const part of page.parts()) {
    if (part.kind !== "open" || !LOADING.has(part.name)) continue;
    budget.step();
    if (part.name === "base") {
      const href = attributesOf(part.attributes).get("href");
      if (href !== undefined) base ??= ownPath(href, path); // of two the first counts
      continue;
    }
    const { addresses, runs } = codeIn(part);
    for (const address of addresses) {
      const file = ownPath(address, base ?? path);
      if (file === null) foreign.push(address);
      else if (file !== path) (runs ? entries : own).add(file);
    }
    if (runs && part.raw) inline.push(part.raw);
  }
  return { entries, own: new Set([...entries, ...own]), foreign, inline: inline.join("\n") };
}
