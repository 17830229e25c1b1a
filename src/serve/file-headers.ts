/** Responses and headers that are made once and shared by all requests, and the changes that a site's `_headers` make. */

import { isMarkup } from "../base/media-types.ts";
import type { Coding } from "../http/codings.ts";
import type { HeaderEdit } from "../rules/header-table.ts";
import { isPlainType } from "../rules/headers.ts";
import type { ByteBudgetCache, EncodedBody, FileAnswer, HeaderEdits } from "./cache.ts";
import { type Policy, policyHeaders, unchangedPolicyHeaders } from "./policy.ts";

/** The cost of a further response; that of the first is part of its body's cost. A file may have as many further responses
 *  as there are ways to write its path. */
const OTHER_COST = 4000;
/** The cost of headers that only some answers need: for a visitor who has the file already, or a file from the disk. */
const HEADERS_COST = 1200;

/** The fields of a new answer for which nothing is made yet. */
export const NOT_MADE = { unchanged: null, whole: null, shortcut: null } as const;

type Keep = Pick<ByteBudgetCache, "keep">;

/** A clone of a kept Response shares body and headers: 4 % less CPU than one made from the same two. */
export function whole(budget: Keep, answer: FileAnswer, policy: Policy, form: EncodedBody): Response {
  const make = () => new Response(form.blob, { headers: wholeHeaders(answer, policy, form.coding) });
  const first = (form.first ??= { answer, policy: policy.index, response: make() });
  if (first.answer === answer && first.policy === policy.index) return first.response.clone() as Response;
  const responses = ((form.others ??= [])[policy.index] ??= new WeakMap());
  let response = responses.get(answer);
  if (response === undefined) {
    responses.set(answer, (response = make()));
    keepFor(answer, budget, OTHER_COST, forgetFrom(responses));
  }
  return response.clone() as Response;
}

/** These are not closures inside the functions that use them: such a closure would hold the answer, too. */
const forgetFrom = (responses: WeakMap<FileAnswer, Response>) => (one: FileAnswer) => void responses.delete(one);
const forgetWhole = (index: number) => (one: FileAnswer) => void delete one.whole?.[index];
const forgetUnchanged = (index: number) => (one: FileAnswer) => void delete one.unchanged?.[index];

/** Counts something that was made for an answer. The answer's version may leave the cache before it; `forget` may be called
 *  at once. */
function keepFor(answer: FileAnswer, budget: Keep, cost: number, forget: (answer: FileAnswer) => void): void {
  const weak = new WeakRef(answer);
  const drop = () => {
    const kept = weak.deref();
    if (kept !== undefined) forget(kept);
  };
  budget.keep({ cost, used: false, drop });
}

/** The headers of a whole answer, for a body that is not in memory. */
export function wholeInit(budget: Keep, answer: FileAnswer, policy: Policy): { headers: Headers } {
  const known = answer.whole?.[policy.index];
  if (known !== undefined) return known;
  const init = { headers: wholeHeaders(answer, policy, "identity") };
  (answer.whole ??= [])[policy.index] = init;
  keepFor(answer, budget, HEADERS_COST, forgetWhole(policy.index));
  return init;
}

export function unchanged(budget: Keep, answer: FileAnswer, policy: Policy): Response {
  const known = answer.unchanged?.[policy.index];
  if (known !== undefined) return new Response(null, known);
  const init = { status: 304, headers: unchangedHeaders(answer, policy) };
  (answer.unchanged ??= [])[policy.index] = init;
  keepFor(answer, budget, HEADERS_COST, forgetUnchanged(policy.index));
  return new Response(null, init);
}

export function wholeHeaders(answer: FileAnswer, policy: Policy, coding: Coding): Headers {
  const { media_type } = answer.body.file;
  const headers = validators(answer, policy);
  headers.set("content-type", media_type);
  if (coding !== "identity") headers.set("content-encoding", coding);
  headers.set("accept-ranges", coding === "identity" ? "bytes" : "none");
  if (namedByBun(media_type)) headers.set("content-disposition", "inline");
  for (const [name, value] of Object.entries(policyHeaders(policy))) headers.set(name, value);
  return edited(headers, answer.edits, { policy, media_type, status: "found", linked: answer.link !== null });
}

/** True for types with which Bun sends the name of the file on the disk. That is a hash, and browsers would save the file
 *  under it (BUN 2). */
export const namedByBun = (media_type: string): boolean => /^(?:application|model)\//.test(media_type);

function unchangedHeaders(answer: FileAnswer, policy: Policy): Headers {
  const headers = validators(answer, policy);
  for (const [name, value] of Object.entries(unchangedPolicyHeaders(policy))) headers.set(name, value);
  const { media_type } = answer.body.file;
  return edited(headers, answer.edits, { policy, media_type, status: "unchanged", linked: answer.link !== null });
}

function validators(answer: FileAnswer, policy: Policy): Headers {
  const headers = new Headers({
    etag: answer.etag,
    "cache-control": policy.cache_control,
    "x-content-type-options": "nosniff",
  });
  if (answer.vary !== null) headers.set("vary", answer.vary);
  if (answer.link !== null) headers.set("link", answer.link);
  if (answer.skew !== null) headers.set("svc-skew", answer.skew);
  return headers;
}

/** The answer that a site's `_headers` change (BEYOND 3). Headers that they may never touch were refused when the file was
 *  read; `refused` decides what depends on the file, the site and the host. */
interface Edited {
  policy: Policy;
  /** The type of the file, as the service sends it. */
  media_type: string;
  /** `missing` is the site's own 404 page, which is never kept. */
  status: "found" | "unchanged" | "missing";
  /** True if the service's own Link header is on it, for the comments. */
  linked: boolean;
}

/** Changes `headers` in place, in the order of the lines. */
export function edited(headers: Headers, edits: HeaderEdits | null, answer: Edited): Headers {
  if (edits === null) return headers;
  const given = new Set<string>();
  for (const edit of answer.policy.version_host ? edits.version : edits.live) {
    if (refused(edit, answer) === null) apply(headers, edit, answer, given);
    // A browser may have kept the page with this header from before the quarantine: a 304 empties it.
    else if (answer.status === "unchanged" && edit.value !== null && isHeldBack(edit, answer)) {
      if (!headers.has(edit.name)) headers.set(edit.name, "");
    }
  }
  return headers;
}

/** Headers that have a browser report elsewhere what a page does, or call what they link to. No policy of a quarantine stops a
 *  report: it goes out at each key that is typed (RELIABILITY A28). */
const LEAD_OUT = new Set(
  "content-security-policy content-security-policy-report-only reporting-endpoints report-to nel link".split(" "),
);

const isHeldBack = ({ name }: HeaderEdit, { policy }: Edited): boolean =>
  policy.csp !== null && LEAD_OUT.has(name.toLowerCase());

const STAYS = "The service's own stays.";

/** The reason why a line does not change an answer, as a sentence. Null if it does. */
export function refused(edit: HeaderEdit, answer: Edited): string | null {
  const { name, value } = edit;
  const { policy, media_type, status } = answer;
  if (isHeldBack(edit, answer)) return "The site is in quarantine: this header would send reports or links elsewhere.";
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

/** True if the service's own value stays and the site's value is added. */
function stays(name: string, { policy, linked }: Edited): boolean {
  if (name === "vary") return true;
  if (name === "link") return linked;
  return name === "x-robots-tag" && policy.robots !== null;
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
