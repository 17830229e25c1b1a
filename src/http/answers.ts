/** Every answer of the API is made here: JSON, with the headers that all answers of ours have (CONTRACT 3). */
import { errorBody, type Refusal } from "../base/errors.ts";
import type { Exchange } from "./exchange.ts";

/** The date of the API; changes are additive (CONTRACT 3). */
const API_DATE = "2026-11-21";

/** Of all answers that are not a site's own; for those that are kept for several requests. */
export const KEPT_HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "svc-version": API_DATE,
} as const;

/** `Strict-Transport-Security` of the API's host; null where it has none: under http, and on localhost, a name that other
 *  programs of the machine share. It speaks for no subdomain: sites are other hosts, of other people. */
export function transportSecurity(base_url: string): string | null {
  const { protocol, hostname } = new URL(base_url);
  return protocol === "https:" && !/(?:^|\.)localhost$/.test(hostname) ? "max-age=31536000" : null;
}

/** The same for the answer to one request. */
const standardHeaders = ({ request_id }: Exchange) => ({ ...KEPT_HEADERS, "x-request-id": request_id });

type HeaderFields = Readonly<Record<string, string>>;

/** A text of ours; its length goes to the log. */
export function answerText(text: string, exchange: Exchange, headers: HeaderFields, status = 200): Response {
  exchange.bytes = Buffer.byteLength(text);
  return new Response(text, { status, headers: { ...standardHeaders(exchange), ...headers } });
}

export const answerJson = (body: unknown, exchange: Exchange, status = 200, headers: HeaderFields = {}): Response =>
  answerText(JSON.stringify(body), exchange, { "content-type": "application/json", ...headers }, status);

export const errorJson = (refusal: Refusal, exchange: Exchange): Response =>
  answerJson(errorBody(refusal, exchange.request_id), exchange, refusal.status, {
    ...(refusal.status === 401 && { "www-authenticate": "Bearer" }),
    ...refusal.headers,
  });

/** 204, or another without a body. */
export const answerEmpty = (exchange: Exchange, status = 204, headers: HeaderFields = {}): Response =>
  new Response(null, { status, headers: { ...standardHeaders(exchange), ...headers } });

/** After a form: the browser fetches the next page, and its reload sends nothing twice. */
export const answerRedirect = (location: string, exchange: Exchange): Response =>
  answerEmpty(exchange, 303, { location });
