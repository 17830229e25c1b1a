/** The origins of a page's references: which file to change, and what its addresses are resolved against. */
import { baseOf, movedBase, ROOT } from "../../html/addresses.ts";
import type { PageReferences } from "../references/page.ts";
import type { Reference } from "../references/reference.ts";
import type { Judge } from "./judge.ts";
import type { Origin } from "./unanswered.ts";

export interface PageFile {
  path: string;
  /** The uploaded file to change: the service may have made `path` of it. */
  source: string;
}

const MARKDOWN = /\.(?:md|markdown)$/i;

/** The Markdown stage has judged the links between its files. */
export const isOwnLink = ({ source }: PageFile, { url, use }: Reference): boolean =>
  use === "link" && MARKDOWN.test(source) && MARKDOWN.test(url.replace(/[?#].*/, ""));

/** Pages of one folder resolve alike. */
export function folderOf(base: string): string {
  const path = base.replace(/[?#].*/, "");
  return path.slice(0, path.lastIndexOf("/") + 1);
}

const isRelative = (url: string): boolean => !/^(?:[a-z][a-z\d+.-]*:|[/\\]{2}|#)/i.test(url);
const ASKS = /\b(?:fetch|import|open|getJSON|getScript|Worker|axios)\b/;

/** Whether anything on the page is resolved by its base: an address that moves nothing does not matter. */
const movesAny = ({ references, scripts, styles, actions }: PageReferences): boolean =>
  references.some(({ url }) => isRelative(url)) ||
  scripts.some(({ url, code }) => (url === null ? ASKS.test(code) : isRelative(url))) ||
  styles.length + actions.length > 0;

export function originOf({ path, source }: PageFile, found: PageReferences, judge: Judge): Origin {
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
