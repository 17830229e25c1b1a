/** Shortcuts find the answer to a request by its URL in one search: separate searches for host, row, path and answer cost
 *  more than all other work together. A shortcut counts only while it is still true: the store's counter checks the row, the
 *  clock checks the site's end, the Host header checks the host. Otherwise the request takes the long way.
 *  With ten thousand sites nothing is in the processor's cache, and each object that a request touches costs as much as a
 *  search. So a shortcut has everything in itself that a request needs to know of the site. */
import type { CountedSite } from "../http/exchange.ts";
import type { HostTraffic } from "../run/bulletin.ts";
import type { FileAnswer, UnmatchedAnswer } from "./cache.ts";
import type { Policy } from "./policy.ts";

export interface Shortcut {
  readonly slug: string;
  /** The counter under which the row was read. */
  readonly generation: number;
  /** The time when the site expires. */
  readonly end: number;
  readonly answer: FileAnswer | UnmatchedAnswer;
  readonly policy: Policy;
  /** The bytes that its host was answered with. */
  readonly traffic: HostTraffic;
  /** Null if the answer is no page, or its visits are not counted. */
  readonly counted: CountedSite | null;
  /** Browsers are told to insist on https there. */
  readonly insists: boolean;
}

export interface Shortcuts {
  find(url: string, host: string | null): Shortcut | undefined;
  /** An answer has one shortcut at most, which leaves the cache with it. */
  add(url: string, shortcut: Omit<Shortcut, "traffic">): void;
  /** Removes the shortcut to an answer that leaves the cache. */
  forget(answer: Shortcut["answer"]): void;
}

const SLASH = 47;

/** True if the URL begins with the Host header. Of a header `a, b` the URL has only `a`. */
function isHostOf(url: string, host: string): boolean {
  const at = url.indexOf("://") + 3;
  return url.startsWith(host, at) && url.charCodeAt(at + host.length) === SLASH;
}

const hostOf = (url: string): string => {
  const at = url.indexOf("://") + 3;
  return url.slice(at, url.indexOf("/", at));
};

export function createShortcuts(trafficOf: (host: string) => HostTraffic): Shortcuts {
  const known = new Map<string, Shortcut>();
  function forget(answer: Shortcut["answer"]): void {
    const url = answer.shortcut;
    if (url !== null && known.get(url)?.answer === answer) known.delete(url);
    answer.shortcut = null;
  }
  return {
    find: (url, host) => (host !== null && isHostOf(url, host) ? known.get(url) : undefined),
    add(url, shortcut) {
      forget(shortcut.answer);
      known.set(url, { ...shortcut, traffic: trafficOf(hostOf(url)) });
      shortcut.answer.shortcut = url;
    },
    forget,
  };
}
