/** What the API tells of an address (BEYOND 5), with the members that the CLI reads. */
import { BOOLEAN, fields, listOf, NUMBER, orNone, orNull, TEXT } from "./shape.ts";

interface HeaderRule {
  path: string;
  name: string;
  applied: boolean;
  reason?: string;
}

interface Step {
  step: string;
  matched: boolean;
  why: string;
}

export interface Explained {
  url: string;
  version_id: string;
  live: boolean;
  status: number;
  by: string;
  file: { path: string } | null;
  rule: { path: string; text: string } | null;
  headers: Record<string, string>;
  header_rules: HeaderRule[];
  steps: Step[];
}

const HEADERS = (value: unknown): string | null =>
  typeof value === "object" && value !== null && Object.values(value).every((one) => typeof one === "string")
    ? null
    : "";

export const EXPLAINED = fields<Explained>({
  url: TEXT,
  version_id: TEXT,
  live: BOOLEAN,
  status: NUMBER,
  by: TEXT,
  file: orNull(fields<{ path: string }>({ path: TEXT })),
  rule: orNull(fields<{ path: string; text: string }>({ path: TEXT, text: TEXT })),
  headers: HEADERS,
  header_rules: listOf(fields<HeaderRule>({ path: TEXT, name: TEXT, applied: BOOLEAN, reason: orNone(TEXT) })),
  steps: listOf(fields<Step>({ step: TEXT, matched: BOOLEAN, why: TEXT })),
});
