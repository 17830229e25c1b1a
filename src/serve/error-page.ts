/** Errors on site hosts: a small page for a person, the API's JSON for a program (CONTRACT 3). */
import type { ErrorCode, Refusal } from "../errors.ts";
import { document, html } from "../html/template.ts";
import { answerText, errorJson } from "../http/answers.ts";
import { type Exchange, wantsHtml } from "../http/exchange.ts";

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

/** `contact`: whom to ask where the operator refused. */
export function errorPage(request: Request, refusal: Refusal, exchange: Exchange, contact: string | null): Response {
  if (!wantsHtml(request)) return errorJson(refusal, exchange);
  const text = pageText(refusal, exchange.request_id, contact);
  return answerText(text, exchange, { ...HTML_HEADERS, ...refusal.headers }, refusal.status);
}

function pageText(refusal: Refusal, request_id: string, contact: string | null): string {
  const title = HEADINGS[refusal.code] ?? (refusal.status < 500 ? "This did not work" : "Something went wrong");
  const { reason } = refusal.details;
  return document({
    title,
    body: html`<h1>${title}</h1>
      <p>${refusal.message}</p>
      ${typeof reason === "string" && html`<p>Reason: ${reason}</p>`}
      ${contact !== null && html`<p>Questions or an appeal: ${contactLink(contact)}</p>`}
      <p class="dim">${refusal.status} · <code>${request_id}</code></p>`,
  });
}

function contactLink(contact: string) {
  if (/^https?:\/\//i.test(contact)) return html`<a href="${contact}">${contact}</a>`;
  return /^[^\s@/]+@[^\s@/]+$/.test(contact) ? html`<a href="mailto:${contact}">${contact}</a>` : contact;
}
