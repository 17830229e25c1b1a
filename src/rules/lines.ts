/** The common part of `_redirects` and `_headers`: a text of lines, each of which can be wrong alone (BEYOND 2 and
 *  3). */

import type { Bytes } from "../base/types.ts";
import { visible } from "../base/visible.ts";

/** A file that is larger has no rule. */
export const MOST_RULE_BYTES = 100 * 1024;
const MAX_LINE = 2000;

interface Line {
  /** From 1. */
  line: number;
  text: string;
}

interface Read {
  lines: Line[];
  problems: RuleProblem[];
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The lines of a file; those that are too long are problems. A file that is too large, or no UTF-8, has no line. */
export function readLines(file: Bytes, name: string): Read {
  if (file.length > MOST_RULE_BYTES) {
    return none(
      `${name} is over 100 KiB, so no line of it counts.`,
      "Make it shorter: a * or :name stands for many paths.",
    );
  }
  let text: string;
  try {
    text = utf8.decode(file);
  } catch {
    return none(`${name} is not UTF-8, so no line of it counts.`, `Save ${name} as UTF-8.`);
  }
  const lines = text
    .split("\n")
    .map((text, i) => ({ line: i + 1, text: text.endsWith("\r") ? text.slice(0, -1) : text }));
  const long = lines.filter(({ text }) => text.length > MAX_LINE);
  return {
    lines: lines.filter(({ text }) => text.length <= MAX_LINE),
    problems: long.map(({ line }) => invalid(line, "The line is over 2,000 characters", "Make the line shorter.")),
  };
}

const none = (message: string, fix_recipe: string): Read => ({
  lines: [],
  problems: [{ code: "invalid_rule", line: 1, message, fix_recipe }],
});

/** The line does nothing. `what` is a sentence without its end. */
export const invalid = (line: number, what: string, fix_recipe: string): RuleProblem => ({
  code: "invalid_rule",
  line,
  message: `${what}; the line does nothing.`,
  fix_recipe,
});

/** The line works, not as it is written. */
export const adjusted = (line: number, what: string, fix_recipe: string): RuleProblem => ({
  code: "rule_adjusted",
  line,
  message: `${what}.`,
  fix_recipe,
});

/** A stranger's text in a sentence. */
export function brief(written: string): string {
  const characters = [...written.slice(0, 200)];
  return visible(characters.length > 60 ? `${characters.slice(0, 60).join("")}…` : written);
}

// The parsed lines of `_redirects` and `_headers` (BEYOND 2 and 3).

/** A line of `_redirects`. */
export interface RedirectRule {
  line: number;
  /** As written, without its comment. */
  text: string;
  /** Percent-encoded, as a pattern: `*`, `:name`. */
  from: string;
  /** `/…` or `https://…`, percent-encoded, with `:splat` and `:name` in it. */
  to: string;
  status: number;
  /** It wins over files. */
  forced: boolean;
}

/** It sends visitors to another address; else it shows a file under the one that was asked (200, 404). */
export const leadsOn = ({ status }: Pick<RedirectRule, "status">): boolean => status >= 300 && status < 400;

/** A block of `_headers`. */
export interface HeaderBlock {
  line: number;
  /** Percent-encoded, as a pattern. */
  path: string;
  /** The host of `https://host/path`, a pattern too. Null means every host of the site. */
  host: string | null;
  lines: HeaderLine[];
}

interface HeaderLine {
  line: number;
  name: string;
  /** Null: the header is taken away. */
  value: string | null;
}

/** A line that does nothing, or not what was written. */
export interface RuleProblem {
  code:
    | "invalid_rule"
    | "rule_adjusted"
    | "rule_shadowed"
    | "rules_over_limit"
    | "redirect_loop"
    | "external_redirect"
    | "header_refused";
  line: number;
  message: string;
  fix_recipe: string;
}
