/** The import map of a page: which names its modules may import. */

export interface ImportMap {
  /** Pages with the same map share what was found with it. */
  id: string;
  names(specifier: string): boolean;
  /** The addresses that it maps to, without folders. */
  addresses: readonly string[];
  /** Values that are no addresses: the browser maps them to nothing. */
  invalid: readonly string[];
  broken: boolean;
}

export const NO_MAP: ImportMap = { id: "", names: () => false, addresses: [], invalid: [], broken: false };

const entries = (value: unknown): [string, unknown][] =>
  value && typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : [];

/** `a/` and `a/b/` of `a/b/c`. No real import map goes deeper than this. */
const foldersOf = (specifier: string): string[] => {
  const segments = specifier.split("/", 20);
  return segments.map((_, index) => `${segments.slice(0, index + 1).join("/")}/`);
};

const idOf = (text: string): string => Bun.hash(text).toString(36);

export function readImportMap(text: string): ImportMap {
  let map: { imports?: unknown; scopes?: unknown };
  try {
    map = (JSON.parse(text) ?? {}) as typeof map;
  } catch {
    return { ...NO_MAP, id: idOf(text), broken: true };
  }
  const all = [...entries(map.imports), ...entries(map.scopes).flatMap(([, scope]) => entries(scope))];
  const values = [...new Set(all.map(([, value]) => value).filter((value) => typeof value === "string"))];
  const keys = new Set(all.map(([key]) => key));
  const isAddress = (value: string): boolean => /^(?:\.{0,2}\/|[a-z][a-z\d+.-]*:)/i.test(value);
  return {
    id: idOf(text),
    names: (specifier) => keys.has(specifier) || foldersOf(specifier).some((folder) => keys.has(folder)),
    addresses: values.filter((value) => isAddress(value) && !value.endsWith("/")),
    invalid: values.filter((value) => !isAddress(value)),
    broken: false,
  };
}
