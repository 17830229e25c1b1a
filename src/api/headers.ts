/** Headers of answers, as the document describes them. Rows name those that their answers have beside the ones of all answers. */
import { KEPT_HEADERS } from "../http/answers.ts";
import { integer, type Json, literal, type Shape, string } from "./shapes/builder.ts";

const header = (description: string, { schema }: Shape, required = true): Json => ({
  description,
  required,
  schema: schema(),
});

export const HEADERS: Readonly<Record<string, Json>> = {
  "X-Request-Id": header(
    "Of this answer; the server's log has it too.",
    string("A name.", { pattern: "^req_[0-9a-f]{16}$" }),
  ),
  "Svc-Version": header("The date of the API. Changes are additive.", literal(KEPT_HEADERS["svc-version"], "A date.")),
  "WWW-Authenticate": header("How to send a credential.", literal("Bearer", "The scheme.")),
  "Retry-After": header("Seconds to wait.", integer("A number."), false),
  RateLimit: header("What is left, and when more is (IETF draft).", string('`"deploy";r=9;t=60`.'), false),
  "RateLimit-Policy": header("Which limits hold (IETF draft).", string('`"deploy";q=10;w=60`.'), false),
  "RateLimit-Limit": header("As RateLimit, for older clients.", integer("Calls."), false),
  "RateLimit-Remaining": header("As RateLimit, for older clients.", integer("Calls."), false),
  "RateLimit-Reset": header("As RateLimit, for older clients.", integer("Seconds."), false),
  "Set-Cookie": header("Of a browser: a cookie.", string("A cookie."), false),
  "Svc-Receipt": header("The figures of the deploy (RFC 9651).", string("`files=12, bytes=188416, …, ms=612`.")),
  Location: header("Where it is, or goes on.", string("An address.")),
  ETag: header("For If-None-Match and If-Match.", string("An entity tag.")),
  "Svc-Visibility": header("`pending`: it waits for the owner.", literal("pending", "The one value."), false),
  Allow: header("What the address takes.", string("Methods.")),
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
