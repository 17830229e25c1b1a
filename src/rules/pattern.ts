/** A path with at most one `*` and any number of `:name`s, and the parts of a requested path that they match (BEYOND
 *  2). No regular expression is made from an upload: each literal is searched once, from the end, which leaves as
 *  much as possible to the part before it; so names take in turn as many characters as they can. */
import { decodePath } from "../base/percent.ts";

type Token = { literal: string } | { name: string };

export interface Pattern {
  /** All of it, or the part before the `*`. It begins with a literal. */
  readonly before: readonly Token[];
  /** The part after the `*`. Null if there is none. */
  readonly after: readonly Token[] | null;
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
  return { before, after, exact_end, plain, key: plain ?? JSON.stringify([before, after, exact_end]) };
}

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

function tokensOf(parts: string[]): Token[] | NoPattern {
  const tokens: Token[] = [];
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

/** `path` is decoded, as a request's is; null: the pattern is another path's. */
export function matchPattern(pattern: Pattern, path: string): Captures | null {
  const asked = pattern.exact_end ? path : withoutSlash(path);
  if (pattern.plain !== null) return asked === pattern.plain ? NONE : null;
  const captures = new Map<string, string>();
  if (pattern.after === null) return place(pattern.before, asked, 0, asked.length, captures) === 0 ? captures : null;
  const to = place(pattern.after, asked, null, asked.length, captures);
  if (to === null) return null;
  const from = placeBefore(pattern.before, asked, to, captures);
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
  for (let i = tokens.length - 1; i >= 0; i--) {
    const token = tokens[i]!;
    if ("name" in token) {
      const start = nameStart(tokens[i - 1], path, from, end, i === 1);
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

/** The beginning of a name that ends at `end`: right after the nearest match of the token before it. */
function nameStart(
  previous: Token | undefined,
  path: string,
  from: number | null,
  end: number,
  previous_is_first: boolean,
): number | null {
  let start = end - 1;
  if (previous !== undefined && "literal" in previous) {
    const { literal } = previous;
    const at = previous_is_first && from !== null ? from : path.lastIndexOf(literal, end - 1 - literal.length);
    start = at < 0 || end - 1 < literal.length ? -1 : at + literal.length;
  }
  const slash = path.lastIndexOf("/", end - 1);
  return start < 0 || start >= end || slash >= start ? null : start;
}

/** The end of `tokens` at the beginning of the path, at most `limit`: each name in turn as long as possible. Null if
 *  they do not fit. Names hold no slash, so they end in the segment that their own slashes lead to. */
function placeBefore(
  tokens: readonly Token[],
  path: string,
  limit: number,
  captures: Map<string, string>,
): number | null {
  const segment = segmentEnd(path, slashesIn(tokens));
  const most = Math.min(segment, limit);
  const last = tokens.at(-1)!;
  if ("name" in last) return place(tokens, path, 0, most, captures) === 0 ? most : null;
  const at = tokens.length === 1 ? 0 : path.lastIndexOf(last.literal, most - last.literal.length);
  const end = at + last.literal.length;
  if (at < 0 || end > most) return null;
  return place(tokens, path, 0, end, captures) === 0 ? end : null;
}

const slashesIn = (tokens: readonly Token[]): number =>
  tokens.reduce((sum, token) => sum + ("literal" in token ? token.literal.split("/").length - 1 : 0), 0);

/** The end of the segment that begins after `slashes` slashes. */
function segmentEnd(path: string, slashes: number): number {
  let at = -1;
  for (let n = 0; n <= slashes; n++) {
    at = path.indexOf("/", at + 1);
    if (at === -1) return path.length;
  }
  return at;
}
