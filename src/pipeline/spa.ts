/** Decides whether an upload is a single-page app, whose router must see every path, by the rules of PIPELINE 2 in their
 *  order. */

import { type Json, member } from "../base/json.ts";
import { isNeverServed } from "../base/reserved-paths.ts";
import { fallbackPath } from "../base/site-state.ts";
import type { Bytes, Files, Healed, SpaRule } from "../base/types.ts";
import { addressOf, baseOf, fileAt } from "../html/addresses.ts";
import { attributesOf } from "../html/attributes.ts";
import { decodeEntities } from "../html/character-references.ts";
import { keepPages, type Pages } from "../html/page.ts";
import type { OpenTag, Page } from "../html/page.ts";
import { type Redirects, redirectsOf } from "../rules/redirects.ts";
import { type Budget, NO_LIMIT, Spent } from "./budget.ts";

const HISTORY = /\brouter\s{0,9}=\s{0,9}["']?history\b|\brouterMode["']?\s{0,9}:\s{0,9}["'`]history/;
/** Viewers of API descriptions and Markdown: they keep their place in the fragment unless a setting changes that. */
const VIEWER =
  /\bid=["']?swagger-ui\b|swagger-ui-bundle|\$docsify\b|<redoc\b|redoc\.standalone|<elements-(?:api|dev-portal)\b|<rapi-doc\b/i;

/** Pages that an app has besides its index and that are no documents: errors, offline, ownership proofs, sign-in
 *  returns. */
const HELPER_PAGE =
  /^(?:404|200|offline|google[\da-f]{8,}|yandex_[\da-f]+|naver[\da-f]+|baidu_verify_[\w-]+|pinterest-[\da-f]+)$|(?:^|[-_])(?:callback|silent|sso|oidc|renew|refresh|redirect)(?:[-_]|$)/i;
/** Names of such pages, without their ending. */
const PAGE_NAME = /^([\w-]+)\.html?$/i;

function isHelperPage(path: string): boolean {
  const name = PAGE_NAME.exec(path.slice(path.lastIndexOf("/") + 1))?.[1];
  return name !== undefined && HELPER_PAGE.test(name);
}

const has = (bytes: Bytes, text: string): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(text);

/** True if two pages are equal except for times: Nuxt writes the time into each copy of its shell. */
function isCopy(page: Bytes, index: Bytes): boolean {
  if (page.length !== index.length) return false;
  if (Buffer.compare(page, index) === 0) return true;
  const timeless = (bytes: Bytes) =>
    Buffer.from(bytes)
      .toString("latin1")
      .replace(/\d{13}/g, "");
  return timeless(page) === timeless(index);
}

/** An app in one file: React, Vue and the like from another host, mounted by a script in the page. */
const mountsFromAfar = ({ foreign, inline }: Loaded): boolean =>
  /\b(?:react|preact|vue|svelte|solid-js|lit|mithril)\b/i.test(foreign.join(" ")) &&
  /\b(?:createRoot|hydrateRoot|createApp|render|hydrate|mount)\s{0,9}\(|\bnew\s{1,9}Vue\b/.test(inline);

const pushesState = (files: Files, { own, inline }: Loaded): boolean =>
  inline.includes("pushState") || [...own].some((path) => files.has(path) && has(files.get(path)!, "pushState"));

const bootsFlutter = ({ entries }: Loaded): boolean =>
  [...entries].some((path) => /(?:^|\/)(?:flutter(?:_bootstrap)?|main\.dart)\.js$/.test(path));

const isOther = (path: string): boolean =>
  /\.html?$/i.test(path) && path !== "index.html" && !isHelperPage(path) && !isNeverServed(path);

const otherPages = (files: Files, index: Bytes): [path: string, page: Bytes][] =>
  [...files].filter(([path, page]) => isOther(path) && !isCopy(page, index));

function shellRule(files: Files, index: Bytes, page: Page, pages: Pages, budget: Budget): SpaRule {
  const body = bareBody(page);
  if (!body) return "none";
  const code = loadedBy(page, "index.html", budget);
  if (code.own.size === 0 && !mountsFromAfar(code)) return "none";
  const others = otherPages(files, index);
  if (others.length === 0) return body.mount || bootsFlutter(code) || pushesState(files, code) ? "shell" : "none";
  const same = ([path, other]: [string, Bytes]) =>
    code.entries.isSubsetOf(loadedBy(pages(other), path, budget).entries);
  return code.entries.size > 0 && others.every(same) && pushesState(files, code) ? "prerendered_shell" : "none";
}

function ruleFor(files: Files, index: Bytes, { fallbacks }: Redirects, pages: Pages, budget: Budget): SpaRule {
  if (fallbacks.length > 0 || hasCatchAll(files)) return "config";
  const not_found = files.get("404.html");
  if (not_found) return isCopy(not_found, index) || has(not_found, "pathSegmentsToKeep") ? "copied_404" : "own_404";
  if (files.has("200.html")) return "fallback_200";
  const page = pages(index);
  if (HISTORY.test(page.text)) return "history_router";
  return VIEWER.test(page.text) ? "none" : shellRule(files, index, page, pages, budget);
}

/** If no time is left, the upload counts as no app. The receipt then says that it is not complete. */
function ruleInTime(...asked: Parameters<typeof ruleFor>): SpaRule {
  try {
    return ruleFor(...asked);
  } catch (error) {
    if (error instanceof Spent) return "none";
    throw error;
  }
}

/** The reasons why unknown paths get the index. A rule without a sentence means no. */
const BECAUSE: Partial<Record<SpaRule, string>> = {
  config: "its own configuration sends every path there",
  copied_404: "its 404.html hands every path to the app",
  fallback_200: "it brings a 200.html, which is the page for them",
  history_router: "its router keeps the place in the path",
  shell: "its only page is the shell of an app",
  prerendered_shell: "all its pages start the same app, which has a router",
};

/** The rule that decided. If it means yes, the deploy's result says so. */
export function detectSpa(
  files: Files,
  pages: Pages = keepPages(),
  budget: Budget = NO_LIMIT,
  redirects: Redirects = redirectsOf(files),
): { spa: { enabled: boolean; rule: SpaRule }; healed: Healed[] } {
  const index = files.get("index.html");
  const rule = index ? ruleInTime(files, index, redirects, pages, budget) : "none";
  const because = BECAUSE[rule];
  if (!because) return { spa: { enabled: false, rule }, healed: [] };
  const page = fallbackPath(rule, (path) => files.has(path));
  const message = `Paths that name no file answer with ${page}, because ${because}.`;
  return { spa: { enabled: true, rule }, healed: [{ code: "spa_fallback", message, path: page, reason: rule }] };
}

// Configuration for other hosts may send every path to the index. It is a stranger's text: no pattern in it is compiled, and
// a file that is too large for configuration is not read.

/** Bun's TOML parser is quadratic in the number of keys: 0.2 s for this many bytes, 2.5 s for four times as many. */
const MAX_BYTES = 64 * 1024;

const isIndex = (target: unknown): boolean =>
  typeof target === "string" && /^(?:\.?\/)?(?:(?:index|200)(?:\.html)?)?$/.test(target) && target !== "";

/** Shapes that Vercel, Firebase and Azure use for "any path", with or without exceptions such as `(?!api/)`. */
const ANY_PATH =
  /^(?:\*{1,2}|:\w+\*|(?::\w+)?\((?:\(\?!.*\))?(?:\.[*+]|\[\^\.\/?\][*+])\)\??|\.[*+]|\(?\[\^\.\][*+]\)?)$/;
const matchesAny = (source: unknown): boolean =>
  typeof source === "string" && (source.startsWith("!") || ANY_PATH.test(source.replace(/^\^?\/?|\$$/g, "")));

/** Null if the file cannot be read. */
const tried =
  (parse: (text: string) => unknown) =>
  (text: string): Json => {
    try {
      return parse(text) as Json;
    } catch {
      return null; // no TOML or JSON, or nested deeper than any configuration
    }
  };
const json = tried(Bun.JSONC.parse);
const toml = tried(Bun.TOML.parse);

const list = (value: Json): Json[] => (Array.isArray(value) ? value : value === undefined ? [] : [value]);

/** True if one of `rules` sends any path (a key of `from`) to the index (a key of `to`). */
const sendsAll = (rules: Json, from: string[], to: string[]): boolean =>
  list(rules).some(
    (rule) => from.some((name) => matchesAny(member(rule, name))) && to.some((name) => isIndex(member(rule, name))),
  );

const isRewrite = (status: Json): boolean => status === 200 || status === "200";
const netlify = (text: string): boolean =>
  list(member(toml(text), "redirects")).some(
    (rule) => member(rule, "from") === "/*" && isIndex(member(rule, "to")) && isRewrite(member(rule, "status")),
  );

const vercel = (text: string): boolean => {
  const config = json(text);
  return (
    sendsAll(member(config, "rewrites"), ["source"], ["destination"]) ||
    sendsAll(member(config, "routes"), ["src"], ["dest"])
  );
};

const firebase = (text: string): boolean =>
  list(member(json(text), "hosting")).some((hosting) =>
    sendsAll(member(hosting, "rewrites"), ["source", "glob", "regex"], ["destination"]),
  );

const azure = (text: string): boolean => {
  const config = json(text);
  return (
    isIndex(member(member(config, "navigationFallback"), "rewrite")) ||
    sendsAll(member(config, "routes"), ["route"], ["rewrite", "serve"])
  );
};

/** The setting of a Worker, or of one of its environments. */
const cloudflare = (config: Json): boolean =>
  [config, ...Object.values(member(config, "env") ?? {})].some(
    (worker: Json) => member(member(worker, "assets"), "not_found_handling") === "single-page-application",
  );

const READERS: Record<string, (text: string) => boolean> = {
  "vercel.json": vercel,
  "netlify.toml": netlify,
  "firebase.json": firebase,
  "staticwebapp.config.json": azure,
  "wrangler.jsonc": (text) => cloudflare(json(text)),
  "wrangler.json": (text) => cloudflare(json(text)),
  "wrangler.toml": (text) => cloudflare(toml(text)),
};

const hasCatchAll = (files: Files): boolean =>
  Object.entries(READERS).some(([name, reads]) => {
    const bytes = files.get(name);
    return bytes !== undefined && bytes.length <= MAX_BYTES && reads(new TextDecoder().decode(bytes));
  });

// The visible text of a page and the code that it loads distinguish an app's shell from a document.

/** A page with more visible characters is no shell. It is enough for "Loading …" and an apology. */
const MAX_TEXT = 120;
/** A shell is short. A page with more parts than any preload list is a document, or hostile. */
const MAX_PARTS = 10_000;
const DOCUMENT_PARTS = new Set(["form", "table", "canvas", "iframe", "video"]);
const MOUNT =
  /^(?:_*(?:root|app|application|mount|nuxt|next|gatsby|svelte|react|vue|solid|preact|lit|elm|ember)(?:[-_](?:root|app|mount|container))?|q-app)$/i;

const visibleLength = (text: string): number =>
  text
    .replace(/&#?\w+;/g, "x")
    .replace(/\s+/g, " ")
    .trim().length;

function isMount({ name, attributes }: OpenTag): boolean {
  if (name === "html") return false;
  if (name.includes("-")) return true;
  const found = attributesOf(attributes);
  const names = [found.get("id") ?? "", ...(found.get("class") ?? "").split(/\s+/)];
  // SvelteKit's own wrapper around what it mounts.
  return names.some((each) => MOUNT.test(each)) || /^display:\s?contents;?$/.test(found.get("style") ?? "");
}

/** True if a tag belongs to a document. A link to the page itself does not: it is an error message's "Reload". */
const isDocumentPart = ({ name, attributes }: OpenTag): boolean =>
  DOCUMENT_PARTS.has(name) || (name === "a" && !/^\.?\/?$/.test(attributesOf(attributes).get("href") ?? ""));

/** The body of a page that shows next to nothing, and whether it has an element for an app to mount on. Null for a document. */
function bareBody(page: Page): { mount: boolean } | null {
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

interface Loaded {
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

/** The path on this site that `address` on `page` leads to. Null if it is on another host or no address. */
const ownPath = (address: string, page: string): string | null =>
  fileAt(addressOf(decodeEntities(address).trim(), baseOf(page)));

/** Addresses that an inline script imports; a bare name is a package, not a path. */
const importsIn = (code: string): string[] =>
  [...code.matchAll(IMPORT)].map((found) => found[1]!).filter((address) => /^\.{0,2}\/|^https?:/.test(address));

/** The addresses of code in an element, and whether the element runs the code or only preloads it. */
function codeIn({ name, attributes, raw }: OpenTag): { addresses: string[]; runs: boolean } {
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
function loadedBy(page: Page, path: string, budget: Budget): Loaded {
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
