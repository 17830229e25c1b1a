/** Which lines of `_headers` are for an answer, and what each of them does to it (BEYOND 3 and 5). */
import { decodePath } from "../../base/percent.ts";
import type { Reached } from "../../rules/header-table.ts";
import { refused } from "../edits.ts";
import type { Answer } from "../kept.ts";
import type { Hosted } from "../locate.ts";
import { policyFor } from "../answering.ts";

export interface HeaderRule {
  /** `_headers:2`. */
  path: string;
  name: string;
  /** Null: the header is taken away. */
  value: string | null;
  applied: boolean;
  reason?: string;
}

/** More are not told. */
const MOST_RULES = 1000;

const OVER: Record<Exclude<Reached["over"], null>, string> = {
  headers: "32 headers reach one answer, and as many stand above it.",
  bytes: "8 KiB of headers reach one answer, and with it they would be more.",
};

/** `path` is percent-encoded; `host` has no port. */
export function headerRulesOf(hosted: Hosted, answer: Answer, path: string, host: string): HeaderRule[] {
  const rules: HeaderRule[] = [];
  for (const { edit, over } of hosted.version.rules.headers?.reached(decodePath(path)!, host) ?? []) {
    if (rules.length === MOST_RULES) break;
    const { line, name, value } = edit;
    const reason = over === null ? whyNot(edit, hosted, answer) : OVER[over];
    rules.push({ path: `_headers:${line}`, name, value, applied: reason === null, ...(reason !== null && { reason }) });
  }
  return rules;
}

function whyNot(edit: Reached["edit"], hosted: Hosted, answer: Answer): string | null {
  const policy = policyFor(hosted, answer);
  if (answer.kind === "redirect") return "Redirects take no headers of the site.";
  if (answer.kind === "unmatched") {
    if (answer.page === null) return "The service's own 404 takes no headers of the site.";
    return refused(edit, { policy, media_type: answer.page.file.media_type, status: "missing", linked: false });
  }
  if (answer.skew !== null) return "A former version's file takes no headers of the live one.";
  const { media_type } = answer.body.file;
  return refused(edit, { policy, media_type, status: "found", linked: answer.link !== null });
}
