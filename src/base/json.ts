/** A stranger's JSON: reading it, or asking for a member of it, is safe whatever it holds. */
import { Refusal } from "./errors.ts";

export type Json = { [member: string]: Json } | Json[] | string | number | boolean | null | undefined;

export const member = (value: Json, name: string): Json =>
  value && typeof value === "object" && !Array.isArray(value) ? value[name] : undefined;

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A member that the object has itself; undefined without one, and of what is no object. */
export const ownMember = (object: unknown, name: string): unknown =>
  isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;

const DEPTH = 32;

/** The message goes into the middle of a sentence. */
export class NotJson extends Error {}

export const invalidJson = (why: string): Refusal =>
  new Refusal("invalid_json", `The body must be a JSON object (${why}).`);

/** A string without a closing quote is taken to the end of the text: else the search would begin again at each quote in it. */
const TOKEN = /"(?:[^"\\]|\\.)*\\?(?:"|$)|[[{\]}]/gs;

/** Whether `[` and `{` outside strings nest deeper than `most`: asked before parsing, which would take the stack. */
function nestsDeeper(text: string, most: number): boolean {
  let depth = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "[" || token === "{") depth++;
    else if (token === "]" || token === "}") depth--;
    if (depth > most) return true;
  }
  return false;
}

/** Parses JSON of at most 32 levels. Throws `NotJson`. */
export function parseJson(text: string): unknown {
  if (nestsDeeper(text, DEPTH)) throw new NotJson(`nested deeper than ${DEPTH} levels`);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new NotJson("it cannot be parsed");
  }
}

/** Decodes UTF-8. Throws `NotJson` if the bytes are something else. */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new NotJson("it is not UTF-8");
  }
}
