/** The references of a page, a stylesheet or a script, before it is known whether their files exist. */

/** The use of the answer. `link`: followed, not loaded. `film`: loaded when it is played. `preview`: shown by other
 *  sites that link to a page. `base` loads nothing, but all others depend on it. */
export type Use =
  | "link"
  | "base"
  | "frame"
  | "script"
  | "module"
  | "worker"
  | "style"
  | "font"
  | "image"
  | "film"
  | "web_manifest"
  | "preview"
  | "data";

export interface Reference {
  /** As written, without the quoting of its language. */
  url: string;
  use: Use;
  /** The earlier addresses of a list from which a browser takes the first it can use. */
  earlier?: readonly string[];
  /** A script joins more to it: missing where nothing of the site begins so. */
  begins?: true;
  /** Followed if it exists; if not, no visitor misses it. */
  optional?: boolean;
  /** In a stylesheet: the selectors of the rules that ask for it. Absent: whatever the page holds, it is asked for. */
  selectors?: readonly string[];
  /** For a font: the beginning of the rule that declares it. */
  face?: string;
}

/** Longer than any path that a file can have: no use to look at. */
export const LONGEST_URL = 4096;

/** With more rules than these, it is not asked whether all of them are unused. */
const MOST_SELECTORS = 16;

const alsoFor = (known: readonly string[], more: readonly string[] | undefined): readonly string[] | undefined =>
  more && known.length + more.length <= MOST_SELECTORS ? [...known, ...more] : undefined;

/** Each once: what is named a thousand times is still one file. */
export function distinctReferences(references: Iterable<Reference>): Reference[] {
  const first = new Map<string, Reference>();
  for (const reference of references) {
    const key = `${reference.use} ${reference.begins ?? false} ${reference.url}`;
    const known = first.get(key);
    if (!known) first.set(key, reference);
    else if (known.selectors) known.selectors = alsoFor(known.selectors, reference.selectors);
  }
  return [...first.values()];
}
