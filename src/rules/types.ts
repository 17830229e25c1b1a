/** What `_redirects` and `_headers` say, read (BEYOND 2 and 3). */

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
  /** Of `https://host/path`: a pattern too; null: every host of the site. */
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
