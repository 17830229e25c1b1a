/** The answer to a request, found by its URL in one search: those for host, row, path and answer cost more than all
 *  other work together. What is found counts only while it still holds: the row by the store's counter, the site's end
 *  by the clock, the host by the header as it was sent. Else the request is answered as if nothing had been found. */
import type { FileAnswer, LoadedVersion, Row, UnmatchedAnswer } from "./kept.ts";
import type { Policy } from "./policy.ts";

export interface Shortcut {
  /** The Host header; the URL alone does not tell `a` from `a, b`. */
  readonly host: string;
  readonly row: Row;
  readonly version: LoadedVersion;
  readonly answer: FileAnswer | UnmatchedAnswer;
  readonly policy: Policy;
}

export interface Shortcuts {
  find(url: string, host: string | null): Shortcut | undefined;
  /** An answer has one shortcut at most, and takes it along when it goes. */
  add(url: string, shortcut: Shortcut): void;
}

export function createShortcuts(): Shortcuts {
  const known = new Map<string, Shortcut>();
  return {
    find(url, host) {
      const found = known.get(url);
      return found !== undefined && found.host === host ? found : undefined;
    },
    add(url, shortcut) {
      const { answer } = shortcut;
      answer.forget?.();
      known.set(url, shortcut);
      answer.forget = () => void known.delete(url);
    },
  };
}
