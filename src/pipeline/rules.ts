/** Checks `_redirects` and `_headers` of an upload: a warning names each line that does nothing, or not what was written, with
 *  the file, the line and the change to make (BEYOND 2 and 3). src/rules reads the lines, here and when serving. */
import { isMarkup, mediaType } from "../base/media-types.ts";
import { resolve } from "../base/resolve.ts";
import { HEADERS, readHeaders } from "../rules/headers.ts";
import { brief, type HeaderBlock, leadsOn, type RedirectRule, type RuleProblem } from "../rules/lines.ts";
import { fileAt } from "../rules/answer.ts";
import { isPattern, matchPattern, readPattern } from "../rules/pattern.ts";
import { type ReadRule, REDIRECTS, type Redirects, ringsOf } from "../rules/redirects.ts";
import { isOwnPath, pathOfTarget } from "../rules/target.ts";
import type { Draft, Files, Finding, SiteContext } from "../base/types.ts";
import { show } from "./show.ts";

export function checkRules(draft: Draft, { rules, problems }: Redirects, site: Pick<SiteContext, "anonymous">): Draft {
  const { files } = draft;
  const headers = files.get(HEADERS);
  const findings: Finding[] = [];
  if (rules.length + problems.length > 0) {
    const names = new Map([...files.keys()].map((name) => [name, name]));
    findings.push(
      ...told(REDIRECTS, [...problems, ...ringsOf(rules), ...rules.flatMap((rule) => problemsOf(rule, names, site))]),
    );
  }
  if (headers !== undefined) {
    const { blocks, problems } = readHeaders(headers);
    findings.push(...told(HEADERS, [...problems, ...blocks.flatMap((block) => typesRefused(block, files))]));
  }
  return findings.length === 0 ? draft : { ...draft, findings: [...(draft.findings ?? []), ...findings] };
}

function told(file: string, problems: RuleProblem[]): Finding[] {
  return problems
    .toSorted((a, b) => a.line - b.line)
    .map(({ code, line, message, fix_recipe }) => {
      const path = `${file}:${line}`;
      return { code, path, target: path, message, fix_recipe };
    });
}

type Names = ReadonlyMap<string, string>;

function problemsOf(
  { rule, pattern }: ReadRule,
  names: Names,
  { anonymous }: Pick<SiteContext, "anonymous">,
): RuleProblem[] {
  const { line, from, to } = rule;
  const problems: RuleProblem[] = [];
  if (anonymous && !isOwnPath(to)) {
    problems.push({
      code: "external_redirect",
      line,
      message: `${brief(from)} leads to another host, which counts once the site is claimed.`,
      fix_recipe: "Claim the site: the rule counts from then on, without another deploy.",
    });
  }
  const before = rule.forced || pattern.plain === null ? null : answering(names, from);
  if (isOwnPath(to) && !leadsOn(rule) && !to.includes(":")) {
    if (fileAt(names, pathOfTarget(to)) === null) problems.push(showsNothing(rule));
  }
  if (before !== null) {
    problems.push({
      code: "rule_shadowed",
      line,
      message: `${show(before)} answers ${brief(from)}, so the line does nothing.`,
      fix_recipe: `Write ${rule.status}! for ${brief(from)} to go before the file, or take the line away.`,
    });
  }
  return problems;
}

/** The file that answers a path, or whose folder the path leads to. Null if there is none. */
function answering(names: Names, from: string): string | null {
  const found = resolve(names, from);
  if (found.kind === "redirect") return "a folder of that name";
  return found.kind === "file" ? found.file : null;
}

const showsNothing = ({ line, to }: RedirectRule): RuleProblem => ({
  code: "invalid_rule",
  line,
  message: `No file is at ${brief(to)}; the line does nothing.`,
  fix_recipe: "Write the path of a file that you deploy; a folder's with its slash.",
});

/** A line of `_headers` neither makes a file a page nor changes the type of a page. */
function typesRefused(block: HeaderBlock, files: Files): RuleProblem[] {
  const lines = block.lines.filter(({ name }) => name.toLowerCase() === "content-type");
  const pattern = lines.length === 0 ? null : readPattern(block.path);
  if (pattern === null || !isPattern(pattern)) return [];
  const page = [...files].find(
    ([path, bytes]) =>
      addressesOf(path, files).some((address) => matchPattern(pattern, address) !== null) &&
      isMarkup(mediaType(path, bytes)),
  );
  return page === undefined ? [] : lines.map(({ line }) => refused(line, `${show(page[0])} is a page`));
}

/** The addresses at which a file answers: by its name, as its folder's index, without its `.html`. */
function addressesOf(path: string, files: Files): string[] {
  if (/(?:^|\/)index\.html$/.test(path)) return [`/${path}`, `/${path.slice(0, -"index.html".length)}`];
  const clean = path.endsWith(".html") ? path.slice(0, -".html".length) : path;
  return files.has(clean) ? [`/${path}`] : [`/${path}`, `/${clean}`];
}

const refused = (line: number, why: string): RuleProblem => ({
  code: "header_refused",
  line,
  message: `${why}, and a page's type is the service's to say: the line does nothing there.`,
  fix_recipe: "Give the file the name of its type, or take the line away.",
});
