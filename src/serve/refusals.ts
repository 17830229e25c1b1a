/** What serving refuses, each with the sentence that a visitor reads. On a site that is there, its
 *  policy holds too. */
import { Refusal } from "../base/errors.ts";
import { type Policy, policyHeaders } from "./policy.ts";

export const unknownHost = () =>
  new Refusal("unknown_host", "No site has this address. Check the spelling, or deploy one with: svc <folder>");
export const unknownVersion = () =>
  new Refusal(
    "unknown_version",
    "This site has no such version. Check the part of the address before the two hyphens.",
  );
export const expired = () =>
  new Refusal(
    "site_expired",
    "Sites without an account are kept for a limited time, and this one's is over. Deploy it again to get a new address.",
  );
export const disabled = (reason: string | null, by: { base_url: string; contact: string | null }) =>
  new Refusal(
    "site_disabled",
    "The operator of this service has disabled this site.",
    { reason, ...(by.contact === null ? {} : { appeal: by.contact }) },
    { link: `<${by.base_url}>; rel="blocked-by"` },
  );
export const notFound = (policy: Policy) =>
  new Refusal(
    "not_found",
    "The site has no page at this address. Check the spelling: letter case counts.",
    {},
    policyHeaders(policy),
  );
export const noWorker = (policy: Policy) =>
  new Refusal(
    "not_found",
    "A site in quarantine has no service worker. Ask whoever runs this server to look at the site.",
    {},
    policyHeaders(policy),
  );
export const methodNotAllowed = (policy: Policy) =>
  new Refusal(
    "method_not_allowed",
    "A site's pages are read with GET or HEAD.",
    {},
    { allow: "GET, HEAD", ...policyHeaders(policy) },
  );

export const preconditionFailed = (policy: Policy): Refusal =>
  new Refusal(
    "precondition_failed",
    "The page is not the one that If-Match names: it has changed since. Ask without If-Match.",
    {},
    policyHeaders(policy),
  );

export const rangeNotSatisfiable = (size: number, policy: Policy): Refusal =>
  new Refusal(
    "range_not_satisfiable",
    `The file has ${size} bytes: ask for a range that begins before its end.`,
    { size },
    { "content-range": `bytes */${size}`, ...policyHeaders(policy) },
  );
