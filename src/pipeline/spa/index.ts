/** Is an upload a single-page app, whose router must see every path? The rules of PIPELINE 2, in their order. */
import { isNeverServed } from "../../base/reserved-paths.ts";
import { fallbackPath } from "../../base/site-state.ts";
import type { Bytes, Files, Healed, SpaRule } from "../../base/types.ts";
import { type Redirects, redirectsOf } from "../../rules/redirects.ts";
import type { Page } from "../../html/page.ts";
import { type Budget, NO_LIMIT, Spent } from "../budget.ts";
import { keepPages, type Pages } from "../../html/kept-pages.ts";
import { hasCatchAll } from "./config.ts";
import { bareBody, loadedBy, type Loaded } from "./shell.ts";

const HISTORY = /\brouter\s{0,9}=\s{0,9}["']?history\b|\brouterMode["']?\s{0,9}:\s{0,9}["'`]history/;
/** Viewers of API descriptions and Markdown: they keep their place in the fragment unless told otherwise. */
const VIEWER =
  /\bid=["']?swagger-ui\b|swagger-ui-bundle|\$docsify\b|<redoc\b|redoc\.standalone|<elements-(?:api|dev-portal)\b|<rapi-doc\b/i;

/** Pages that an app has beside its index without being a document: errors, offline, ownership proofs, sign-in returns. */
const HELPER_PAGE =
  /^(?:404|200|offline|google[\da-f]{8,}|yandex_[\da-f]+|naver[\da-f]+|baidu_verify_[\w-]+|pinterest-[\da-f]+)$|(?:^|[-_])(?:callback|silent|sso|oidc|renew|refresh|redirect)(?:[-_]|$)/i;
/** What such a page is called, without its ending. */
const PAGE_NAME = /^([\w-]+)\.html?$/i;

function isHelperPage(path: string): boolean {
  const name = PAGE_NAME.exec(path.slice(path.lastIndexOf("/") + 1))?.[1];
  return name !== undefined && HELPER_PAGE.test(name);
}

const has = (bytes: Bytes, text: string): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(text);

/** Equal byte for byte, but for times: Nuxt writes one into each copy of its shell. */
function isCopy(page: Bytes, index: Bytes): boolean {
  if (page.length !== index.length) return false;
  if (Buffer.compare(page, index) === 0) return true;
  const timeless = (bytes: Bytes) =>
    Buffer.from(bytes)
      .toString("latin1")
      .replace(/\d{13}/g, "");
  return timeless(page) === timeless(index);
}

/** React, Vue and the like from another host, mounted by a script in the page: an app in one file. */
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

function ruleFor(files: Files, index: Bytes, { has_fallback }: Redirects, pages: Pages, budget: Budget): SpaRule {
  if (has_fallback || hasCatchAll(files)) return "config";
  const not_found = files.get("404.html");
  if (not_found) return isCopy(not_found, index) || has(not_found, "pathSegmentsToKeep") ? "copied_404" : "own_404";
  if (files.has("200.html")) return "fallback_200";
  const page = pages(index);
  if (HISTORY.test(page.text)) return "history_router";
  return VIEWER.test(page.text) ? "none" : shellRule(files, index, page, pages, budget);
}

/** Where there is no time left it is none; the receipt, which has none left either, says that it is not whole. */
function ruleInTime(...asked: Parameters<typeof ruleFor>): SpaRule {
  try {
    return ruleFor(...asked);
  } catch (error) {
    if (error instanceof Spent) return "none";
    throw error;
  }
}

/** Why unknown paths get the index. A rule without a sentence says no. */
const BECAUSE: Partial<Record<SpaRule, string>> = {
  config: "its own configuration sends every path there",
  copied_404: "its 404.html hands every path to the app",
  fallback_200: "it brings a 200.html, which is the page for them",
  history_router: "its router keeps the place in the path",
  shell: "its only page is the shell of an app",
  prerendered_shell: "all its pages start the same app, which has a router",
};

/** The rule that decided, and what it means for the deploy's result where it says yes. */
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
