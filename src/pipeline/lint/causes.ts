/** One cause, few warnings (PIPELINE 4): a file that a hundred pages miss is one thing to mend. */
import type { Finding, WarningCode } from "../../base/types.ts";
import { show } from "../show.ts";

const GRAVEST_FIRST: readonly WarningCode[] = [
  "possible_secret",
  "unbuilt_source",
  "template_placeholder",
  "wrong_base_path",
  "case_mismatch",
  "missing_asset",
  "server_code",
  "localhost_url",
  "private_network_url",
  "mixed_content",
  "invalid_rule",
  "rules_over_limit",
  "redirect_loop",
  "header_refused",
  "external_redirect",
  "rule_shadowed",
  "rule_adjusted",
  "broken_link",
  "huge_asset",
  "missing_title",
  "shown_as_code",
];

/** Files that are told by name for each cause. */
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
export function fewOf(findings: readonly Finding[]): Finding[] {
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
