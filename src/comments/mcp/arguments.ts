/** Readers of a tool's arguments, one by one: the schemas say what is right, the refusals here what was wrong. */
import { Refusal } from "../../base/errors.ts";
import { type Members, member } from "./rpc.ts";

const invalid = (name: string, why: string): Refusal =>
  new Refusal("invalid_input", `"${name}" ${why}.`, { field: name });

/** Throws if there is an argument that is not in the list. */
export function refuseOthers(sent: Members, known: readonly string[]): void {
  const other = Object.keys(sent).find((name) => !known.includes(name));
  if (other !== undefined) throw new Refusal("invalid_input", `This tool takes ${known.join(", ")}, and nothing else.`);
}

/** Null if it was left out. */
export function optionalText(sent: Members, name: string, longest: number): string | null {
  const value = member(sent, name) ?? null;
  if (value === null) return null;
  if (typeof value === "string" && value !== "" && value.length <= longest && value.isWellFormed()) return value;
  throw invalid(name, `must be a text of 1 to ${longest} characters`);
}

export function text(sent: Members, name: string, longest: number): string {
  const value = optionalText(sent, name, longest);
  if (value === null) throw invalid(name, "is missing");
  return value;
}

/** A positive whole number; a larger one becomes `most`. */
export function count(sent: Members, name: string, most: number): number {
  const value = member(sent, name) ?? most;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1) return Math.min(value, most);
  throw invalid(name, "must be a positive whole number");
}

export function oneOf<const T extends string>(sent: Members, name: string, words: readonly T[], fallback: T): T {
  const value = member(sent, name) ?? fallback;
  const found = words.find((word) => word === value);
  if (found === undefined) throw invalid(name, `is one of ${words.join(", ")}`);
  return found;
}

const ISO = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/** A time of ISO 8601 as the store writes it; null if it was left out. */
export function time(sent: Members, name: string): string | null {
  const value = optionalText(sent, name, 40);
  if (value === null) return null;
  const at = ISO.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(at)) throw invalid(name, "is a time such as 2026-11-21T09:30:00Z");
  return new Date(at).toISOString();
}
