/** The blocks of `_headers`, ready to be asked: what an answer gets by the path and the host that were asked (BEYOND 3). */
import { type Captures, matchPattern, type Pattern, readPattern } from "./pattern.ts";
import type { HeaderBlock } from "./types.ts";

export interface HeaderEdit {
  line: number;
  name: string;
  /** Null: the header is taken away. */
  value: string | null;
}

export interface HeaderTable {
  /** In the order in which they apply: in each block what is taken away first. `path` is decoded; `host` has no port. */
  edits(path: string, host: string): HeaderEdit[];
  /** Of what a process keeps for it, about. */
  bytes: number;
}

/** What reaches one answer. */
const MOST_HEADERS = 32;
const MOST_BYTES = 8 * 1024;

interface Compiled {
  path: Pattern;
  host: Pattern | null;
  /** What is taken away first. */
  edits: HeaderEdit[];
}

export function createHeaderTable(blocks: readonly HeaderBlock[]): HeaderTable {
  const compiled = blocks.flatMap(({ path, host, lines }): Compiled[] => {
    const [asked, on] = [readPattern(path), host === null ? null : readPattern(`/${host}`)];
    if (typeof asked === "string" || typeof on === "string") return [];
    const removals = lines.filter(({ value }) => value === null);
    return [{ path: asked, host: on, edits: [...removals, ...lines.filter(({ value }) => value !== null)] }];
  });
  const lines = blocks.flatMap((block) => block.lines);
  return {
    edits: (path, host) => withinLimits(compiled.flatMap((block) => editsOf(block, path, host))),
    bytes: lines.reduce((sum, { name, value }) => sum + 200 + 2 * (name.length + (value?.length ?? 0)), 0),
  };
}

function editsOf({ path, host, edits }: Compiled, asked: string, on: string): HeaderEdit[] {
  const captures = matchPattern(path, asked);
  const labels = captures === null || host === null ? captures : matchHost(host, on);
  if (captures === null || labels === null) return [];
  const all: Captures = new Map([...labels, ...captures]);
  if (all.size === 0) return edits;
  return edits.map((edit) => ({ ...edit, value: edit.value === null ? null : filled(edit.value, all) }));
}

/** Its names and its `*` hold no dot. */
function matchHost(pattern: Pattern, host: string): Captures | null {
  const captures = matchPattern(pattern, `/${host}`);
  return captures !== null && [...captures.values()].some((value) => value.includes(".")) ? null : captures;
}

/** No control character and no letter beyond ASCII comes of what was asked. */
const filled = (value: string, captures: Captures): string =>
  value.replace(/:([a-z]\w*)/gi, (written, name: string) => {
    const captured = captures.get(name);
    return captured === undefined ? written : encodeURI(captured);
  });

function withinLimits(edits: HeaderEdit[]): HeaderEdit[] {
  let [headers, bytes] = [0, 0];
  return edits.filter(({ name, value }) => {
    if (value === null) return true;
    const size = name.length + value.length + 4;
    if (headers + 1 > MOST_HEADERS || bytes + size > MOST_BYTES) return false;
    [headers, bytes] = [headers + 1, bytes + size];
    return true;
  });
}
