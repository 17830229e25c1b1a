/** A row of the API: what a call takes, who may make it, and all that it may be answered with. Who may call, the answers
 *  and the codes are in every row: one without them does not compile. */
import type { ErrorCode } from "../base/errors.ts";
import { KEPT_HEADERS } from "../http/answers.ts";
import type { Method } from "../http/match.ts";
import { integer, type Json, literal, type Shape, string } from "./shapes/builder.ts";
import type { Callers } from "./who.ts";

type RouteName = `${Method} /${string}`;

export const TAGS = {
  Deploys: "A zip becomes a site, or a new version of one.",
  Sites: "What a site's keepers read and change, with its manage_token or its owner's session.",
  Account: "What an account has. Only its own session opens it.",
  "Sign-in": "Sessions, for programs and for browsers.",
  Comments: "The comments of a site, for whoever may manage it.",
  "On a site's host": "What visitors read and write of comments, on the site's own host.",
  Server: "What the server says of itself.",
} as const;

export interface Parameter {
  name: string;
  description: string;
  shape: Shape;
  required?: true;
}

/** The content of a body, by its media type. */
export type RowContent = Readonly<Record<string, { shape: Shape; example?: Json }>>;

export interface RowAnswer {
  description: string;
  content?: RowContent;
  /** Names of `HEADERS` that it has as well as those that every answer has. */
  headers?: readonly string[];
}

export interface ApiRow<By extends Callers = Callers> {
  /** Its name in client libraries. */
  id: string;
  tag: keyof typeof TAGS;
  /** A few words, without a full stop. */
  summary: string;
  description?: string;
  who: By;
  /** The placeholders in its path that are not a site's id. */
  path?: Readonly<Record<string, Shape>>;
  query?: readonly Parameter[];
  headers?: readonly Parameter[];
  body?: { required: boolean; content: RowContent; description?: string };
  answers: Readonly<Record<number, RowAnswer>>;
  /** The codes of its refusals, without those that `who` and its method bring (`codesOf`). */
  codes: readonly ErrorCode[];
}

/** The rows by method and path, in the order of SPEC. */
export type ApiRows = Readonly<Record<RouteName, ApiRow>>;

export const json = (shape: Shape, example?: Json): RowContent => ({
  "application/json": { shape, ...(example !== undefined && { example }) },
});
/** A body as JSON, or as the fields of a form. */
export const fields = (shape: Shape, example?: Json): RowContent => ({
  ...json(shape, example),
  "application/x-www-form-urlencoded": { shape },
});
/** 200 with JSON. */
export const ok = (description: string, shape: Shape, example?: Json): Readonly<Record<200, RowAnswer>> => ({
  200: { description, content: json(shape, example) },
});

/** The codes that a JSON body is refused with. */
export const JSON_CODES = ["invalid_json", "invalid_input", "body_too_large"] as const;
/** The codes of a body that may be a form, too. */
export const FIELD_CODES = [...JSON_CODES, "unsupported_media_type"] as const;

// Headers of answers, as the document describes them.

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
