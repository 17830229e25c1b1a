/** What a setting is, and how the kinds of values that several settings have are read. */
import { milliseconds, UNIT_MS } from "../units.ts";

export interface Setting<T> {
  /** Null: a variable only. */
  flag: string | null;
  /** The first that is set counts. */
  variables: readonly string[];
  /** Null: not set. */
  fallback: string | null;
  meaning: string;
  /** Completes "it must be …". */
  allowed: string;
  /** Undefined: not allowed. */
  parse: (text: string) => T | undefined;
  secret?: true;
}

export const integer = (least: number, most: number) => (text: string) => {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  return value >= least && value <= most ? value : undefined;
};
export const oneOf =
  <const T extends string>(...words: T[]) =>
  (text: string): T | undefined =>
    words.find((word) => word === text);
export const filled = (text: string): string | undefined => text.trim() || undefined;

/** `30s`, `15m`, `12h`, `14d` → milliseconds, at least one second and at most a hundred years. */
export function duration(text: string): number | undefined {
  const parts = /^(\d{1,9})([smhd])$/.exec(text);
  if (!parts) return undefined;
  const ms = milliseconds(parts[1]!, parts[2]!);
  return ms >= 1000 && ms <= 36_500 * UNIT_MS.d ? ms : undefined;
}
