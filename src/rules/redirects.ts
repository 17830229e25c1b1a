/** `_redirects`, read line by line: `from to [status][!]` (BEYOND 2). */

import { decodePath } from "../base/percent.ts";
import { isNeverServed } from "../base/reserved-paths.ts";
import type { Bytes } from "../base/types.ts";
import { adjusted, brief, invalid, leadsOn, readLines, type RedirectRule, type RuleProblem } from "./lines.ts";
import { isPattern, type NoPattern, type Pattern, readPattern, withoutSlash } from "./pattern.ts";
import { isOwnPath, pathOfTarget, readTarget } from "./target.ts";

export const REDIRECTS = "_redirects";

/** The most lines without a `*` or names, and with them. */
const MOST = { plain: 2000, pattern: 100 };
const STATUS = /^(200|30[12378]|404)(!?)$/;
/** The start of a comment: a `#` at the line's start, or after white space. */
const COMMENT = /(?:^|\s)#/;
/** PIPELINE 2's rule 1: the site's `spa` setting has the last word. */
const FALLBACK_TARGET = /^\/(?:(?:index|200)(?:\.html)?)?$/;

/** A line that counts, with the paths it is for. */
export interface ReadRule {
  rule: RedirectRule;
  pattern: Pattern;
}

export interface Redirects {
  rules: readonly ReadRule[];
  /** Lines that send every path to the index (PIPELINE 2's rule 1): none of the table. */
  fallbacks: readonly number[];
  problems: readonly RuleProblem[];
}

const NONE: Redirects = { rules: [], fallbacks: [], problems: [] };

export function redirectsOf(files: ReadonlyMap<string, Bytes>): Redirects {
  const file = files.get(REDIRECTS);
  return file === undefined ? NONE : readRedirects(file);
}

export function readRedirects(file: Bytes): Redirects {
  const { lines, problems } = readLines(file, REDIRECTS);
  const rules: ReadRule[] = [];
  const known = new Map<string, number>();
  const fallbacks: number[] = [];
  for (const { line, text } of lines) {
    const read = readLine(line, text);
    problems.push(...read.problems);
    if (read.is_fallback) fallbacks.push(line);
    if (read.found === null) continue;
    const { key } = read.found.pattern;
    const earlier = known.get(key);
    if (earlier === undefined) rules.push(read.found);
    else
      problems.push(
        invalid(
          line,
          `${brief(read.found.rule.from)} stands in line ${earlier} already`,
          "Take one of both lines away.",
        ),
      );
    known.set(key, earlier ?? line);
  }
  const { kept, over } = withinLimits(rules);
  return { rules: kept, fallbacks, problems: [...problems, ...over] };
}

interface ReadLine {
  found: ReadRule | null;
  is_fallback?: true;
  problems: RuleProblem[];
}

export function withoutComment(written: string): string {
  const end = written.search(COMMENT);
  return (end === -1 ? written : written.slice(0, end)).trim();
}

function readLine(line: number, written: string): ReadLine {
  const text = withoutComment(written);
  const refuse = (what: string, recipe: string): ReadLine => ({ found: null, problems: [invalid(line, what, recipe)] });
  if (text === "") return { found: null, problems: [] };
  const parts = text.split(/\s+/);
  if (parts.length < 2 || parts.length > 3) {
    const what =
      parts.length === 1 ? "leads nowhere" : "has more than from, to and status: conditions are not known here";
    return refuse(`${brief(text)} ${what}`, recipeFor(parts));
  }
  const [from, to, word = "302"] = parts as [string, string, string?];
  const status = STATUS.exec(word);
  if (status === null)
    return refuse(`${brief(word)} is no status that a rule can have`, "Write 200, 301, 302, 303, 307, 308 or 404.");
  return readRule({ line, text, from, to, status: Number(status[1]), forced: status[2] === "!" }, refuse);
}

/** A line without its conditions would count for everybody: that is for its author to decide. */
function recipeFor(parts: string[]): string {
  if (parts.length === 1) return "Write from, to and a status: /from /to 301";
  return "Take the line away, or leave its conditions out: then it counts for every visitor.";
}

type Refuse = (what: string, recipe: string) => ReadLine;

function readRule(written: RedirectRule, refuse: Refuse): ReadLine {
  const { line, status } = written;
  const source = readFrom(line, written.from);
  if ("problem" in source) return refuse(source.problem, source.recipe);
  const { from, pattern, problems } = source;
  const target = readTarget(written.to, pattern);
  if (typeof target !== "string") return refuse(target.problem, target.recipe);
  if (!isOwnPath(target) && !leadsOn(written)) {
    return refuse(
      `A rule with ${status} shows a file of this site, and ${brief(target)} is elsewhere`,
      `Write a path of this site in its place, or 302, which sends visitors there.`,
    );
  }
  if (from === "/*" && status === 200 && FALLBACK_TARGET.test(target))
    return { found: null, is_fallback: true, problems };
  const rule = { ...written, from, to: target };
  if (pattern.plain !== null && leadsOn(rule) && leadsTo(rule) === pattern.plain) {
    return refuse(`${brief(from)} leads to itself`, "Take the line away.");
  }
  return { found: { rule, pattern }, problems };
}

interface From {
  from: string;
  pattern: Pattern;
  problems: RuleProblem[];
}

function readFrom(line: number, written: string): From | NoPattern {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(written)) {
    const problem = `${brief(written)} has a host, and rules are for every host of the site`;
    return { problem, recipe: "Write the path alone." };
  }
  const problems: RuleProblem[] = [];
  const end = written.search(/[?#]/);
  const bare = end === -1 ? written : written.slice(0, end);
  if (bare !== written)
    problems.push(
      adjusted(
        line,
        `${brief(written)} counts as ${brief(bare)}: rules see no query and no fragment`,
        `Write ${brief(bare)}.`,
      ),
    );
  const from = (bare.startsWith("/") ? bare : `/${bare}`).replace(/\/{2,}/g, "/");
  if (from !== bare) problems.push(adjusted(line, `${brief(bare)} counts as ${brief(from)}`, `Write ${brief(from)}.`));
  const pattern = readPattern(from);
  if (!isPattern(pattern)) return { ...pattern, problem: `${brief(written)} ${pattern.problem}` };
  const first = pattern.before[0]!;
  if ("literal" in first && isNeverServed(first.literal.slice(1))) {
    return { problem: `${brief(written)} is the service's own`, recipe: "Write another path of this site." };
  }
  return { from, pattern, problems };
}

/** The own path that a 3xx without `*` and names leads to, decoded, without a slash at its end; null: another host. */
function leadsTo({ to }: Pick<RedirectRule, "to">): string | null {
  const path = isOwnPath(to) ? decodePath(pathOfTarget(to)) : null;
  return path === null ? null : withoutSlash(path);
}

const kindOf = ({ pattern }: ReadRule): keyof typeof MOST => (pattern.plain === null ? "pattern" : "plain");

function withinLimits(rules: ReadRule[]): { kept: ReadRule[]; over: RuleProblem[] } {
  const counts = { plain: 0, pattern: 0 };
  const first: Partial<Record<keyof typeof MOST, number>> = {};
  const kept = rules.filter((read) => {
    const kind = kindOf(read);
    if (++counts[kind] <= MOST[kind]) return true;
    first[kind] ??= read.rule.line;
    return false;
  });
  const over = (["plain", "pattern"] as const).flatMap((kind) => {
    const line = first[kind];
    return line === undefined ? [] : [overLimit(line, kind, counts[kind])];
  });
  return { kept, over };
}

function overLimit(line: number, kind: keyof typeof MOST, count: number): RuleProblem {
  const which = kind === "plain" ? "without * and :names" : "with a * or :name";
  const many = count - MOST[kind];
  return {
    code: "rules_over_limit",
    line,
    message: `${MOST[kind].toLocaleString("en")} rules ${which} count; from this line on ${many === 1 ? "one does" : `${many} do`} nothing.`,
    fix_recipe:
      kind === "plain" ? "Join lines: a * or :name stands for many paths." : "Take away those that nobody needs.",
  };
}

// Redirects that lead to each other (BEYOND 2). They are searched for at deploy.

/** Lines without `*` and names whose redirects lead round in a ring. */
export function ringsOf(rules: readonly ReadRule[]): RuleProblem[] {
  const next = new Map<string, RedirectRule>();
  for (const { rule, pattern } of rules) {
    if (leadsOn(rule) && pattern.plain !== null) next.set(pattern.plain, rule);
  }
  const state = new Map<string, "walked" | "ring">();
  for (const start of next.keys()) walk(start, next, state);
  return [...next].flatMap(([from, rule]) => (state.get(from) === "ring" ? [ring(rule)] : []));
}

function walk(start: string, next: Map<string, RedirectRule>, state: Map<string, "walked" | "ring">): void {
  const trail = new Set<string>();
  let at: string | null = start;
  while (at !== null && next.has(at) && !state.has(at) && !trail.has(at)) {
    trail.add(at);
    at = leadsTo(next.get(at)!);
  }
  let within = false;
  for (const path of trail) {
    within ||= path === at;
    state.set(path, within ? "ring" : "walked");
  }
}

const ring = ({ line, from, to }: RedirectRule): RuleProblem => ({
  code: "redirect_loop",
  line,
  message: `${brief(from)} leads to ${brief(to)}, and from there back again: browsers give up.`,
  fix_recipe: "Let one of the lines lead to a page that is there.",
});
