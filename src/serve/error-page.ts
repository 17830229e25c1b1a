/** Errors on site hosts: a small page for a person, the API's JSON for a program (CONTRACT.md 3). */
import type { Config } from "../config/index.ts";
import { errorBody, type ErrorCode, type Refusal } from "../errors.ts";
import { document, html } from "../html/template.ts";
import { API_DATE, type Exchange, wantsHtml } from "../http/exchange.ts";

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

export function errorPage(
  request: Request,
  refusal: Refusal,
  exchange: Exchange,
  { contact }: Pick<Config, "contact">,
): Response {
  const page = wantsHtml(request);
  const body = new TextEncoder().encode(
    page ? pageText(refusal, exchange.request_id, contact) : JSON.stringify(errorBody(refusal, exchange.request_id)),
  );
  exchange.bytes = request.method === "HEAD" ? 0 : body.byteLength;
  return new Response(body, {
    status: refusal.status,
    headers: {
      "content-type": page ? "text/html; charset=utf-8" : "application/json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-request-id": exchange.request_id,
      "svc-version": API_DATE,
      ...(page ? { "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'" } : {}),
      ...refusal.headers,
    },
  });
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
