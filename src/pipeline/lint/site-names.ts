/** What this site would answer: the same question as serving asks, of the names alone. */
import { decodePath, encodePath } from "../../percent.ts";
import { resolve } from "../../resolve.ts";
import { fallbackPath } from "../../site-state.ts";
import type { Files, SpaRule } from "../../types.ts";

export interface SiteNames {
  /** The file that answers an encoded path; null: none does, and a visitor sees 404 or 400. `navigates`: by a link or in a
   *  frame, so that the page for unknown paths of a single-page app counts. */
  answer(path: string, navigates: boolean): string | null;
  /** The same in whatever letter case. */
  anyCase(path: string): string | null;
  /** Whether a file or folder anywhere is called so, in whatever case: if not, no other place is worth asking. */
  mayExist(path: string): boolean;
  /** Whether a file lies in this folder. */
  folder(name: string): boolean;
}

/** Answered by the service itself. */
const OURS = /^\/(?:_svc(?:\/|$)|(?:[^/]+\/)*(?:[^/]*\.)?comments\.json$)/;

export function siteNames(files: Files, spa: { enabled: boolean; rule: SpaRule }): SiteNames {
  const names = new Map([...files.keys()].map((path) => [path, path]));
  const lower = new Map([...files.keys()].map((path) => [path.toLowerCase(), path]));
  const folders = new Set<string>();
  const last_names = new Set<string>();
  for (const path of files.keys()) {
    for (
      let at = path.lastIndexOf("/");
      at > 0 && !folders.has(path.slice(0, at));
      at = path.lastIndexOf("/", at - 1)
    ) {
      folders.add(path.slice(0, at));
    }
  }
  const lastName = (path: string): string => /([^/]*)\/?$/.exec(path)![1]!.toLowerCase();
  for (const path of [...files.keys(), ...folders]) last_names.add(lastName(path).replace(/\.html$/, ""));
  const known = new Map<string, string | null>();

  function ask(from: ReadonlyMap<string, string>, path: string, navigates: boolean): string | null {
    try {
      const found = resolve(from, path);
      if (found.kind === "file") return found.file;
      if (found.kind === "redirect") return ask(from, found.location, navigates);
      if (!found.fallback || !navigates || !spa.enabled) return null;
      return fallbackPath(spa.rule, (name) => files.has(name));
    } catch {
      return null; // not a path that can be asked for
    }
  }
  return {
    answer(path, navigates) {
      if (OURS.test(path)) return "";
      const key = navigates ? `>${path}` : path;
      const before = known.get(key);
      if (before !== undefined) return before;
      const found = ask(names, path, navigates);
      known.set(key, found);
      return found;
    },
    anyCase(path) {
      const name = decodePath(path.slice(1));
      return name === null ? null : ask(lower, `/${encodePath(name.toLowerCase())}`, false);
    },
    mayExist: (path) => last_names.has(lastName(path).replace(/\.html$/, "")),
    folder: (name) => folders.has(name),
  };
}
