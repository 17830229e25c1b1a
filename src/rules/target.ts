/** Where a rule leads: an own path or an https address, with `:splat` and names in path, query and fragment (BEYOND 2). */
import { brief } from "./lines.ts";
import { type Captures, hasName, type Pattern } from "./pattern.ts";

const NAME = /:([a-z]\w*)/gi;
/** What is in no URL as it is (RFC 3986), and a % that begins no encoding. */
const FOREIGN = /%(?![\da-f]{2})|[^\x21\x24-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e#%&]/giu;
const AUTHORITY = /^https:\/\/([^/?#]*)/i;

export const isOwnPath = (to: string): boolean => to.startsWith("/");

/** `written` as an address that can be filled; an object: what is wrong with it, and what to write. */
export function readTarget(written: string, from: Pattern): string | { problem: string; recipe: string } {
  if (written.startsWith("/")) {
    if (/^\/[/\\]/.test(written)) {
      return {
        problem: `${brief(written)} leads to another host`,
        recipe: "Write https:// before the host, or one slash.",
      };
    }
    return encoded(written);
  }
  const authority = AUTHORITY.exec(written)?.[1];
  if (authority === undefined) {
    const recipe = "Write a path that begins with / or an address that begins with https://.";
    return { problem: `${brief(written)} is neither a path of this site nor an https address`, recipe };
  }
  if ([...authority.matchAll(NAME)].some(([, name]) => hasName(from, name!))) {
    const recipe = "Write the host out: else visitors choose where the rule leads.";
    return { problem: `${brief(written)} has a name in its host`, recipe };
  }
  return isHost(authority)
    ? encoded(written.slice("https://".length + authority.length), `https://${authority.toLowerCase()}`)
    : { problem: `${brief(authority)} is no host`, recipe: "Write https://host/path, with a port where there is one." };
}

/** A host with or without a port; no user name. */
function isHost(authority: string): boolean {
  const url = URL.parse(`https://${authority}/`);
  return url !== null && !/[@\\]/.test(authority) && url.username === "" && url.pathname === "/";
}

const encoded = (rest: string, origin = ""): string =>
  origin + (origin !== "" && !rest.startsWith("/") ? "/" : "") + rest.replace(FOREIGN, encodeCharacter);

const encodeCharacter = (character: string): string => encodeURIComponent(character.toWellFormed());

/** What may stand in a path as it is, beyond what `encodeURIComponent` leaves. */
const PATH_SAFE = /%(?:2F|3A|40|2C|3B|3D|24|2B)/g;
const QUOTE = /'/g;

/** The address that a rule leads to. In own paths a run of slashes becomes one. */
export function fillTarget(to: string, captures: Captures): string {
  const filled = captures.size === 0 ? to : filledWith(to, captures);
  return isOwnPath(filled) ? oneSlash(filled) : filled;
}

function filledWith(to: string, captures: Captures): string {
  const host = AUTHORITY.exec(to)?.[0].length ?? 0;
  const query = to.indexOf("?", host);
  return (
    to.slice(0, host) +
    to.slice(host).replace(NAME, (written, name: string, at: number) => {
      const value = captures.get(name);
      if (value === undefined) return written;
      const code = encodeURIComponent(value).replace(QUOTE, "%27");
      return query !== -1 && host + at > query ? code : code.replace(PATH_SAFE, decodeURIComponent);
    })
  );
}

/** In the path alone. */
function oneSlash(target: string): string {
  const end = target.search(/[?#]/);
  const path = end === -1 ? target : target.slice(0, end);
  return path.includes("//") ? path.replace(/\/{2,}/g, "/") + (end === -1 ? "" : target.slice(end)) : target;
}

/** The request's query goes along where the target has none. `query` begins with `?` or is empty. */
export function withQuery(target: string, query: string): string {
  const fragment = target.indexOf("#");
  const head = fragment === -1 ? target : target.slice(0, fragment);
  if (query === "" || head.includes("?")) return target;
  return head + query + (fragment === -1 ? "" : target.slice(fragment));
}

/** Without query and fragment. */
export const pathOfTarget = (target: string): string => target.replace(/[?#][^]*$/, "");
