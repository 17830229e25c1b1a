/** The answers of a call, by status: its own, and what it is refused with. */
import { type ErrorCode, statusOf } from "../base/errors.ts";
import { MEANING } from "./codes.ts";
import { headersOf, OF_ALL, OF_LIMITED } from "./headers.ts";
import type { Operation } from "./operation.ts";
import { type Json, object, ref, type Schema } from "./schema.ts";
import { codesOf } from "./security.ts";

type Responses = { [status: string]: Json };

const WAITS: ReadonlySet<number> = new Set([429, 503, 507]);

function headersOfError(status: number): readonly string[] {
  if (status === 401) return [...OF_ALL, "WWW-Authenticate"];
  if (status === 429) return [...OF_ALL, "Retry-After", ...OF_LIMITED];
  return WAITS.has(status) ? [...OF_ALL, "Retry-After"] : OF_ALL;
}

/** Calls that are refused with the same share a response; its name says with what. */
const nameOf = (status: number, codes: readonly ErrorCode[]): string => [status, ...codes].join(".");

function errorResponse(status: number, codes: readonly ErrorCode[]): Json {
  const code: Schema = codes.length === 1 ? { const: codes[0]! } : { enum: codes };
  return {
    description: codes.map((one) => `\`${one}\`: ${MEANING[one]}.`).join(" "),
    headers: headersOf(headersOfError(status)),
    content: { "application/json": { schema: { allOf: [ref("Error"), object({ code })] } } },
  };
}

function byStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const found = new Map<number, ErrorCode[]>();
  for (const code of codes) found.getOrInsertComputed(statusOf(code), () => []).push(code);
  return found;
}

/** `shared`: the responses of errors, by name, for `components`. */
export function responsesOf(method: string, operation: Operation, shared: Map<string, Json>): Responses {
  const codes = codesOf(method, operation);
  const limited = codes.includes("rate_limited");
  const responses: Responses = {};
  for (const [status, { description, content, headers = [] }] of Object.entries(operation.answers)) {
    const names = [...OF_ALL, ...headers, ...(limited && status < "300" ? OF_LIMITED : [])];
    responses[status] = { description, headers: headersOf(names), ...(content && { content }) };
  }
  for (const [status, ofStatus] of byStatus(codes)) {
    const name = nameOf(status, ofStatus);
    shared.getOrInsertComputed(name, () => errorResponse(status, ofStatus));
    responses[String(status)] = { $ref: `#/components/responses/${name}` };
  }
  return responses;
}
