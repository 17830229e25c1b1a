/** What a setting is, and how the kinds of values that several settings have are read. */
import { milliseconds, UNIT_MS } from "../base/units.ts";

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
  /** A number as it is written with its unit. */
  show?: (value: number) => string;
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

/** What may be `off`: then null. */
export const orOff =
  <T>(parse: (text: string) => T | undefined) =>
  (text: string): T | null | undefined =>
    text === "off" ? null : parse(text);

const UNIT_BYTES: Readonly<Record<string, number>> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

const bytesFrom = (form: RegExp, most: number) => (text: string) => {
  const [, amount, unit = ""] = form.exec(text.toLowerCase()) ?? [];
  const bytes = amount === undefined ? 0 : Number(amount) * UNIT_BYTES[unit.replace("b", "")]!;
  return bytes >= 1 && bytes <= most ? bytes : undefined;
};

/** `50MB`, `64kb`, `10B` or a number of bytes, at least one. */
export const size = (most: number) => bytesFrom(/^(\d{1,15})([kmg]?b)?$/, most);

/** Also `5g`, `500m`, `64k`; at most a petabyte. */
export const quotaSize = bytesFrom(/^(\d{1,15})([kmg]?b?)$/, 2 ** 50);

/** `90%` or `90`. */
export const percent = (text: string): number | undefined => integer(1, 100)(text.replace(/%$/, ""));

/** `30s`, `15m`, `12h`, `14d` → milliseconds, at least one second and at most a hundred years. */
export function duration(text: string): number | undefined {
  const parts = /^(\d{1,9})([smhd])$/.exec(text);
  if (!parts) return undefined;
  const ms = milliseconds(parts[1]!, parts[2]!);
  return ms >= 1000 && ms <= 36_500 * UNIT_MS.d ? ms : undefined;
}
