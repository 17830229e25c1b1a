/** The target of a rule: an own path or an https address, with `:splat` and names in path, query and fragment
 *  (BEYOND 2). */
import { brief } from "./lines.ts";
import { type Captures, hasName, type Pattern } from "./pattern.ts";

const NAME = /:([a-z]\w*)/gi;
/** In an address, and of all of it once it is filled: what is longer no client takes. */
const MOST_PLACES = 10;
const MOST_CHARACTERS = 4096;
/** Characters that no URL has unescaped (RFC 3986), and a % that begins no escape. */
const FOREIGN = /%(?![\da-f]{2})|[^\x21\x24-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e#%&]/giu;
const AUTHORITY = /^https:\/\/([^/?#]*)/i;

export const isOwnPath = (to: string): boolean => to.startsWith("/");

interface NoTarget {
  problem: string;
  recipe: string;
}

/** `written` as an address that can be filled. */
export function readTarget(written: string, from: Pattern): string | NoTarget {
  if (placesIn(written, from) > MOST_PLACES) {
    const problem = `${brief(written)} has more than ${MOST_PLACES} places to be filled`;
    return { problem, recipe: `Put in what is needed, ${MOST_PLACES} times at most.` };
  }
  if (written.startsWith("/")) {
    if (!/^\/[/\\]/.test(written)) return encoded(written);
    return {
      problem: `${brief(written)} leads to another host`,
      recipe: "Write https:// before the host, or one slash.",
    };
  }
  const authority = AUTHORITY.exec(written)?.[1];
  if (authority === undefined) {
    const recipe = `Write a path that begins with / or an address that begins with https://.`;
    return { problem: `${brief(written)} is neither a path of this site nor an https address`, recipe };
  }
  if (placesIn(authority, from) > 0) {
    const recipe = "Write the host out: else visitors choose where the rule leads.";
    return { problem: `${brief(written)} has a name in its host`, recipe };
  }
  const host = hostOf(authority);
  return host === null
    ? { problem: `${brief(authority)} is no host`, recipe: "Write https://host/path, with a port where there is one." }
    : encoded(written.slice("https://".length + authority.length), `https://${host}`);
}

const placesIn = (written: string, from: Pattern): number =>
  [...written.matchAll(NAME)].filter(([, name]) => hasName(from, name!)).length;

/** A host with or without a port, as it is sent (an IDN by its A-labels). Null if it is none, or has a user. */
function hostOf(authority: string): string | null {
  const url = URL.parse(`https://${authority}/`);
  const fits = url !== null && !/[@\\]/.test(authority) && url.username === "" && url.pathname === "/";
  return fits ? url.host : null;
}

const encoded = (rest: string, origin = ""): string =>
  origin + (origin !== "" && !rest.startsWith("/") ? "/" : "") + rest.replace(FOREIGN, encodeCharacter);

const encodeCharacter = (character: string): string => encodeURIComponent(character.toWellFormed());

/** Escapes that a path does not need, although `encodeURIComponent` writes them. */
const PATH_SAFE = /%(?:2F|3A|40|2C|3B|3D|24|2B)/g;
const QUOTE = /'/g;

/** The address that a rule leads to; null: it is too long for one. In own paths a run of slashes becomes one. */
export function fillTarget(to: string, captures: Captures): string | null {
  const filled = captures.size === 0 ? to : filledWith(to, captures);
  if (filled === null || filled.length > MOST_CHARACTERS) return null;
  return isOwnPath(filled) ? oneSlash(filled) : filled;
}

/** Null if it is too long before anything is encoded: encoding makes nothing shorter. */
function filledWith(to: string, captures: Captures): string | null {
  const host = AUTHORITY.exec(to)?.[0].length ?? 0;
  const query = to.indexOf("?", host);
  let left = MOST_CHARACTERS;
  const rest = to.slice(host).replace(NAME, (written, name: string, at: number) => {
    const value = captures.get(name);
    left -= value?.length ?? 0;
    if (value === undefined || left < 0) return written;
    const code = encodeURIComponent(value).replace(QUOTE, "%27");
    return query !== -1 && host + at > query ? code : code.replace(PATH_SAFE, decodeURIComponent);
  });
  return left < 0 ? null : to.slice(0, host) + rest;
}

/** In the path alone. */
function oneSlash(target: string): string {
  const end = target.search(/[?#]/);
  const path = end === -1 ? target : target.slice(0, end);
  return path.includes("//") ? path.replace(/\/{2,}/g, "/") + (end === -1 ? "" : target.slice(end)) : target;
}

/** The request's query is added if the target has none. `query` begins with `?` or is empty. */
export function withQuery(target: string, query: string): string {
  const fragment = target.indexOf("#");
  const head = fragment === -1 ? target : target.slice(0, fragment);
  if (query === "" || head.includes("?")) return target;
  return head + query + (fragment === -1 ? "" : target.slice(fragment));
}

/** Without query and fragment. */
export const pathOfTarget = (target: string): string => target.replace(/[?#][^]*$/, "");
