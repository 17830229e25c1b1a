/** A path with at most one `*` and up to ten `:name`s, and the parts of a requested path that they match (BEYOND
 *  2). No regular expression is made from an upload: each literal is searched once, from the end, which leaves as
 *  much as possible to the part before it; so names take in turn as many characters as they can. A match takes steps for
 *  each character of the path and of the pattern, whatever the letters are (RELIABILITY A24). */
import { decodePath } from "../base/percent.ts";
import { lastOf } from "../base/search.ts";

/** `last` finds the literal in a path, the last one first. */
type Token = { literal: string; last: ReturnType<typeof lastOf> } | { name: string };
type WrittenToken = Pick<Extract<Token, { literal: string }>, "literal"> | { name: string };

export interface Pattern {
  /** All of it, or the part before the `*`. It begins with a literal. */
  readonly before: readonly Token[];
  /** The part after the `*`. Null if there is none. */
  readonly after: readonly Token[] | null;
  /** The slashes of the part before the `*`. */
  readonly slashes: number;
  /** A slash at the path's end counts, for the pattern ends in `*` or in `*` and a slash. */
  readonly exact_end: boolean;
  /** The one path that it is, decoded, without a slash at its end; null: it has a `*` or names. */
  readonly plain: string | null;
  /** The same for two that are written in other ways and match alike. */
  readonly key: string;
}

/** Why something is no pattern, behind its name ("has two *"), and what to write. */
export interface NoPattern {
  problem: string;
  recipe: string;
}

export const isPattern = (read: Pattern | NoPattern): read is Pattern => !("problem" in read);

/** The decoded texts that a `*` (as `splat`) and names match. */
export type Captures = ReadonlyMap<string, string>;

/** Each is a search of its own in whatever path is asked. */
const MOST_NAMES = 10;
/** Characters of a path. In a longer one nothing is searched, so that no request pays for a hundred searches of 16 KB. */
export const LONGEST_SEARCHED = 2048;
const SPLAT = "splat";
const NONE: Captures = new Map();
/** A `*`, a name, or the literal between them. */
const PARTS = /\*|:[a-z]\w*|[^*:]+|:/gi;
/** No path that is asked has them: it would be refused. */
const NEVER_ASKED = /[\x00-\x1f\x7f\\]|\/\.\.(?:\/|$)/;

/** `written` is percent-encoded and begins with a slash. */
export function readPattern(written: string): Pattern | NoPattern {
  const exact_end = written.endsWith("*") || written.endsWith("*/");
  const path = exact_end ? written : withoutSlash(written);
  const parts = /[*:]/.test(path) ? [...path.matchAll(PARTS)].map(([part]) => part) : [path];
  const wrong = problemOf(parts);
  if (wrong !== null) return wrong;
  const star = parts.indexOf("*");
  const before = tokensOf(star === -1 ? parts : parts.slice(0, star));
  const after = star === -1 ? null : tokensOf(parts.slice(star + 1));
  if ("problem" in before) return before;
  if (after !== null && "problem" in after) return after;
  const [first, second] = before;
  const plain = after === null && second === undefined && "literal" in first! ? first.literal : null;
  const key = plain ?? JSON.stringify([before, after, exact_end]);
  const slashes = before.reduce(
    (sum, token) => sum + ("literal" in token ? token.literal.split("/").length - 1 : 0),
    0,
  );
  return { before: searchable(before), after: after && searchable(after), slashes, exact_end, plain, key };
}

const searchable = (tokens: readonly WrittenToken[]): Token[] =>
  tokens.map((token) => ("literal" in token ? { ...token, last: lastOf(token.literal) } : token));

function problemOf(parts: string[]): NoPattern | null {
  const names = parts.filter(isName).map((part) => part.slice(1));
  const star = parts.indexOf("*");
  if (star !== parts.lastIndexOf("*"))
    return { problem: "has two *", recipe: "Write one *: it matches across slashes." };
  if (star !== -1 && names.includes(SPLAT)) {
    return { problem: "has a * and a :splat, which is what a * is called", recipe: "Give the name another word." };
  }
  if (new Set(names).size < names.length) {
    return { problem: "has the same name twice", recipe: "Give each name a word of its own." };
  }
  return names.length > MOST_NAMES
    ? { problem: `has more than ${MOST_NAMES} names`, recipe: "Write a * for the rest." }
    : null;
}

const isName = (part: string): boolean => part.length > 1 && part.startsWith(":");

/** Whether the pattern captures a part of the path as `name`. */
export const hasName = ({ before, after }: Pattern, name: string): boolean =>
  (after !== null && name === SPLAT) ||
  [...before, ...(after ?? [])].some((token) => "name" in token && token.name === name);

/** A path with one slash is itself. */
export const withoutSlash = (path: string): string =>
  path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;

function tokensOf(parts: string[]): WrittenToken[] | NoPattern {
  const tokens: WrittenToken[] = [];
  let literal = "";
  const flush = () => {
    if (literal !== "") tokens.push({ literal });
    literal = "";
  };
  for (const part of parts) {
    if (!isName(part)) {
      const decoded = decodePath(part);
      if (decoded === null) {
        return { problem: "has a % that is no percent-encoding of UTF-8", recipe: "Write %25 for a percent sign." };
      }
      if (NEVER_ASKED.test(decoded)) {
        const problem = "has a .. segment, a backslash or a control character, which no request has";
        return { problem, recipe: "Leave it out." };
      }
      literal += decoded;
    } else {
      flush();
      tokens.push({ name: part.slice(1) });
    }
  }
  flush();
  return tokens;
}

/** Whether a path is compared with the pattern. A pattern without a name and with nothing behind its `*` needs no search: it is
 *  compared with paths of any length, so that headers for all paths reach all paths. */
export const isTried = ({ plain, before, after }: Pattern, path: string): boolean =>
  path.length <= LONGEST_SEARCHED || plain !== null || (before.length === 1 && after?.length === 0);

/** `path` is decoded, as a request's is; null: the pattern is another path's, or the path is too long for it. */
export function matchPattern(pattern: Pattern, path: string): Captures | null {
  const asked = pattern.exact_end ? path : withoutSlash(path);
  if (pattern.plain !== null) return asked === pattern.plain ? NONE : null;
  if (!isTried(pattern, path)) return null;
  const captures = new Map<string, string>();
  if (pattern.after === null) return place(pattern.before, asked, 0, asked.length, captures) === 0 ? captures : null;
  const to = place(pattern.after, asked, null, asked.length, captures);
  if (to === null) return null;
  const from = placeBefore(pattern, asked, to, captures);
  return from === null ? null : captures.set(SPLAT, asked.slice(from, to));
}

/** The place where `tokens` begin if they end at `to`, as far to the right as possible. Null if they do not fit.
 *  With `from` the first of them begins there. */
function place(
  tokens: readonly Token[],
  path: string,
  from: number | null,
  to: number,
  captures: Map<string, string>,
): number | null {
  let end = to;
  let slash = path.length;
  for (let i = tokens.length - 1; i >= 0; i--) {
    const token = tokens[i]!;
    if ("name" in token) {
      if (slash >= end) slash = end === 0 ? -1 : path.lastIndexOf("/", end - 1);
      const start = nameStart(tokens[i - 1], path, i === 1 ? from : null, slash, end);
      if (start === null) return null;
      captures.set(token.name, path.slice(start, end));
      end = start;
    } else {
      end -= token.literal.length;
      if (end < 0 || (i === 0 && from !== null && end !== from) || !path.startsWith(token.literal, end)) return null;
    }
  }
  return end;
}

/** The beginning of a name that ends at `end`: right after the nearest match of the token before it, which begins at `from`
 *  if that is given. `slash` is the nearest one before `end`: the name is behind it. */
function nameStart(
  previous: Token | undefined,
  path: string,
  from: number | null,
  slash: number,
  end: number,
): number | null {
  let start = end - (isPair(path, end) ? 2 : 1);
  if (previous !== undefined && "literal" in previous) {
    const { length } = previous.literal;
    const at = from ?? previous.last(path, Math.max(0, slash + 1 - length), end - 1);
    start = at < 0 ? -1 : at + length;
  }
  return start <= slash || start >= end ? null : start;
}

/** Whether the character that ends at `end` has two units: half of it has no encoding. */
const isPair = (path: string, end: number): boolean => (path.codePointAt(end - 2) ?? 0) > 0xffff;

/** The end of the part before the `*`, at most `limit`: each name in turn as long as possible. Null if it does not fit. Names
 *  hold no slash, so they end in the segment that the pattern's own slashes lead to. */
function placeBefore(
  { before, slashes }: Pattern,
  path: string,
  limit: number,
  captures: Map<string, string>,
): number | null {
  const most = Math.min(segmentEnd(path, slashes), limit);
  const last = before.at(-1)!;
  if ("name" in last) return place(before, path, 0, most, captures) === 0 ? most : null;
  const at = before.length === 1 ? 0 : last.last(path, 0, most);
  const end = at + last.literal.length;
  if (at < 0 || end > most) return null;
  return place(before, path, 0, end, captures) === 0 ? end : null;
}

/** The end of the segment that begins after `slashes` slashes. */
function segmentEnd(path: string, slashes: number): number {
  let at = -1;
  for (let n = 0; n <= slashes; n++) {
    at = path.indexOf("/", at + 1);
    if (at === -1) return path.length;
  }
  return at;
}
