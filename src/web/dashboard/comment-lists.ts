/** The lists of threads and comments of a site, the places at which a list goes on, the links to both, and the titles of
 *  the pages that they are on. */
import { cursorOf, numberIn } from "../../comments/keys.ts";
import { html, type Html } from "../../html/template.ts";
import type { NoteCounts } from "../../store/notes.ts";
import { figure } from "../../base/units.ts";
import { hrefOf, pathOfSite } from "./pages.ts";
import { pageOf } from "../../comments/addresses.ts";
import type { LivePages } from "../../comments/context.ts";
import { Refusal } from "../../base/errors.ts";
import { decodePath } from "../../base/percent.ts";
import type { Bytes, Site } from "../../base/types.ts";
import { decodeHtml } from "../../html/decode.ts";
import { Page, titleOf } from "../../html/page.ts";
import type { SignedIn } from "../who.ts";

/** The lists in the order of the navigation, with their words. */
export const LISTS = {
  open: "Open",
  pending: "To approve",
  reported: "Reported",
  resolved: "Resolved",
  rejected: "Hidden",
} as const;
export type Show = keyof typeof LISTS;
const WAITING: ReadonlySet<Show> = new Set<Show>(["pending", "reported"]);
const SHOWS = Object.keys(LISTS) as Show[];

/** A page of a list. */
export interface ListPlace {
  show: Show;
  /** The cursor as the address has it; empty for the newest comments. */
  cursor: string;
}

/** Nonsense is the first list, from its beginning. */
export function placeOf(fields: URLSearchParams): ListPlace {
  const show = SHOWS.find((one) => one === fields.get("show")) ?? "open";
  return { show, cursor: (fields.get("cursor") ?? "").slice(0, 200) };
}

export const commentsPath = (site_id: string): string => `${pathOfSite(site_id)}/comments`;

export const placeHref = (site_id: string, { show, cursor }: ListPlace, done = ""): string =>
  hrefOf(commentsPath(site_id), { show, cursor, done });

const scopeOf = (site_id: string, show: Show): string => `${site_id}\0dashboard ${show}`;

/** Behind which row the page begins; null for the newest. */
export const rowOf = (key: string, site_id: string, { show, cursor }: ListPlace): number | null =>
  numberIn(key, scopeOf(site_id, show), cursor);

/** `next`: of the rows behind a page; null at the end. */
export const nextPlace = (key: string, site_id: string, show: Show, next: number | null): ListPlace | null =>
  next === null ? null : { show, cursor: cursorOf(key, scopeOf(site_id, show), next) };

/** Links, each with how much there is; those that wait for the owner stand out. */
export const listsNav = (site_id: string, shown: Show, counts: NoteCounts): Html =>
  html`<nav class="lists" aria-label="Threads">
    ${SHOWS.map(
      (show) =>
        html`<a
          href="${placeHref(site_id, { show, cursor: "" })}"
          class="${WAITING.has(show) && counts[show] > 0 && "waits"}"
          ${show === shown && html`aria-current="page"`}
          >${LISTS[show]} <span class="count">${figure(counts[show])}</span></a
        >`,
    )}
  </nav>`;

/** The links to the other pages of the list; nothing if one page has everything. */
export const placesNav = (site_id: string, here: ListPlace, next: ListPlace | null): Html | false =>
  (here.cursor !== "" || next !== null) &&
  html`<nav class="pages" aria-label="Pages">
    ${here.cursor !== "" && html`<a href="${placeHref(site_id, { ...here, cursor: "" })}">Newest</a>`}
    ${next !== null && html`<a href="${placeHref(site_id, next)}" rel="next">Older</a>`}
  </nav>`;

// The titles of live pages, for lists that would else name them by their paths.

/** A title stands in the head: of longer pages no more is read. */
const HEAD_BYTES = 16 * 1024;

/** Null while visitors cannot see the site. */
export async function liveOf({ parts }: SignedIn, site: Site): Promise<LivePages | null> {
  try {
    return await parts.comments.livePages(site);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

async function titleAt({ parts }: SignedIn, live: LivePages | null, path: string): Promise<string | null> {
  const found = live && pageOf(live, path);
  const file = found && live.files.get(found.file.path);
  if (!file) return null;
  // A page that cannot be read has no title; whoever opens it learns the rest.
  const head = async () => (await parts.store.blobs.open(file)).slice(0, HEAD_BYTES).bytes();
  const bytes = await head().catch(() => null);
  return bytes && titleOf(new Page(decodeHtml(bytes as Bytes)));
}

/** The name of each page: its title, or its path in readable letters. */
export async function pageNames(ctx: SignedIn, site: Site, paths: readonly string[]): Promise<Map<string, string>> {
  const live = await liveOf(ctx, site);
  const named = [...new Set(paths)].map(async (path): Promise<[string, string]> => {
    return [path, (await titleAt(ctx, live, path)) ?? decodePath(path) ?? path];
  });
  return new Map(await Promise.all(named));
}
