/** Checks rules against the files of a version: the lines that do nothing, or not what was written, although each of them reads
 *  well alone (BEYOND 2 and 3). A deploy warns of them, and the dashboard shows them beside the lines. */
import { decodePath } from "../base/percent.ts";
import { resolve } from "../base/resolve.ts";
import { fileAt } from "./answer.ts";
import { brief, type HeaderBlock, leadsOn, type RedirectRule, type RuleProblem } from "./lines.ts";
import { isPattern, matchPattern, readPattern } from "./pattern.ts";
import { type ReadRule, ringsOf } from "./redirects.ts";
import { isOwnPath, pathOfTarget } from "./target.ts";

/** A version's files by their names: their content is never asked for. */
export type NamedFiles = ReadonlyMap<string, unknown>;

/** `owned`: rules that lead to other hosts count. */
export const problemsOfRedirects = (rules: readonly ReadRule[], files: NamedFiles, owned: boolean): RuleProblem[] => [
  ...ringsOf(rules),
  ...rules.flatMap((rule) => problemsOf(rule, files, owned)),
];

function problemsOf({ rule, pattern }: ReadRule, files: NamedFiles, owned: boolean): RuleProblem[] {
  const { line, from, to } = rule;
  const problems: RuleProblem[] = [];
  if (!owned && !isOwnPath(to)) {
    problems.push({
      code: "external_redirect",
      line,
      message: `${brief(from)} leads to another host, which counts once the site is claimed.`,
      fix_recipe: "Claim the site: the rule counts from then on, without another deploy.",
    });
  }
  const before = rule.forced || pattern.plain === null ? null : answering(files, from);
  if (isOwnPath(to) && !leadsOn(rule) && !to.includes(":")) {
    if (fileAt(files, pathOfTarget(to)) === null) problems.push(showsNothing(rule));
  }
  if (before !== null) {
    problems.push({
      code: "rule_shadowed",
      line,
      message: `${before} answers ${brief(from)}, so the line does nothing.`,
      fix_recipe: `Write ${rule.status}! for ${brief(from)} to go before the file, or take the line away.`,
    });
  }
  return problems;
}

/** The file that answers a path, or whose folder the path leads to. Null if there is none. */
function answering(files: NamedFiles, from: string): string | null {
  const found = resolve(files, from);
  if (found.kind === "redirect") return "a folder of that name";
  if (found.kind === "unmatched") return null;
  const behind = { file: "", index: "index.html", clean_url: ".html" }[found.by];
  return brief(decodePath(from)!.slice(1) + behind);
}

const showsNothing = ({ line, to }: RedirectRule): RuleProblem => ({
  code: "invalid_rule",
  line,
  message: `No file is at ${brief(to)}; the line does nothing.`,
  fix_recipe: "Write the path of a file that you deploy; a folder's with its slash.",
});

/** A line of `_headers` neither makes a file a page nor changes the type of a page. `isPage`: asked of as few files as it
 *  takes. */
export const problemsOfHeaders = (
  blocks: readonly HeaderBlock[],
  files: NamedFiles,
  isPage: (path: string) => boolean,
): RuleProblem[] => blocks.flatMap((block) => typesRefused(block, files, isPage));

function typesRefused(block: HeaderBlock, files: NamedFiles, isPage: (path: string) => boolean): RuleProblem[] {
  const lines = block.lines.filter(({ name }) => name.toLowerCase() === "content-type");
  const pattern = lines.length === 0 ? null : readPattern(block.path);
  if (pattern === null || !isPattern(pattern)) return [];
  const matches = (address: string): boolean => matchPattern(pattern, address) !== null;
  const page = [...files.keys()].find((path) => addressesOf(path, files).some(matches) && isPage(path));
  return page === undefined ? [] : lines.map(({ line }) => refused(line, `${brief(page)} is a page`));
}

/** The addresses at which a file answers: by its name, as its folder's index, without its `.html`. */
function addressesOf(path: string, files: NamedFiles): string[] {
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
