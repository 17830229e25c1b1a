/** `_redirects` and `_headers`: what a line says, and what answers a path by them. The rules that a version brings in
 *  its own files. */
import type { Bytes } from "../base/types.ts";
import { createHeaderTable, type HeaderTable } from "./header-table.ts";
import { readHeaders } from "./headers.ts";
import { readRedirects, type Redirects } from "./redirects.ts";
export { MOST_RULE_BYTES } from "./lines.ts";
import { createTable, type RuleTable } from "./table.ts";

export interface VersionRules {
  /** Null: there is no rule that counts. */
  redirects: RuleTable | null;
  headers: HeaderTable | null;
}

export const NO_RULES: VersionRules = { redirects: null, headers: null };

/** Null: there is no rule that counts. */
export const tableOf = ({ rules }: Redirects): RuleTable | null => (rules.length === 0 ? null : createTable(rules));

/** Null for a file that the version does not have. Its mistakes were reported at the deploy. */
export function rulesOf(redirects: Bytes | null, headers: Bytes | null): VersionRules {
  const blocks = headers === null ? [] : readHeaders(headers).blocks;
  return {
    redirects: redirects === null ? null : tableOf(readRedirects(redirects)),
    headers: blocks.length === 0 ? null : createHeaderTable(blocks),
  };
}
