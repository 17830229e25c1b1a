/** A row of the API: what a call takes, who may make it, and all that it may be answered with. Who may call, the answers
 *  and the codes are in every row: one without them does not compile. */
import type { ErrorCode } from "../base/errors.ts";
import type { Method } from "../http/match.ts";
import type { Json, Shape } from "./shapes/builder.ts";
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
  /** Names of `HEADERS` (document.ts) that it has as well as those that every answer has. */
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
