/** The product's source as the fence reads it: which files there are, and what each imports and exports. Texts come in,
 *  so that a made-up file can be judged like a real one. */
import { dirname, join, posix } from "node:path";

export const ROOT = join(import.meta.dir, "..", "..", "..");
const SKIPPED = /(^|\/)(node_modules|dist|svc-data|\.git)\//;

export const glob = async (pattern: string): Promise<string[]> =>
  (await Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: ROOT, dot: true })))
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !SKIPPED.test(path))
    .toSorted();

export const read = (path: string): Promise<string> => Bun.file(join(ROOT, path)).text();

/** Path → text. */
export type Sources = ReadonlyMap<string, string>;

export async function sources(...patterns: string[]): Promise<Sources> {
  const paths = (await Promise.all(patterns.map(glob))).flat();
  return new Map(await Promise.all(paths.map(async (path) => [path, await read(path)] as const)));
}

/** The product: the doors and what stands behind them. */
export const PRODUCT = ["src/**/*.ts", "server.ts", "cli.ts", "lib.ts"];

export interface Import {
  /** A path from the root for a file of ours, else the name as it is written. */
  name: string;
  /** Nothing of it is there at run time. */
  type_only: boolean;
  /** Loaded when it is asked for, or the entry of a thread or a process: a reason to be a file of its own. */
  lazy: boolean;
  /** The names that are taken; `*` means all. A thread, or an import for its effect alone, takes none. */
  names: readonly string[];
}

// Imports stand at the beginning of a line, as `bun fmt` puts them.
const STATEMENT = /^(import|export)\s+(type\s)?([^;"'`=]*?)\s*from\s+"([^"]+)"/gm;
const EFFECT = /^import\s+"([^"]+)"/gm;
const DYNAMIC = /\bimport\(\s*"([^"]+)"/g;
/** Code that is loaded when it is wanted is taken by name: `import("…").then(({ name }) => …)`, or
 *  `const { name } = await import("…")`. */
const LOADED = /\bimport\(\s*"([^"]+)"\s*\)\s*\.then\(\(\{([^}]*)\}\)/g;
const AWAITED = /\{([^{}]*)\}\s*=\s*await import\(\s*"([^"]+)"\s*\)/g;
const BESIDE = /new URL\(\s*"(\.{1,2}\/[^"]+\.ts)"/g;
const FROM_ROOT = /"\.\/(src\/[^"]+\.ts)"/g;

const resolve = (path: string, name: string): string =>
  name.startsWith(".") ? posix.join(posix.dirname(path), name) : name;

function namesOf(clause: string): { names: string[]; type_only: boolean } {
  const [, before = "", list] = /^([^{]*)(?:\{([^}]*)\})?/.exec(clause)!;
  const listed = (list ?? "").split(",").flatMap((one) => one.trim() || []);
  const plain = before.replaceAll(",", " ").trim();
  const whole = plain.startsWith("*") ? ["*"] : plain === "" ? [] : ["default"];
  const names = listed.map((one) => one.replace(/^type\s+/, "").split(/\s+as\s+/)[0]!);
  return { names: [...whole, ...names], type_only: whole.length === 0 && listed.every((one) => /^type\s/.test(one)) };
}

/** What the transpiler finds, also where a line is not laid out as `bun fmt` does it; it knows no types. */
const scan = (text: string): string[] =>
  new Bun.Transpiler({ loader: "ts" }).scanImports(text.replace(/^#!.*/, "")).map(({ path }) => path);

/** All that a file names of others: imports of values and of types, re-exports, threads and spawned entries. */
export function importsOf(path: string, text: string): Import[] {
  const statements = [...text.matchAll(STATEMENT)].map(([, , type, clause, name]): Import => {
    const { names, type_only } = namesOf(clause!);
    return { name: resolve(path, name!), names, type_only: type !== undefined || type_only, lazy: false };
  });
  const taken = [
    ...[...text.matchAll(LOADED)].map(([, name, list]) => [name, list]),
    ...[...text.matchAll(AWAITED)].map(([, list, name]) => [name, list]),
  ];
  const loaded = taken.map(([name, list]): Import => {
    return { name: resolve(path, name!), ...namesOf(`{${list}}`), type_only: false, lazy: true };
  });
  const plain = [EFFECT, DYNAMIC, BESIDE].flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1]!));
  const threads = [...text.matchAll(FROM_ROOT)].map((match) => match[1]!);
  const told = new Set([...statements.map(({ name }) => name), ...plain.map((name) => resolve(path, name))]);
  const scanned = scan(text).map((name) => resolve(path, name));
  const others = [...told, ...threads, ...scanned.filter((name) => !told.has(name))].filter(
    (name) => ![...statements, ...loaded].some((statement) => statement.name === name),
  );
  return [
    ...statements,
    ...loaded,
    ...others.map((name): Import => ({ name, names: [], type_only: false, lazy: true })),
  ];
}

// `export const { a, b } = …` is not written here; `export default` is for what a tool asks for by that name.
const EXPORTED =
  /^export\s+(?:declare\s+)?(?:async\s+)?(?:abstract\s+)?(?:function\*?|const|let|class|interface|type|enum)\s+(\w+)/gm;
const LISTED = /^export\s+(?:type\s+)?\{([^}]*)\}/gm;

export const exportsOf = (text: string): string[] => [
  ...[...text.matchAll(EXPORTED)].map((match) => match[1]!),
  ...[...text.matchAll(LISTED)].flatMap(([, list]) =>
    list!.split(",").flatMap(
      (one) =>
        one
          .trim()
          .replace(/^type\s+/, "")
          .split(/\s+as\s+/)
          .at(-1) || [],
    ),
  ),
];

const NO_CODE = /\/\*[^]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;

/** The code without its comments and strings, line by line as it was: a transpiler would take the types along. */
export const codeOf = (text: string): string =>
  text.replace(NO_CODE, (found) => (found.startsWith("/") ? found.replace(/[^\n]/g, " ") : '""'));

/** `src/store/notes/view.ts` → `src/store/notes`. */
export const folderOf = (path: string): string => dirname(path);
