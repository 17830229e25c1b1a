/** The line of `_redirects` that mends a broken link: it leads from a path that was missed to the page that was probably meant
 *  (BEYOND 11). */
import { encodePath } from "../base/percent.ts";
import { isNeverServed } from "../base/reserved-paths.ts";
import { LONGEST_PATH } from "../base/statistics.ts";
import { withoutSlash } from "./pattern.ts";

/** Letters that may differ, and at most half of the last part of the path: `/none` does not mean `/docs`. */
const MOST_EDITS = 3;
/** Files that are looked through, so that no question holds a thread for long. */
const MOST_FILES = 20_000;

/** An address of a file of the site. */
interface NearAddress {
  path: string;
  /** Without a slash at its end, by which addresses are compared. */
  compared: string;
}

const lastPart = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

function extensionOf(path: string): string {
  const name = lastPart(path);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot) : "";
}

const IS_HTML = /\.html?$/;

/** `docs/index.html` is `/docs/`, and `about.html` is `/about` too. */
function addressesOf(file: string): NearAddress[] {
  const own = { path: `/${file}`, compared: `/${file}` };
  if (!IS_HTML.test(file)) return [own];
  const short = `/${file.replace(/\.html$/, "")}`;
  if (lastPart(file) !== "index.html") return [own, { path: short, compared: short }];
  const folder = short.slice(0, -"index".length);
  return [own, { path: folder, compared: withoutSlash(folder) }];
}

const isPage = (file: string): boolean =>
  lastPart(file) !== "404.html" &&
  file !== "200.html" &&
  file !== "_redirects" &&
  file !== "_headers" &&
  !isNeverServed(file);

/** Levenshtein's distance; `most + 1` if it is larger than `most`. */
function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1);
      row[j] = Math.min(before[j - 1]! + (same ? 0 : 1), before[j]! + 1, row[j - 1]! + 1);
      if (row[j]! < least) least = row[j]!;
    }
    if (least > most) return most + 1;
    before = row;
  }
  return Math.min(before[b.length]!, most + 1);
}

function nearest(missed: string, addresses: readonly NearAddress[]): string | null {
  const compared = withoutSlash(missed);
  let most = Math.min(MOST_EDITS, lastPart(compared).length >> 1);
  let found: string | null = null;
  for (const one of addresses) {
    const edits = distance(compared, one.compared, most);
    if (edits > most || edits === 0 || (edits === most && found !== null && found <= one.path)) continue;
    [found, most] = [one.path, edits];
  }
  return found;
}

/** A `*` in a path is that character, not a rule's. */
const written = (path: string): string => encodePath(path).replaceAll("*", "%2A");

/** One for each missed path; null where no page is near. The paths are decoded. */
export function linesForMissed(files: readonly string[], missed: readonly string[]): (string | null)[] {
  if (missed.length === 0) return [];
  const addresses = files.filter(isPage).slice(0, MOST_FILES).flatMap(addressesOf);
  const byExtension = Map.groupBy(addresses, ({ compared }) => extensionOf(compared));
  return missed.map((path) => {
    if (!path.startsWith("/") || path.length >= LONGEST_PATH) return null;
    const to = nearest(path, byExtension.get(extensionOf(withoutSlash(path))) ?? []);
    return to === null ? null : `${written(path)} ${written(to)} 301`;
  });
}
