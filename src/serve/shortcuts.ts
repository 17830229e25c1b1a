/** The answer to a request, found by its URL in one search: those for host, row, path and answer cost more than all
 *  other work together. What is found counts only while it still holds: the row by the store's counter, the site's end
 *  by the clock, the host by the header as it was sent. Else the request is answered as if nothing had been found.
 *  Of ten thousand sites nothing is in the processor's cache, and each object that a request touches costs as much as a
 *  search: so all that is asked of the site stands here. */
import type { FileAnswer, UnmatchedAnswer } from "./kept.ts";
import type { Policy } from "./policy.ts";

export interface Shortcut {
  readonly slug: string;
  /** Of the row. */
  readonly generation: number;
  /** When the site expires. */
  readonly end: number;
  readonly answer: FileAnswer | UnmatchedAnswer;
  readonly policy: Policy;
}

export interface Shortcuts {
  find(url: string, host: string | null): Shortcut | undefined;
  /** An answer has one shortcut at most, and takes it along when it goes. */
  add(url: string, shortcut: Shortcut): void;
  /** The one that leads to an answer which goes. */
  forget(answer: Shortcut["answer"]): void;
}

const SLASH = 47;

/** Whether the Host header is what the URL begins with: of `a, b` the URL has `a` alone. */
function isHostOf(url: string, host: string): boolean {
  const at = url.indexOf("://") + 3;
  return url.startsWith(host, at) && url.charCodeAt(at + host.length) === SLASH;
}

export function createShortcuts(): Shortcuts {
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
      known.set(url, shortcut);
      shortcut.answer.shortcut = url;
    },
    forget,
  };
}
