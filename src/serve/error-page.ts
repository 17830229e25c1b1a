/** Errors on site hosts: a small page for a person, the API's JSON for a program (CONTRACT 3). */
import type { ErrorCode, Refusal } from "../base/errors.ts";
import { contactLink } from "../html/contact.ts";
import { document, html, type Html } from "../html/template.ts";
import { answerText, errorJson } from "../http/answers.ts";
import { type Exchange, pathOf, wantsHtml } from "../http/exchange.ts";
import { decodePath } from "../base/percent.ts";
import { visible } from "../base/visible.ts";
import { confineError } from "./policy.ts";

/** What a person reads first. The refusal's sentence follows it. */
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

/** Asks for nothing but the style that stands in it. */
const HTML_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
};

/** A narrow column with one way on. */
const STYLE = `main{max-width:37rem;margin:0 auto;padding:clamp(2rem,8vw,4rem) 1.5rem;display:grid;gap:16px}
h1{font-size:1.75rem}h1+p{margin-top:-4px}.mono{line-height:1}.button{justify-self:start;margin:8px 0 16px}p:last-child{margin-top:8px}`;

/** `contact`: whom to ask where the operator refused. A site whose time is over was refused by nobody. */
export function errorPage(request: Request, refusal: Refusal, exchange: Exchange, contact: string | null): Response {
  if (!wantsHtml(request)) return confineError(asJson(refusal, exchange), exchange);
  const text = pageText(request, refusal, exchange, contact);
  const answer = answerText(text, exchange, { ...refusal.headers, ...HTML_HEADERS }, refusal.status);
  return confineError(answer, exchange);
}

/** A page of the site may frame it, and run code there: a text, too, is a page then. */
function asJson(refusal: Refusal, exchange: Exchange): Response {
  const answer = errorJson(refusal, exchange);
  answer.headers.set("content-security-policy", "default-src 'none'");
  return answer;
}

/** On a site that is there, what was asked for and the way to its start page. */
function pageText(request: Request, refusal: Refusal, { request_id }: Exchange, contact: string | null): string {
  const title = HEADINGS[refusal.code] ?? "This did not work";
  const { reason } = refusal.details;
  const missing = refusal.code === "not_found";
  const asks = refusal.code === "site_disabled" ? contact : null;
  const host = request.headers.get("host");
  return document({
    title,
    style: STYLE,
    body: html`<p class="dim small mono">${refusal.status}</p>
      <h1>${title}</h1>
      <p class="dim lead">${missing ? whatIsMissing(request) : refusal.message}</p>
      ${typeof reason === "string" && html`<p>Reason: <span dir="auto">${reason}</span></p>`}
      ${missing && html`<a class="button" href="/">Go to the start page</a>`}
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
