/** The answers of this site: the same question as serving asks, from the names alone. */
import { decodePath, encodePath } from "../../base/percent.ts";
import { isService } from "../../base/reserved-paths.ts";
import { answer, type Asked } from "../../rules/answer.ts";
import { tableOf } from "../../rules/index.ts";
import { REDIRECTS, type Redirects } from "../../rules/redirects.ts";
import { fallbackPath } from "../../base/site-state.ts";
import type { Files, SpaRule } from "../../base/types.ts";
import type { Budget } from "../budget.ts";

export interface SiteNames {
  /** The file that answers an encoded path; null: none does. `navigates`: by a link or in a frame, so that the page for
   *  unknown paths of a single-page app counts. */
  answer(path: string, navigates: boolean): string | null;
  /** The same, and counts the path among those that this file names, once while no other file asks for it: each file is read in
   *  one go, and a set of all pairs took a sixth of the lint's time. */
  answerTo(file: string, path: string, navigates: boolean): string | null;
  /** How many were counted so. */
  readonly named: number;
  /** The same in whatever letter case. */
  anyCase(path: string): string | null;
  /** Whether a file or folder anywhere is called so, in whatever case: if not, no other place is worth asking. */
  mayExist(path: string): boolean;
  /** Whether something may answer what begins with this encoded path. */
  begins(path: string): boolean;
  /** Whether a file is in this folder. */
  folder(name: string): boolean;
  /** Whether the path is one of the service's own, which count as there. */
  service(path: string): boolean;
}

function foldersOf(paths: Iterable<string>): Set<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const folder = path.slice(0, at);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}

/** The name of a file or a folder, in lower case and without `.html`. */
function lastName(path: string): string {
  const name = path.endsWith("/") ? path.slice(0, -1) : path;
  return name
    .slice(name.lastIndexOf("/") + 1)
    .toLowerCase()
    .replace(/\.html$/, "");
}

/** `fallback`: the file for unknown paths, null if there is none. If a rule leads a path on, the file with the rules
 *  answers it; the rule's target is not asked. */
function answerOf(
  files: ReadonlyMap<string, string>,
  path: string,
  asked: Asked,
  fallback: string | null,
): string | null {
  try {
    const { answered: found } = answer(files, path, asked);
    if (found.kind === "file") return found.file;
    if (found.kind === "redirect") return answerOf(files, found.location, asked, fallback);
    if (found.kind === "moved") return REDIRECTS;
    if (found.kind === "missing") return null;
    return found.fallback && asked.navigates ? fallback : null;
  } catch {
    return null; // not a path that can be asked for
  }
}

/** Whether one of the sorted names begins so. */
function beginsOne(sorted: readonly string[], beginning: string): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < beginning) low = middle + 1;
    else high = middle;
  }
  return sorted[low]?.startsWith(beginning) ?? false;
}

/** The fixed beginning of each rule, up to its first open part. A rule for every path has none, so it is asked. */
const fixedParts = ({ rules }: Redirects): string[] =>
  rules.map(({ rule }) => /^[^*:]*/.exec(rule.from)![0]).filter((fixed) => fixed !== "/");

/** An address that was asked for: the files that answer it, undefined until that is known, and who asked last. */
interface AskedPath {
  answer: string | null | undefined;
  navigated: string | null | undefined;
  by: string | null;
}

const NO_RULES: Asked = { rules: null, owned: true, navigates: false };

export function siteNames(
  files: Files,
  spa: { enabled: boolean; rule: SpaRule },
  redirects: Redirects,
  budget: Budget,
): SiteNames {
  const names = new Map([...files.keys()].map((path) => [path, path]));
  const lower = new Map([...files.keys()].map((path) => [path.toLowerCase(), path]));
  const folders = foldersOf(files.keys());
  const last_names = new Set([...files.keys(), ...folders].map(lastName));
  const fallback = spa.enabled ? fallbackPath(spa.rule, (name) => files.has(name)) : null;
  const known = new Map<string, AskedPath>();
  let named = 0;
  // As its owner has it: rules that lead elsewhere count.
  const rules = tableOf(redirects);
  const sorted = [...files.keys()].toSorted();
  const ruled = fixedParts(redirects);
  function pathOf(path: string): AskedPath {
    budget.step(); // whatever takes long asks here again and again
    const found = known.get(path);
    if (found !== undefined) return found;
    const asked: AskedPath = { answer: undefined, navigated: undefined, by: null };
    known.set(path, asked);
    return asked;
  }
  function answerIn(asked: AskedPath, path: string, navigates: boolean): string | null {
    const which = navigates ? "navigated" : "answer";
    const found = asked[which];
    if (found !== undefined) return found;
    return (asked[which] = answerOf(names, path, { rules, owned: true, navigates }, fallback));
  }
  const answer = (path: string, navigates: boolean): string | null => answerIn(pathOf(path), path, navigates);
  return {
    answer,
    answerTo(file, path, navigates) {
      const asked = pathOf(path);
      if (asked.by !== file) named++;
      asked.by = file;
      return answerIn(asked, path, navigates);
    },
    get named() {
      return named;
    },
    begins(path) {
      budget.step();
      const name = decodePath(path);
      if (name === null || isService(name.slice(1)) || beginsOne(sorted, name.slice(1))) return true;
      const may_be_ruled = ruled.some((fixed) => fixed.startsWith(name) || name.startsWith(fixed));
      return may_be_ruled || answer(`${path}x`, false) !== null;
    },
    anyCase(path) {
      budget.step();
      const name = decodePath(path);
      return name === null ? null : answerOf(lower, encodePath(name.toLowerCase()), NO_RULES, null);
    },
    mayExist: (path) => last_names.has(lastName(path)),
    folder: (name) => folders.has(name),
    service: (path) => isService(decodePath(path)?.slice(1) ?? ""),
  };
}
