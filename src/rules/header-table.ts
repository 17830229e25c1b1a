/** The blocks of `_headers`, ready to be asked: what an answer gets by the path and the host that were asked (BEYOND 3). */
import { type Captures, isPattern, isTried, matchPattern, type Pattern, readPattern } from "./pattern.ts";
import type { HeaderBlock } from "./lines.ts";

export interface HeaderEdit {
  line: number;
  name: string;
  /** Null: the header is taken away. */
  value: string | null;
}

/** A line that reaches an answer, or would but for a bound. */
export interface Reached {
  /** As it was written where it does not reach it. */
  edit: HeaderEdit;
  /** `path`: the path is too long to be searched for the block's. `lines`: too many lines above it had no room. */
  over: "path" | "headers" | "bytes" | "lines" | null;
}

export interface HeaderTable {
  /** In the order in which they apply: in each block what is taken away first. `path` is decoded; `host` has no port. */
  edits(path: string, host: string): HeaderEdit[];
  /** The same, with the lines that are past what one answer may have. */
  reached(path: string, host: string): Iterable<Reached>;
  /** Whether a block is for some hosts alone. */
  by_host: boolean;
  /** About the memory that a process keeps for it. */
  bytes: number;
}

/** The most headers that reach one answer. */
const MOST_HEADERS = 32;
const MOST_BYTES = 8 * 1024;
/** The most lines that are filled for nothing, because they have no room in the bytes. */
const MOST_LEFT_OUT = 100;

interface Compiled {
  path: Pattern;
  host: Pattern | null;
  /** Edits, removals first. */
  edits: HeaderEdit[];
}

export function createHeaderTable(blocks: readonly HeaderBlock[]): HeaderTable {
  const compiled = blocks.flatMap(({ path, host, lines }): Compiled[] => {
    const [asked, on] = [readPattern(path), host === null ? null : readPattern(`/${host}`)];
    if (!isPattern(asked) || (on !== null && !isPattern(on))) return [];
    const removals = lines.filter(({ value }) => value === null).slice(0, MOST_HEADERS);
    return [{ path: asked, host: on, edits: [...removals, ...lines.filter(({ value }) => value !== null)] }];
  });
  const lines = blocks.flatMap((block) => block.lines);
  return {
    edits: (path, host) =>
      editsOf(
        compiled.filter((block) => isTried(block.path, path)),
        path,
        host,
      ),
    reached: (path, host) => reachedBy(compiled, path, host),
    by_host: blocks.some(({ host }) => host !== null),
    bytes:
      lines.reduce((sum, { name, value }) => sum + 200 + 2 * (name.length + (value?.length ?? 0)), 0) +
      blocks.reduce((sum, { path, host }) => sum + 8 * (path.length + (host?.length ?? 0)), 0),
  };
}

/** Up to what one answer may have: nothing behind its last header is even looked at. */
function editsOf(blocks: readonly Compiled[], path: string, host: string): HeaderEdit[] {
  const edits: HeaderEdit[] = [];
  for (const { edit, over } of reachedBy(blocks, path, host)) {
    if (over === "headers" || over === "lines") return edits;
    if (over === null) edits.push(edit);
  }
  return edits;
}

function* reachedBy(blocks: readonly Compiled[], path: string, host: string): Iterable<Reached> {
  let [headers, bytes, left_out] = [0, 0, 0];
  let full: "headers" | "lines" | null = null;
  for (const block of blocks) {
    if (!isTried(block.path, path)) for (const edit of block.edits) yield { edit, over: "path" };
    const captures = capturesOf(block, path, host);
    if (captures === null) continue;
    const encoded = new Map<string, string>();
    for (const edit of block.edits) {
      if (edit.value !== null && headers === MOST_HEADERS) full = "headers";
      if (edit.value !== null && left_out === MOST_LEFT_OUT) full ??= "lines";
      const value = edit.value === null || full ? null : filled(edit.value, captures, encoded, MOST_BYTES - bytes);
      if (full) yield { edit, over: full };
      else if (edit.value === null) yield { edit, over: null };
      else if (value === null) {
        left_out++;
        yield { edit, over: "bytes" };
      } else {
        yield { edit: { ...edit, value }, over: null };
        [headers, bytes] = [headers + 1, bytes + edit.name.length + value.length + 4];
      }
    }
  }
}

function capturesOf({ path, host }: Compiled, asked: string, on: string): Captures | null {
  const captures = matchPattern(path, asked);
  if (captures === null || host === null) return captures;
  const labels = matchHost(host, on);
  return labels === null ? null : new Map([...labels, ...captures]);
}

/** Its names and its `*` hold no dot. */
function matchHost(pattern: Pattern, host: string): Captures | null {
  const captures = matchPattern(pattern, `/${host}`);
  return captures !== null && [...captures.values()].some((value) => value.includes(".")) ? null : captures;
}

/** Null where it is longer than `most`. No control character and no letter beyond ASCII comes of what was asked. `encoded` has
 *  what became of captures: a block may put one into ten thousand lines. */
function filled(value: string, captures: Captures, encoded: Map<string, string>, most: number): string | null {
  let left = most - value.length;
  if (left < 0) return null;
  if (captures.size === 0) return value;
  const whole = value.replace(/:([a-z]\w*)/gi, (written, name: string) => {
    const captured = captures.get(name);
    if (captured === undefined || left < 0) return written;
    // Encoding makes nothing shorter.
    const text = captured.length > left ? captured : encoded.getOrInsertComputed(name, () => encodeURI(captured));
    left -= text.length;
    return text;
  });
  return left < 0 ? null : whole;
}
