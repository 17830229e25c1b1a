/** How long, how many, how tangled: measures of the source that need no idea of what it does. */
import { exportsOf, folderOf, importsOf, type Sources } from "./source.ts";

export const MOST_LINES = 400;
export const MOST_LINES_OF_A_FUNCTION = 60;
export const MOST_FILES = 30;
/** A room inside a room of src has at least as many files, or it joins the room around it. */
export const FEWEST_FILES = 5;

const linesOf = (text: string): number => text.split("\n").length - 1;

export const longFiles = (all: Sources): string[] =>
  [...all].filter(([, text]) => linesOf(text) > MOST_LINES).map(([path, text]) => `${path}: ${linesOf(text)} lines`);

export function fullFolders(paths: Iterable<string>): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(folderOf(path), (counts.get(folderOf(path)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > MOST_FILES).map(([folder, count]) => `${folder}: ${count} files`);
}

/** Rooms inside a room of src (`src/store/notes`) with too few files; pictures and stylesheets are files too. */
export function emptyRooms(paths: Iterable<string>): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(folderOf(path), (counts.get(folderOf(path)) ?? 0) + 1);
  return [...counts]
    .filter(([folder, count]) => folder.split("/").length > 2 && count < FEWEST_FILES)
    .map(([folder, count]) => `${folder}: ${count} files`);
}

const indentOf = (line: string): number => line.length - line.trimStart().length;
/** Opens a function's body, as `bun fmt` lays it out: `function f() {`, `method() {`, `): T {`, `=> {`. */
const BODY =
  /(?:^|[\s(=,:])(?:async )?function\b.*\{$|=> \{$|^\s*(?:(?:async|static|get|set|private|protected|public|override) )*\*?[\w#[\].]+(?:<.*>)?\(.*\)(?:: .+)? \{$|^\s*\)(?:: .+)? \{$/;
/** An arrow whose body is one expression over several lines. */
const EXPRESSION = /=>$|=> ?[({[`]+$|=> (?!.* = )[^;]*[([{`]$/; // not the type of a table: `() => void> = {`
const STATEMENT = /^\s*(?:\} )?(?:if|for|while|switch|catch|else|try|do|with|class|interface|return class)\b/;

/** The line on which the function whose body opens at `at` begins: its parameters may stand on lines of their own. */
function beginning(lines: readonly string[], at: number): number {
  if (!/^\s*\)/.test(lines[at]!)) return at;
  const indent = indentOf(lines[at]!);
  for (let line = at - 1; line >= 0; line--) if (lines[line]!.trim() && indentOf(lines[line]!) <= indent) return line;
  return at;
}

/** The last line that belongs to what opens at `at`: the next one that is indented no deeper, where that closes it. */
function ending(lines: readonly string[], at: number): number {
  const indent = indentOf(lines[at]!);
  for (let line = at + 1; line < lines.length; line++) {
    if (!lines[line]!.trim() || indentOf(lines[line]!) > indent) continue;
    return /^\s*[)}\]`]/.test(lines[line]!) ? line : line - 1;
  }
  return lines.length - 1;
}

export interface Measured {
  line: number;
  lines: number;
}

/** Every function of a file that `bun fmt` has laid out, with its parameters and what stands inside it. */
export function functionsOf(text: string): Measured[] {
  const lines = text.split("\n");
  return lines.flatMap((line, at) => {
    if (STATEMENT.test(line) || !(BODY.test(line) || EXPRESSION.test(line))) return [];
    const first = beginning(lines, at);
    return STATEMENT.test(lines[first]!) ? [] : [{ line: first + 1, lines: ending(lines, at) - first + 1 }];
  });
}

export const longFunctions = (all: Sources): string[] =>
  [...all].flatMap(([path, text]) =>
    functionsOf(text)
      .filter(({ lines }) => lines > MOST_LINES_OF_A_FUNCTION)
      .map(({ line, lines }) => `${path}:${line}: ${lines} lines`),
  );

/** Files that reach themselves by their imports, of types too, each with the shortest way. */
export function circles(all: Sources): string[] {
  const edges = new Map([...all].map(([path, text]) => [path, importsOf(path, text).map(({ name }) => name)] as const));
  return [...all.keys()].flatMap((start) => wayBack(start, edges) ?? []);
}

function wayBack(start: string, edges: ReadonlyMap<string, readonly string[]>): string | null {
  const before = new Map<string, string>();
  const queue = [start];
  for (const path of queue) {
    for (const next of edges.get(path) ?? []) {
      if (next === start) return [...steps(path, before), start].join(" → ");
      if (before.has(next)) continue;
      before.set(next, path);
      queue.push(next);
    }
  }
  return null;
}

function steps(path: string, before: ReadonlyMap<string, string>): string[] {
  const earlier = before.get(path);
  return earlier === undefined ? [path] : [...steps(earlier, before), path];
}

/** Exports of `all` that neither they nor `others` import. `entries` are read from outside: by a bundler or a person. */
export function unusedExports(all: Sources, others: Sources, entries: ReadonlySet<string>): string[] {
  const taken = new Map<string, Set<string>>();
  for (const [path, text] of [...all, ...others]) {
    for (const { name, names } of importsOf(path, text)) {
      const set = taken.get(name) ?? new Set();
      names.forEach((one) => set.add(one));
      taken.set(name, set);
    }
  }
  const isTaken = (path: string, name: string) => taken.get(path)?.has(name) || taken.get(path)?.has("*");
  return [...all]
    .filter(([path]) => !entries.has(path))
    .flatMap(([path, text]) =>
      exportsOf(text)
        .filter((name) => !isTaken(path, name))
        .map((name) => `${path}: ${name}`),
    );
}
