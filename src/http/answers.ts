/** Every answer of the API is made here: JSON, with the headers that all of them have (CONTRACT.md 3). */
import { errorBody, type Refusal } from "../errors.ts";
import { API_DATE, type Exchange } from "./exchange.ts";

export function answerJson(
  body: unknown,
  exchange: Exchange,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const text = JSON.stringify(body);
  exchange.bytes = Buffer.byteLength(text);
  return new Response(text, {
    status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-request-id": exchange.request_id,
      "svc-version": API_DATE,
      ...headers,
    },
  });
}

export const errorJson = (refusal: Refusal, exchange: Exchange): Response =>
  answerJson(errorBody(refusal, exchange.request_id), exchange, refusal.status, {
    ...(refusal.status === 401 && { "www-authenticate": "Bearer" }),
    ...refusal.headers,
  });

/** After a form: the browser fetches the next page, and its reload sends nothing twice. */
export const answerRedirect = (location: string, exchange: Exchange): Response =>
  new Response(null, {
    status: 303,
    headers: {
      location,
      "cache-control": "no-store",
      "x-request-id": exchange.request_id,
      "svc-version": API_DATE,
    },
  });
