/** The house in figures: how many files, folders, functions and exports there are, and how far an idea is spread. */
import { functionsOf } from "./shape.ts";
import { exportsOf, folderOf, importsOf, type Sources } from "./source.ts";

export interface Figures {
  files: number;
  folders: number;
  lines: number;
  /** Lines of a file. */
  file_median: number;
  file_p90: number;
  file_max: number;
  /** Lines of a function with a body of its own lines; `bun fmt` lays them out. */
  function_median: number;
  function_p90: number;
  function_max: number;
  /** Functions with a name at the top of a file, per 1,000 lines. */
  named_functions_per_1000_lines: number;
  most_files_in_a_folder: number;
  exports_per_1000_lines: number;
  exports_used_by_one_file_per_1000_lines: number;
  /** Files that one other file imports, which is in the same folder: paragraphs with a file name. */
  files_whose_only_importer_is_beside_them: number;
  type_names_in_three_files: number;
  /** Comments whose first word hides the subject (STYLE 11). */
  comments_that_begin_like_riddles: number;
}

const NAMED =
  /^(?:export )?(?:default )?(?:(?:async )?function\*? \w+|const \w+(?:: [^=]+)? = (?:async )?(?:<[^>]*>)?(?:\([^)]*\)?.*=>|\($|\w+ =>))/gm;
const TYPE = /^(?:export )?(?:interface|type) (\w+)/gm;

const RIDDLE = /^ *(?:\/\*\*|\/\/) (?:Of|What|Who|Whoever|Whom|Whose|Where|None|Nobody) .*/gm;

const linesOf = (text: string): number => text.split("\n").length - 1;

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
}

/** Adds `member` to the set under `key`. */
function put(sets: Map<string, Set<string>>, key: string, member: string): void {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set.add(member));
}

/** Path → the files that import it, and `path#name` → the files that take this name. */
function importersOf(all: Sources): { files: Map<string, Set<string>>; names: Map<string, Set<string>> } {
  const files = new Map<string, Set<string>>();
  const names = new Map<string, Set<string>>();
  for (const [path, text] of all) {
    for (const one of importsOf(path, text)) {
      put(files, one.name, path);
      for (const name of one.names) put(names, `${one.name}#${name}`, path);
    }
  }
  return { files, names };
}

/** Files that one other file imports, which is in the same folder. A file that is loaded when it is asked for is not one. */
export function loneFiles(all: Sources): string[] {
  const { files } = importersOf(all);
  const lazy = new Set(
    [...all].flatMap(([path, text]) => importsOf(path, text).flatMap((one) => (one.lazy ? one.name : []))),
  );
  return [...all.keys()].filter((path) => {
    if (lazy.has(path)) return false;
    const [first, ...others] = files.get(path) ?? [];
    return first !== undefined && others.length === 0 && folderOf(first) === folderOf(path);
  });
}

/** Names of types that three files or more declare, each with the number of files. */
export function sharedTypeNames(all: Sources): string[] {
  const declared = new Map<string, Set<string>>();
  for (const [path, text] of all) for (const [, name] of text.matchAll(TYPE)) put(declared, name!, path);
  return [...declared].filter(([, paths]) => paths.size >= 3).map(([name, paths]) => `${name}: ${paths.size} files`);
}

/** Comments that begin with Of, What, Who, Whoever, Where, None or Nobody (STYLE 11), each with its file. */
export const riddles = (all: Sources): string[] =>
  [...all].flatMap(([path, text]) => [...text.matchAll(RIDDLE)].map(([comment]) => `${path}: ${comment.trim()}`));

/** `paths` are all files of the product, pictures and stylesheets too. */
export function figuresOf(all: Sources, paths: Iterable<string>): Figures {
  const lengths = [...all.values()].map(linesOf);
  const lines = lengths.reduce((sum, length) => sum + length, 0);
  const functions = [...all.values()].flatMap((text) => functionsOf(text).map((one) => one.lines));
  const named = [...all.values()].reduce((sum, text) => sum + [...text.matchAll(NAMED)].length, 0);
  const exported = [...all.values()].reduce((sum, text) => sum + exportsOf(text).length, 0);
  const inside = [...paths].filter((path) => path.startsWith("src/"));
  const folders = Map.groupBy(inside, folderOf);
  const per1000 = (count: number): number => Math.round((count / lines) * 10_000) / 10;
  return {
    files: all.size,
    folders: folders.size,
    lines,
    file_median: quantile(lengths, 0.5),
    file_p90: quantile(lengths, 0.9),
    file_max: quantile(lengths, 1),
    function_median: quantile(functions, 0.5),
    function_p90: quantile(functions, 0.9),
    function_max: quantile(functions, 1),
    named_functions_per_1000_lines: per1000(named),
    most_files_in_a_folder: Math.max(0, ...[...folders.values()].map((files) => files.length)),
    exports_per_1000_lines: per1000(exported),
    exports_used_by_one_file_per_1000_lines: per1000(
      [...importersOf(all).names.values()].filter((files) => files.size === 1).length,
    ),
    files_whose_only_importer_is_beside_them: loneFiles(all).length,
    type_names_in_three_files: sharedTypeNames(all).length,
    comments_that_begin_like_riddles: riddles(all).length,
  };
}
