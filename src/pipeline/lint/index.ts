/** The lint: what would fail in a browser, each with one thing to do (PIPELINE 4). The receipt's warnings (PIPELINE 4),
 *  top to bottom: 1 which pages are to be judged, 2 what they and all that they load ask for (walk), 3 what of it
 *  nothing answers (judge), 4 what files tell by themselves (content), 5 one entry for each file and target, few for
 *  each cause, the gravest first. Secrets come before all that may take long: they are what cannot wait. */

import { isNeverServed } from "../../base/reserved-paths.ts";
import type { Checked, Draft, Finding, Progress, SpaRule, Warning, WarningCode } from "../../base/types.ts";
import { keepPages, type Pages } from "../../html/page.ts";
import { type Redirects, redirectsOf } from "../../rules/redirects.ts";
import { type Budget, JUDGING_MS, NO_LIMIT, releasable, Spent } from "../budget.ts";
import { show } from "../show.ts";
import { lintContent, lintSecrets, SEARCHING } from "./content.ts";
import { Judge } from "./judge.ts";
import { type PageFile, Walk } from "./walk.ts";
import { siteNames } from "./site-names.ts";
import type { Unanswered } from "./unanswered.ts";
import { unusedOf } from "./unused.ts";

const MOST = 100;

const IS_PAGE = /\.(?:html?|xhtml|xht|shtml)$/i;

/** Pages that somebody wrote and that are served. What the service made of nothing, a list of files, is not theirs to change. */
function pagesOf({ files, made }: Draft): PageFile[] {
  const uploaded = new Map([...files].filter(([path]) => !made.has(path)).map(([path, bytes]) => [bytes, path]));
  return [...files].flatMap(([path, bytes]) => {
    if (!IS_PAGE.test(path) || isNeverServed(path)) return [];
    const source = made.has(path) ? (uploaded.get(bytes) ?? markdownOf(files, path)) : path;
    // A copy of an uploaded page is judged as that page, unless it is in another folder.
    return source === null || (source !== path && IS_PAGE.test(source)) ? copyOf(path, source) : [{ path, source }];
  });
}
const copyOf = (path: string, source: string | null): PageFile[] =>
  source !== null && path === "index.html" ? [{ path, source }] : [];

/** The Markdown that became a page: it has the page's name, or is the README of the folder whose index it became. */
function markdownOf(files: Draft["files"], path: string): string | null {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const names = [path.replace(IS_PAGE, ""), `${folder}README`, `${folder}readme`, `${folder}Readme`];
  const sources = names.flatMap((name) => [`${name}.md`, `${name}.markdown`]);
  return sources.slice(0, path === `${folder}index.html` ? undefined : 2).find((name) => files.has(name)) ?? null;
}

/** The warning that the time was up. Findings made before that are still reported. */
const notJudged = (path: string): Warning => ({
  code: "not_judged",
  message: `Checking this upload took more than ${JUDGING_MS / 1000} s of processor time and ended at ${show(path)}: this list is not whole.`,
  path,
  fix_recipe: `Make ${show(path)} simpler or leave it out, then deploy again for a whole list.`,
});

/** Words only the findings that are shown: a hostile page has a hundred thousand faults. */
function shownOf(findings: readonly Finding[]): Warning[] {
  const warnings = findings
    .slice(0, MOST)
    .map(({ code, message, path, fix_recipe }): Warning => ({ code, message, path, fix_recipe }));
  const more = findings.length - MOST;
  const last = warnings.at(-1);
  if (last && more > 0) last.message += ` There are ${more} more warnings like these.`;
  return warnings;
}

export function lint(
  draft: Draft,
  spa: { enabled: boolean; rule: SpaRule },
  progress: Progress,
  read: Pages = keepPages(),
  budget: Budget = NO_LIMIT,
  redirects: Redirects = redirectsOf(draft.files),
): Draft & { checked: Checked } {
  const { files, warnings } = draft;
  let at = "index.html";
  let read_files = 0;
  const follow: Progress = (stage, file = at) => {
    at = file;
    budget.check();
    progress(stage, file);
    if (stage === SEARCHING) read_files++;
  };
  const elsewhere =
    warnings.find(({ code }) => code === "index_elsewhere")?.path?.replace(/\/?index\.html$/, "") ?? null;
  const pages = pagesOf(draft);
  const limit = releasable(budget);
  const judge = new Judge(siteNames(files, spa, redirects, limit), elsewhere, limit);
  const walked = new Walk(files, read, judge, follow);
  const found: Finding[] = [...(draft.findings ?? [])];
  const left: Warning[] = [];
  try {
    found.push(...lintSecrets(draft, follow));
    walked.run(pages);
    const unused = (items: readonly Unanswered[]) => unusedOf(items, files, walked.styles, budget);
    found.push(...judge.findings(walked.routed, unused), ...lintContent(draft, pages, read, walked));
  } catch (error) {
    if (!(error instanceof Spent)) throw error;
    limit.release();
    found.push(...judge.findingsSoFar(walked.routed));
    left.push(notJudged(at));
  }
  return {
    ...draft,
    warnings: [...warnings, ...left, ...shownOf(foldRepeatedCauses(found))],
    checked: { pages: walked.pages_read.size, links: judge.links, files: read_files },
  };
}

// One cause, few warnings (PIPELINE 4): a file that a hundred pages miss is one thing to mend.

/** The codes of stages before the lint: their warnings stand before its own. */
type EarlierCode =
  | "secret_file_dropped"
  | "case_collision"
  | "reserved_path"
  | "name_encoding_guessed"
  | "windows_unsafe_name"
  | "markdown_too_complex"
  | "suspicious_content"
  | "index_elsewhere"
  | "not_judged";

/** A code that is in neither list does not compile: it would come before the gravest. */
const RANKS: Record<Exclude<WarningCode, EarlierCode>, true> = {
  possible_secret: true,
  unbuilt_source: true,
  template_placeholder: true,
  wrong_base_path: true,
  case_mismatch: true,
  missing_asset: true,
  server_code: true,
  localhost_url: true,
  private_network_url: true,
  mixed_content: true,
  invalid_rule: true,
  rules_over_limit: true,
  redirect_loop: true,
  header_refused: true,
  external_redirect: true,
  rule_shadowed: true,
  rule_adjusted: true,
  broken_link: true,
  huge_asset: true,
  missing_title: true,
  shown_as_code: true,
};
const GRAVEST_FIRST: readonly string[] = Object.keys(RANKS);

/** The most files named for one cause. */
const TOLD = 3;

/** The same target with another query or fragment is the same. */
const causeOf = ({ cause, target }: Finding): string => cause ?? (target.replace(/[?#][^]*$/, "") || target);

/** Stands for all files behind the first three. */
class More implements Finding {
  readonly code: WarningCode;
  readonly path: string;
  readonly target: string;
  files = 0;

  constructor({ code, path, target }: Finding) {
    this.code = code;
    this.path = path;
    this.target = target;
  }

  get message(): string {
    const [file, target] = [show(this.path), show(this.target)];
    if (this.files === 1) return `"${target}" is as wrong in 1 more file, ${file}.`;
    return `"${target}" is as wrong in ${this.files} more files, the next of which is ${file}.`;
  }
  get fix_recipe(): string {
    const [file, target] = [show(this.path), show(this.target)];
    return `Make the same change for "${target}" in ${file}${this.files > 1 ? ` and the ${this.files - 1} after it` : ""}.`;
  }
}

/** One entry for each file and cause, the gravest first; after three files of a cause, one for all the others. */
function foldRepeatedCauses(findings: readonly Finding[]): Finding[] {
  const told = new Set<string>();
  const causes = new Map<string, { files: number; more: More | null }>();
  const few: Finding[] = [];
  for (const finding of findings.toSorted((a, b) => GRAVEST_FIRST.indexOf(a.code) - GRAVEST_FIRST.indexOf(b.code))) {
    const cause = causeOf(finding);
    const key = `${finding.path}\0${cause}`;
    if (told.has(key)) continue;
    told.add(key);
    const known = causes.getOrInsertComputed(`${finding.code} ${cause}`, () => ({ files: 0, more: null }));
    if (known.files++ < TOLD) few.push(finding);
    else if (known.more === null) few.push((known.more = new More(finding)));
    if (known.more !== null) known.more.files++;
  }
  return few;
}
