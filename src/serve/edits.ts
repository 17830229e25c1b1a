/** What a site's `_headers` do to an answer of its own (BEYOND 3). What they may never touch was refused when they were
 *  read; here is what hangs on the file, the site and the host. */
import { isMarkup } from "../base/media-types.ts";
import { isPlainType } from "../rules/plain-type.ts";
import type { HeaderEdit } from "../rules/header-table.ts";
import type { HeaderEdits } from "./kept.ts";
import type { Policy } from "./policy.ts";

interface Edited {
  policy: Policy;
  /** Of the file, as the service sends it. */
  media_type: string;
  /** `missing`: a page of its own in the place of what is not there, never kept. */
  status: "found" | "unchanged" | "missing";
  /** Whether the service's own Link is on it: to the comments. */
  linked: boolean;
}

/** `headers`, changed in place: in the order of the lines. */
export function edited(headers: Headers, edits: HeaderEdits | null, answer: Edited): Headers {
  if (edits === null) return headers;
  const given = new Set<string>();
  for (const edit of answer.policy.version_host ? edits.version : edits.live) {
    if (refused(edit, answer) === null) apply(headers, edit, answer, given);
  }
  return headers;
}

const STAYS = "The service's own stays.";

/** Why a line does nothing to an answer, as a sentence; null where it does what it says. */
export function refused({ name, value }: HeaderEdit, answer: Edited): string | null {
  const { policy, media_type, status } = answer;
  const unless = (holds: boolean, why: string): string | null => (holds ? null : why);
  switch (name.toLowerCase()) {
    case "content-type":
      // The abuse scan judged by it: no page becomes anything else, and nothing else a page.
      if (isMarkup(media_type)) return "A page's type stays as it is.";
      return unless(value === null || isPlainType(value), "No file becomes a page by its type.");
    case "connection-allowlist": // of a quarantine, or what ends it
      return unless(
        policy.csp === null && (value !== null || status !== "unchanged"),
        "The service says this of a site that is or was in quarantine.",
      );
    case "content-disposition":
      return unless(value !== null, "Without it browsers would save the file under another name."); // Bun names it by its hash
    case "cache-control":
      if (status === "missing") return "A 404 is never kept.";
      return unless(policy.caching_is_theirs, "It counts on the live address of a site that has an owner.");
    case "link":
      return unless(value !== null || !answer.linked, STAYS);
    case "vary":
    case "x-robots-tag":
    case "content-security-policy":
      // A 304 takes back what a browser may have kept: that stays.
      return unless(value !== null || !(status === "unchanged" || stays(name.toLowerCase(), answer)), STAYS);
    default:
      return null;
  }
}

/** Whether the service's own stays, with theirs beside it. */
function stays(name: string, { policy, linked }: Edited): boolean {
  if (name === "vary") return true;
  if (name === "link") return linked;
  if (name === "x-robots-tag") return policy.robots !== null;
  return name === "content-security-policy" && policy.csp !== null;
}

function apply(headers: Headers, { name, value }: HeaderEdit, answer: Edited, given: Set<string>): void {
  const lower = name.toLowerCase();
  if (value === null) {
    headers.delete(lower);
    given.delete(lower);
  } else if (stays(lower, answer) || (given.has(lower) && lower !== "content-type")) headers.append(lower, value);
  else headers.set(lower, value);
  if (value !== null) given.add(lower);
}
