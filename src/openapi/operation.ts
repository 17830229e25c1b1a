/** What is said of a route: the description stands under the method and path of its row. */
import type { ErrorCode } from "../base/errors.ts";
import type { Method } from "../http/match.ts";
import type { Scope } from "../base/tokens.ts";
import type { Json, Schema } from "./schema.ts";

export type RouteName = `${Method} /${string}`;

/** Who may call. `no_one`: no credential is looked at. `anyone`: with a session it is the account's. A scope: the site's
 *  manage_token, its owner's session, or a deploy token that is good for it; null: no deploy token is (BEYOND 0). `owner`:
 *  the same without the manage_token.
 *  Of a site's own host: `reader` (what the mode lets one see), `writer` (anybody, from a page of the site itself), `author`
 *  (of what it is about, or the owner), `visitor` (who has written here), `visitor_reads`, `owner_here` (the owner's browser). */
export type Who =
  | "no_one"
  | "anyone"
  | "account"
  | { site: Scope | null }
  | { owner: Scope | null }
  | "agent"
  | "reader"
  | "writer"
  | "author"
  | "visitor"
  | "visitor_reads"
  | "owner_here";

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
  schema: Schema;
  required?: true;
}

/** By media type. */
export type Content = Readonly<Record<string, { schema: Schema; example?: Json }>>;

export interface Answer {
  description: string;
  content?: Content;
  /** Of `HEADERS`, beside those that every answer has. */
  headers?: readonly string[];
}

export interface Operation {
  id: string;
  tag: keyof typeof TAGS;
  /** A few words, without a full stop. */
  summary: string;
  description?: string;
  who: Who;
  /** Of the placeholders in its path that are no site's id. */
  path?: Readonly<Record<string, Schema>>;
  query?: readonly Parameter[];
  headers?: readonly Parameter[];
  body?: { required: boolean; content: Content; description?: string };
  answers: Readonly<Record<number, Answer>>;
  /** What it may be refused with beside what `who` and its method bring. */
  codes?: readonly ErrorCode[];
}

export type Operations = Readonly<Record<RouteName, Operation>>;

export const json = (schema: Schema, example?: Json): Content => ({
  "application/json": { schema, ...(example !== undefined && { example }) },
});
/** As JSON, or as the fields of a form. */
export const fields = (schema: Schema, example?: Json): Content => ({
  ...json(schema, example),
  "application/x-www-form-urlencoded": { schema },
});
/** 200 with JSON. */
export const ok = (description: string, schema: Schema, example?: Json): Readonly<Record<number, Answer>> => ({
  200: { description, content: json(schema, example) },
});

/** What a JSON body is refused with. */
export const JSON_CODES = ["invalid_json", "invalid_input", "body_too_large"] as const;
/** One that may be a form, too. */
export const FIELD_CODES = [...JSON_CODES, "unsupported_media_type"] as const;
