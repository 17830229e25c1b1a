/** What answers a path, the site's own rules included: steps 5 to 8 of BEYOND 1, as far as names decide. Pure: serving asks
 *  it, and the lint, which may not think otherwise. */
import { mayBeRoute, nameOf, resolve, type Resolution } from "../resolve.ts";
import { decodePath } from "../percent.ts";
import { isNeverServed } from "../reserved-paths.ts";
import { withoutSlash } from "./pattern.ts";
import type { Match, RuleTable } from "./table.ts";
import { fillTarget, isOwnPath, pathOfTarget } from "./target.ts";
import { leadsOn, type RedirectRule } from "./types.ts";

type Named<File> = ReadonlyMap<string, File>;

export interface Asked {
  /** Null: the version has no rules. */
  rules: RuleTable | null;
  /** Rules that lead to other hosts count for sites that somebody owns. */
  owned: boolean;
  /** By a link or in a frame, or by a client that does not say. */
  navigates: boolean;
}

/** What the answer hangs on beside the path: a rule that matched asked for it, whether it was taken or not. */
export interface HangsOn {
  owner: boolean;
  use: boolean;
}

export type Answered<File> =
  | (Resolution<File> & { rule?: undefined })
  /** A rule that shows a file under the address that was asked. */
  | { kind: "file"; file: File; rule: RedirectRule }
  /** `location` lacks the query that was asked. */
  | { kind: "moved"; status: number; location: string; rule: RedirectRule }
  | { kind: "missing"; page: File; rule: RedirectRule };

/** `path` is percent-encoded. Throws `invalid_path`. */
export function answer<File>(
  files: Named<File>,
  path: string,
  { rules, ...asked }: Asked,
): { answered: Answered<File>; hangs_on: HangsOn } {
  const hangs_on = { owner: false, use: false };
  if (rules === null) return { answered: resolve(files, path), hangs_on };
  const name = nameOf(path);
  if (isNeverServed(name)) return { answered: resolve(files, path), hangs_on };
  const who = { ...asked, hangs_on };
  const forced = rules.forced && byRule(files, name, rules.forced(`/${name}`), who);
  if (forced) return { answered: forced, hangs_on };
  const found = resolve(files, path);
  const ruled = found.kind === "unmatched" ? byRule(files, name, rules.matches(`/${name}`), who) : null;
  return { answered: ruled ?? found, hangs_on };
}

interface Who extends Omit<Asked, "rules"> {
  hangs_on: HangsOn;
}

function byRule<File>(files: Named<File>, name: string, matches: Iterable<Match>, who: Who): Answered<File> | null {
  for (const match of matches) {
    const answered = leadsOn(match.rule) ? moved<File>(name, match, who) : shown(files, name, match, who);
    if (answered !== null) return answered;
  }
  return null;
}

function moved<File>(name: string, { rule, captures }: Match, { owned, hangs_on }: Who): Answered<File> | null {
  const own = isOwnPath(rule.to);
  if (!own) hangs_on.owner = true;
  if (!own && !owned) return null;
  const location = fillTarget(rule.to, captures);
  if (location === null) return null;
  const to_itself = own && withoutSlash(decodePath(pathOfTarget(location)) ?? "") === withoutSlash(`/${name}`);
  return to_itself ? null : { kind: "moved", status: rule.status, location, rule };
}

function shown<File>(files: Named<File>, name: string, match: Match, who: Who): Answered<File> | null {
  const { rule, captures, catches_all } = match;
  const target = fillTarget(rule.to, captures);
  const found = target === null ? null : fileAt(files, pathOfTarget(target));
  if (found === null) return null;
  if (rule.status === 404) return { kind: "missing", page: found.file, rule };
  if (catches_all && isPage(found.name)) {
    if (!mayBeRoute(files, name)) return null;
    who.hangs_on.use = true;
    if (!who.navigates) return null;
  }
  return { kind: "file", file: found.file, rule };
}

/** By its name: exact, a folder's index, without `.html`. No rule and no redirect leads there. */
export function fileAt<File>(files: Named<File>, path: string): { name: string; file: File } | null {
  const name = decodePath(path)?.slice(1) ?? null;
  if (name === null || isNeverServed(name)) return null;
  const names = name === "" || name.endsWith("/") ? [`${name}index.html`] : [name, `${name}.html`];
  const there = names.find((one) => files.has(one));
  return there === undefined ? null : { name: there, file: files.get(there)! };
}
const isPage = (name: string): boolean => /\.(?:html?|xhtml|xht|shtml)$/i.test(name);
