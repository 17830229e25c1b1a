/** Headers that answers are described with. */
import { KEPT_HEADERS } from "../http/answers.ts";
import { always, type Json, type Schema, text, whole } from "./schema.ts";

const header = (description: string, schema: Schema, required = true): Json => ({ description, required, schema });

export const HEADERS: Readonly<Record<string, Json>> = {
  "X-Request-Id": header(
    "Of this answer; the server's log has it too.",
    text("A name.", { pattern: "^req_[0-9a-f]{16}$" }),
  ),
  "Svc-Version": header("The date of the API. Changes are additive.", always(KEPT_HEADERS["svc-version"], "A date.")),
  "WWW-Authenticate": header("How to send a credential.", always("Bearer", "The scheme.")),
  "Retry-After": header("Seconds to wait.", whole("A number."), false),
  RateLimit: header("What is left, and when more is (IETF draft).", text('`"deploy";r=9;t=60`.'), false),
  "RateLimit-Policy": header("Which limits hold (IETF draft).", text('`"deploy";q=10;w=60`.'), false),
  "RateLimit-Limit": header("As RateLimit, for older clients.", whole("Calls."), false),
  "RateLimit-Remaining": header("As RateLimit, for older clients.", whole("Calls."), false),
  "RateLimit-Reset": header("As RateLimit, for older clients.", whole("Seconds."), false),
  "Set-Cookie": header("Of a browser: a cookie.", text("A cookie."), false),
  Location: header("Where it is, or goes on.", text("An address.")),
  ETag: header("For If-None-Match and If-Match.", text("An entity tag.")),
  "Svc-Visibility": header("`pending`: it waits for the owner.", always("pending", "The one value."), false),
  Allow: header("What the address takes.", text("Methods.")),
};

export const OF_ALL: readonly string[] = ["X-Request-Id", "Svc-Version"];
export const OF_LIMITED: readonly string[] = [
  "RateLimit",
  "RateLimit-Policy",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
];

export const headersOf = (names: readonly string[]): { [name: string]: Json } =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
