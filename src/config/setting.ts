/** The parts of a setting, and how values are read that several settings share: numbers, sizes, durations. */
import { isAbsolute, relative, resolve, sep } from "node:path";
import { milliseconds, UNIT_MS } from "../base/units.ts";

export interface Setting<T> {
  /** Null if it has a variable only. */
  flag: string | null;
  /** The first one that is set counts. */
  variables: readonly string[];
  /** The default, as it would be written; null for none. */
  fallback: string | null;
  meaning: string;
  /** Completes "it must be …". */
  allowed: string;
  /** Undefined for a value that is not allowed. */
  parse: (text: string) => T | undefined;
  /** Writes a number with its unit. */
  show?: (value: number) => string;
  secret?: true;
}

const UNIT_BYTES: Readonly<Record<string, number>> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

const bytesFrom = (form: RegExp, most: number) => (text: string) => {
  const [, amount, unit = ""] = form.exec(text.toLowerCase()) ?? [];
  const bytes = amount === undefined ? 0 : Number(amount) * UNIT_BYTES[unit.replace("b", "")]!;
  return bytes >= 1 && bytes <= most ? bytes : undefined;
};

/** Reads `50MB`, `64kb`, `10B` or a number of bytes, at least one. */
export const size = (most: number) => bytesFrom(/^(\d{1,15})([kmg]?b)?$/, most);

/** Reads a size, also as `5g`, `500m` or `64k`; at most a petabyte. */
export const quotaSize = bytesFrom(/^(\d{1,15})([kmg]?b?)$/, 2 ** 50);

/** Reads `30s`, `15m`, `12h` or `14d` as milliseconds, at least one second and at most a hundred years. */
export function duration(text: string): number | undefined {
  const parts = /^(\d{1,9})([smhd])$/.exec(text);
  if (!parts) return undefined;
  const ms = milliseconds(parts[1]!, parts[2]!);
  return ms >= 1000 && ms <= 36_500 * UNIT_MS.d ? ms : undefined;
}

/** A bucket's name as Amazon has it, and the folders in it. */
export const BUCKET = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/(?!\.\.?(?:\/|$))[\w!.*'()-]+)*)\/?$/;

/** Whether the path is the folder or leads into it, by its letters alone: links are not followed. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(resolve(folder), resolve(path));
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Whether the text names a bucket; any address does, so that no folder is called `s3:` or `https:`. */
export const namesBucket = (text: string): boolean => text.startsWith("s3:") || /^[a-z][a-z0-9+.-]+:\/\//i.test(text);
