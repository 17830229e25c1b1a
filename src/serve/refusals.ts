/** The refusals of serving, each with the sentence that a visitor reads, and their answer on a site's host: a small page for
 *  a person, the API's JSON for a program (CONTRACT 3). If the site exists, its policy holds for them too. */

import { errorBody, type ErrorCode, Refusal } from "../base/errors.ts";
import { dayIn } from "../base/units.ts";
import { decodePath } from "../base/percent.ts";
import { visible } from "../base/visible.ts";
import { contactLink, document } from "../html/document.ts";
import { html, type Html } from "../html/template.ts";
import type { Site } from "../base/types.ts";
import { answerText, errorJson, KEPT_HEADERS } from "../http/answers.ts";
import { type Exchange, pathOf, wantsHtml } from "../http/exchange.ts";
import { confineError, type Policy, policyHeaders } from "./policy.ts";

export const unknownHost = () => new Refusal("unknown_host", "No site has this address. Check the spelling.");
export const unknownVersion = () =>
  new Refusal(
    "unknown_version",
    "This site has no such version. Check the part of the address before the two hyphens.",
  );
/** The answer of a version in which a secret was seen, while another one is live: what one gets that never was (BEYOND 9). */
export class WithheldVersion extends Refusal {
  constructor() {
    const { code, message } = unknownVersion();
    super(code, message);
  }
}
/** `ended_at`: ISO 8601. */
export const expired = (ended_at: string, now: number) =>
  new Refusal("site_expired", `This site was published without an account and ended on ${dayIn(ended_at, now)}.`);
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
    "A site in quarantine has no service worker. Ask the operator of this server to look at the site.",
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

/** The refusal of a site that wants a password (BEYOND 8). It says nothing of the site, and the same at every path. */
export class AccessRefusal extends Refusal {
  constructor(
    code: "password_required" | "wrong_password",
    /** The path of the host that a browser goes to once it is let in. */
    readonly next: string,
  ) {
    super(
      code,
      code === "wrong_password" ? "That password is wrong. Ask whoever sent you this address." : WANTS_PASSWORD,
    );
  }
}

const WANTS_PASSWORD =
  "This site wants a password: send it by Basic authentication with any user name, or enter it in a browser.";

/** For a request that was let through before the site had its password. */
export function refuseUnlessAdmitted({ access_hash }: Site, exchange: Exchange): void {
  if (access_hash === null || exchange.admitted) return;
  exchange.shut = true;
  throw new AccessRefusal("password_required", "/");
}

/** No cache may keep an answer of a site that wants a password, or give it to others. */
export function keepPrivate({ headers }: Response): void {
  const vary = headers.get("vary");
  headers.set("cache-control", "private, no-store");
  headers.set("vary", vary === null ? "Cookie, Authorization" : `${vary}, Cookie, Authorization`);
  headers.set("x-robots-tag", "noindex");
}

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

/** The headings of error pages. The refusal's sentence follows. */
const HEADINGS: Partial<Record<ErrorCode, string>> = {
  unknown_host: "There is no site here",
  unknown_version: "There is no such version",
  not_found: "There is no such page",
  site_expired: "This site has expired",
  site_disabled: "This site is not available",
  invalid_path: "This address cannot be read",
  invalid_host: "This address cannot be read",
  method_not_allowed: "This page can only be read",
};

/** The page loads nothing; its style is in it. */
const HTML_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
};

/** A narrow column with one button. */
const STYLE = `main{max-width:37rem;margin:0 auto;padding:clamp(2rem,8vw,4rem) 1.5rem;display:grid;gap:16px}
h1{font-size:1.75rem}h1+p{margin-top:-4px}.mono{line-height:1}.button{justify-self:start;margin:8px 0 16px}p:last-child{margin-top:8px}`;

/** The ways on from an error page. */
interface WaysOn {
  /** Shown if the operator disabled the site. An expired site needs no appeal. */
  contact: string | null;
  base_url: string;
}

/** `ways` is null for a page that is missing on a site that is there. */
export function errorPage(request: Request, refusal: Refusal, exchange: Exchange, ways: WaysOn | null): Response {
  if (refusal instanceof AccessRefusal) return accessPage(request, refusal, exchange);
  if (!wantsHtml(request)) return confineError(asJson(refusal, exchange), exchange);
  const text = pageText(request, refusal, exchange, ways);
  const answer = answerText(text, exchange, { ...refusal.headers, ...HTML_HEADERS }, refusal.status);
  return confineError(answer, exchange);
}

/** The JSON has a policy too, because a page of the site may frame it and run code there. */
const JSON_POLICY = { "content-security-policy": "default-src 'none'" };

function asJson(refusal: Refusal, exchange: Exchange): Response {
  const answer = errorJson(refusal, exchange);
  for (const [name, value] of Object.entries(JSON_POLICY)) answer.headers.set(name, value);
  return answer;
}

export type AnswerNotFound = (request: Request, policy: Policy, exchange: Exchange) => Response;

/** The 404 of a site that has no page for it. Crawlers ask for it by the thousand, so it is made without an Error, whose stack
 *  takes as long as all the rest, and with headers that answers of one policy share. */
export function createNotFound(refused: (code: ErrorCode) => void): AnswerNotFound {
  const kept: { refusal: Refusal; before_id: string; init: { status: number; headers: Headers } }[] = [];

  function keep(policy: Policy) {
    const refusal = notFound(policy);
    const text = JSON.stringify(errorBody(refusal, ""));
    const headers = new Headers({
      ...KEPT_HEADERS,
      "content-type": "application/json",
      ...refusal.headers,
      ...JSON_POLICY,
    });
    return { refusal, before_id: text.slice(0, text.lastIndexOf('"}')), init: { status: refusal.status, headers } };
  }
  return (request, policy, exchange) => {
    const { refusal, before_id, init } = (kept[policy.index] ??= keep(policy));
    refused(refusal.code);
    exchange.code = refusal.code;
    if (wantsHtml(request)) return errorPage(request, refusal, exchange, null);
    const text = `${before_id}${exchange.request_id}"}`;
    exchange.bytes = text.length; // ASCII
    init.headers.set("x-request-id", exchange.request_id);
    return new Response(text, init);
  };
}

/** Most visitors of an address without a site followed a link: from its page they can make one of their own. */
const NO_SITE: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["unknown_host", "site_expired"]);

function wayOn({ code }: Refusal, ways: WaysOn | null): Html | false {
  if (code === "rate_limited") return html`<a class="button" href="/">Go to the start page</a>`;
  if (code === "not_found") return html`<a class="button" href="/">Go to the start page</a>`;
  return ways !== null && NO_SITE.has(code) && html`<a class="button" href="${ways.base_url}">Publish a site here</a>`;
}

/** The text of the error page. On a site that exists it names the path and links to the start page. */
function pageText(request: Request, refusal: Refusal, { request_id }: Exchange, ways: WaysOn | null): string {
  const title = HEADINGS[refusal.code] ?? "This did not work";
  const { reason } = refusal.details;
  const missing = refusal.code === "not_found";
  const asks = refusal.code === "site_disabled" ? (ways?.contact ?? null) : null;
  const host = request.headers.get("host");
  return document({
    title,
    style: STYLE,
    body: html`<p class="dim small mono">${refusal.status}</p>
      <h1>${title}</h1>
      <p class="dim lead">${missing ? whatIsMissing(request) : refusal.message}</p>
      ${typeof reason === "string" && html`<p>Reason: <span dir="auto">${reason}</span></p>`} ${wayOn(refusal, ways)}
      <p class="dim small">
        ${host !== null && `${host} · `}${request_id}
        ${asks !== null && html`<br />Questions or an appeal: ${contactLink(asks)}`}
      </p>`,
  });
}

function whatIsMissing(request: Request): Html {
  const path = pathOf(request.url);
  const name = visible(decodePath(path) ?? path);
  return html`The site has no page at <code dir="auto">${name}</code>. Check the spelling: letter case counts.`;
}

/** Browsers would show a box of their own for a scheme that they know. */
const schemeFor = (request: Request): string =>
  wantsHtml(request) ? "Svc-Password" : `Basic realm="${request.headers.get("host")}", charset="UTF-8"`;

/** Asks for the password: a page that names the host alone and needs no script, or JSON. */
function accessPage(request: Request, refusal: AccessRefusal, exchange: Exchange): Response {
  const headers = { ...HTML_HEADERS, "content-security-policy": ACCESS_POLICY };
  const answer = wantsHtml(request)
    ? answerText(accessText(request, refusal, exchange), exchange, headers, refusal.status)
    : asJson(refusal, exchange);
  answer.headers.set("www-authenticate", schemeFor(request));
  return confineError(answer, exchange);
}

const ACCESS_STYLE = `form{display:grid;gap:8px;max-width:22rem}label{font-weight:600;color:var(--strong)}
.field{font:inherit;min-height:44px;padding:8px 12px;border:1px solid var(--edge);border-radius:6px;background:var(--paper);color:var(--strong)}
.wrong{color:var(--danger)}form .button{min-height:44px;background:var(--accent);border-color:var(--accent);color:var(--paper)}`;
const ACCESS_POLICY = `${HTML_HEADERS["content-security-policy"]}; form-action 'self'; frame-ancestors 'self'; base-uri 'none'`;

function accessText(request: Request, { code, message, next }: AccessRefusal, { request_id }: Exchange): string {
  const host = request.headers.get("host");
  const wrong = code === "wrong_password";
  const described = wrong && html`aria-invalid="true" aria-describedby="wrong"`;
  return document({
    title: "Password",
    style: STYLE + ACCESS_STYLE,
    body: html`<h1>This site has a password</h1>
      <p class="dim lead">${host}</p>
      <form method="post" action="/_svc/access">
        <input type="hidden" name="next" value="${next}" />
        <label for="password">Password</label>
        <input
          id="password"
          class="field"
          type="password"
          name="password"
          required
          autofocus
          autocomplete="current-password"
          ${described}
        />
        ${wrong && html`<p id="wrong" class="wrong" role="alert">${message}</p>`}
        <button class="button">Show the site</button>
      </form>
      <p class="dim small">${request_id}</p>`,
  });
}
