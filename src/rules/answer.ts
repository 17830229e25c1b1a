/** Finds what answers a path, the site's own rules included: steps 5 to 8 of BEYOND 1, as far as names decide. Pure:
 *  serving and the lint ask it, so they cannot disagree, and the same lines explain an answer to anybody who asks
 *  why. */

import { decodePath } from "../base/percent.ts";
import { isNeverServed } from "../base/reserved-paths.ts";
import { mayBeRoute, nameOf, type Resolution, resolve } from "../base/resolve.ts";
import { withoutSlash } from "./pattern.ts";
import type { Match, RuleTable } from "./table.ts";
import { fillTarget, isOwnPath, pathOfTarget } from "./target.ts";
import { leadsOn, type RedirectRule } from "./lines.ts";

type FilesByName<File> = ReadonlyMap<string, File>;

export interface Asked {
  /** Null: the version has no rules. */
  rules: RuleTable | null;
  /** Rules that lead to other hosts count for sites that somebody owns. */
  owned: boolean;
  /** By a link or in a frame, or by a client that does not say. */
  navigates: boolean;
}

/** The things besides the path that the answer depends on: a matching rule asked for them, whether it was taken or
 *  not. */
export interface HangsOn {
  owner: boolean;
  use: boolean;
}

export type Answered<File> =
  | (Resolution<File> & { rule?: undefined })
  /** A rule that shows a file under the address that was asked. */
  | { kind: "file"; file: File; by: "rule"; rule: RedirectRule }
  /** `location` lacks the query that was asked. */
  | { kind: "moved"; status: number; location: string; rule: RedirectRule }
  | { kind: "missing"; page: File; rule: RedirectRule };

/** Why a rule that the path matches is not taken. */
export type Passed = "unowned" | "too_long" | "itself" | "no_file" | "no_route" | "no_navigation";

/** A step that was tried, for the explanation of an answer (BEYOND 5). */
export type Tried =
  | {
      step: "forced_rule" | "rule";
      /** Rules that were looked at. Empty if the version has none of the kind. */
      any: boolean;
      passed: { line: number; why: Passed }[];
      /** Rules that were not tried, for the path is too long to be searched. */
      untried: number;
      taken: RedirectRule | null;
    }
  | { step: "file"; found: Resolution<unknown> };

/** `path` is percent-encoded. Throws `invalid_path`. */
export function answer<File>(
  files: FilesByName<File>,
  path: string,
  { rules, ...asked }: Asked,
  tried?: Tried[],
): { answered: Answered<File>; hangs_on: HangsOn } {
  const hangs_on = { owner: false, use: false };
  if (rules === null && tried === undefined) return { answered: resolve(files, path), hangs_on };
  const name = nameOf(path);
  if (isNeverServed(name)) return { answered: resolve(files, path), hangs_on };
  const who = { ...asked, hangs_on, tried };
  const forced = byRule(files, name, "forced_rule", rules, who);
  if (forced) return { answered: forced, hangs_on };
  const found = resolve(files, path);
  tried?.push({ step: "file", found });
  const ruled = found.kind === "unmatched" ? byRule(files, name, "rule", rules, who) : null;
  return { answered: ruled ?? found, hangs_on };
}

interface Who extends Omit<Asked, "rules"> {
  hangs_on: HangsOn;
  tried: Tried[] | undefined;
}

function byRule<File>(
  files: FilesByName<File>,
  name: string,
  step: "forced_rule" | "rule",
  rules: RuleTable | null,
  who: Who,
): Answered<File> | null {
  const matches = (step === "rule" ? rules?.matches : rules?.forced) ?? null;
  const tried = { step, any: matches !== null, passed: [] as { line: number; why: Passed }[], untried: 0, taken: null };
  if (who.tried !== undefined) {
    who.tried.push(tried);
    tried.untried = rules?.untried(`/${name}`, step === "rule" ? "all" : "forced") ?? 0;
  }
  for (const match of matches?.(`/${name}`) ?? []) {
    const answered = leadsOn(match.rule) ? moved<File>(name, match, who) : shown(files, name, match, who);
    if (typeof answered !== "string") {
      Object.assign(tried, { taken: match.rule });
      return answered;
    }
    if (who.tried !== undefined) tried.passed.push({ line: match.rule.line, why: answered });
  }
  return null;
}

function moved<File>(name: string, { rule, captures }: Match, { owned, hangs_on }: Who): Answered<File> | Passed {
  const own = isOwnPath(rule.to);
  if (!own) hangs_on.owner = true;
  if (!own && !owned) return "unowned";
  const location = fillTarget(rule.to, captures);
  if (location === null) return "too_long";
  const to_itself = own && withoutSlash(decodePath(pathOfTarget(location)) ?? "") === withoutSlash(`/${name}`);
  return to_itself ? "itself" : { kind: "moved", status: rule.status, location, rule };
}

function shown<File>(files: FilesByName<File>, name: string, match: Match, who: Who): Answered<File> | Passed {
  const { rule, captures, catches_all } = match;
  const target = fillTarget(rule.to, captures);
  const found = target === null ? null : fileAt(files, pathOfTarget(target));
  if (found === null) return target === null ? "too_long" : "no_file";
  if (rule.status === 404) return { kind: "missing", page: found.file, rule };
  if (catches_all && isPage(found.name)) {
    if (!mayBeRoute(files, name)) return "no_route";
    who.hangs_on.use = true;
    if (!who.navigates) return "no_navigation";
  }
  return { kind: "file", file: found.file, by: "rule", rule };
}

/** By its name: exact, a folder's index, without `.html`. No rule and no redirect leads there. */
export function fileAt<File>(files: FilesByName<File>, path: string): { name: string; file: File } | null {
  const name = decodePath(path)?.slice(1) ?? null;
  if (name === null || isNeverServed(name)) return null;
  const names = name === "" || name.endsWith("/") ? [`${name}index.html`] : [name, `${name}.html`];
  const there = names.find((one) => files.has(one));
  return there === undefined ? null : { name: there, file: files.get(there)! };
}
const isPage = (name: string): boolean => /\.(?:html?|xhtml|xht|shtml)$/i.test(name);

// The file that a rule shows at a path in place of a file of that name, or if there is none: for finding which page an
// address is. If a rule leads elsewhere, the page belongs to that other address.

/** `path` is percent-encoded. Throws `invalid_path`. */
export const shownByRule =
  <File>(files: ReadonlyMap<string, File>, rules: RuleTable | null) =>
  (path: string): File | null => {
    if (rules === null) return null;
    const { answered } = answer(files, path, { rules, owned: false, navigates: true });
    return answered.kind === "file" && answered.rule !== undefined ? answered.file : null;
  };
