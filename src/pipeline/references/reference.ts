/** What a page, a stylesheet or a script asks for, before anybody knows whether it is there. */

/** What becomes of the answer. `link`: followed, not loaded. `film`: loaded when it is played. `preview`: what other sites
 *  show of a page. `base` loads nothing, but all others depend on it. */
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
  /** Of a list of which a browser takes the first: what stands before this one. */
  earlier?: readonly string[];
  /** Followed where it is there; where not, nobody misses it. */
  optional?: boolean;
}

/** Longer than any path that a file can have: no use to look at. */
export const LONGEST_URL = 4096;

/** Each once: what is named a thousand times is still one file. */
export function distinctReferences(references: Iterable<Reference>): Reference[] {
  const first = new Map<string, Reference>();
  for (const reference of references) {
    const key = `${reference.use} ${reference.url}`;
    if (!first.has(key)) first.set(key, reference);
  }
  return [...first.values()];
}
