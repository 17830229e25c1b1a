/** What a page says, cut and without secrets: it is kept in the database, which holds no token (RELIABILITY A2). */
import { withoutUnseen } from "../base/visible.ts";
import { LONGEST_TEXT } from "./job.ts";

/** Ours, of every kind, and the well-known forms of others. */
const TOKENS = /\b(svc_[a-z]+_|fau_|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk_live_|rk_live_|AKIA|npm_)[\w-]{8,}/g;

export function kept(value: unknown, longest = LONGEST_TEXT): string {
  const text = withoutUnseen(typeof value === "string" ? value.slice(0, 4 * longest) : "").toWellFormed();
  const shown = text.replace(TOKENS, "$1…").replaceAll("\0", "");
  return shown.length <= longest ? shown : `${shown.slice(0, longest - 1).toWellFormed()}…`;
}

/** Data addresses are as long as what they hold. */
export const keptUrl = (value: unknown): string =>
  typeof value === "string" && value.startsWith("data:") ? kept(value, 64) : kept(value);
