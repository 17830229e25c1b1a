/** The rules of a version, ready to be asked: which of them a path matches, in the file's order (BEYOND 2). */
import { type Captures, isTried, matchPattern, type Pattern, withoutSlash } from "./pattern.ts";
import type { ReadRule } from "./redirects.ts";
import { isOwnPath } from "./target.ts";
import type { RedirectRule } from "./lines.ts";

export interface Match {
  rule: RedirectRule;
  captures: Captures;
  /** The rule has a `*`: it takes any missing path, as the page of a single-page app does. */
  catches_all: boolean;
}

export interface RuleTable {
  /** The rules that a path matches. `path` is decoded, and a run of slashes is one slash. */
  matches(path: string): Iterable<Match>;
  /** The same for the rules that win over files. Null if there is none. */
  forced: ((path: string) => Iterable<Match>) | null;
  /** How many rules are not compared with a path, because it is too long to be searched; of all, or of those that are forced. */
  untried(path: string, which: "all" | "forced"): number;
  /** Whether what it answers may depend on who owns the site. */
  by_owner: boolean;
  /** Whether it may depend on what the browser wants it for. */
  by_use: boolean;
  /** About the memory that a process keeps for it. */
  bytes: number;
}

interface Compiled {
  /** Its place in the file. */
  at: number;
  rule: RedirectRule;
  pattern: Pattern;
}

const NONE: Captures = new Map();

export function createTable(rules: readonly ReadRule[]): RuleTable {
  const compiled = rules.map(({ rule, pattern }, at): Compiled => ({ at, rule, pattern }));
  const forced = compiled.filter(({ rule }) => rule.forced);
  return {
    matches: finder(compiled),
    forced: forced.length === 0 ? null : finder(forced),
    untried: (path, which) =>
      (which === "all" ? compiled : forced).filter(({ pattern }) => !isTried(pattern, path)).length,
    by_owner: rules.some(({ rule }) => !isOwnPath(rule.to)),
    by_use: compiled.some(({ rule, pattern }) => rule.status === 200 && pattern.after !== null),
    bytes: rules.reduce(
      (sum, { rule: { text, from, to }, pattern }) =>
        sum + 600 + 2 * (text.length + to.length) + (pattern.plain === null ? 8 : 2) * from.length,
      0,
    ),
  };
}

function finder(rules: readonly Compiled[]): (path: string) => Iterable<Match> {
  const plain = new Map(rules.flatMap((one) => (one.pattern.plain === null ? [] : [[one.pattern.plain, one]])));
  const patterns = rules.filter(({ pattern }) => pattern.plain === null);
  return function* (path) {
    let exact = plain.get(withoutSlash(path));
    for (const { at, rule, pattern } of patterns) {
      if (exact !== undefined && exact.at < at) {
        yield { rule: exact.rule, captures: NONE, catches_all: false };
        exact = undefined;
      }
      const captures = matchPattern(pattern, path);
      if (captures !== null) yield { rule, captures, catches_all: pattern.after !== null };
    }
    if (exact !== undefined) yield { rule: exact.rule, captures: NONE, catches_all: false };
  };
}
