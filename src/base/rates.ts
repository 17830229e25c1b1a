/** Limits on calls, for the settings, the counter and the headers alike (CONTRACT 4.4). */
import { createHmac } from "node:crypto";
import { milliseconds, UNIT_MS } from "./units.ts";

export interface RateWindow {
  count: number;
  window_ms: number;
}

/** The state of a window; after the call, if the call was counted. */
export interface Standing extends RateWindow {
  remaining: number;
  /** The time until one more call fits, if this one was refused, or else until the oldest counted call leaves the window. */
  reset_ms: number;
}

export interface Taken {
  allowed: boolean;
  windows: Standing[];
  /** Takes the call back, if another rule refuses it. */
  undo(): Promise<void>;
}

export interface Rates {
  /** Counts a call of `subject` under `rule` if every window has room; if one is full, nothing is counted. */
  take(rule: string, subject: string, windows: readonly RateWindow[]): Promise<Taken>;
  close(): void;
}

/** The names and addresses of people are not kept, only hashes under a key of DATA/secrets: without one all addresses of IPv4
 *  are tried in a minute. */
export const rateKey = (secret: string, rule: string, subject: string): string =>
  `${rule} ${createHmac("sha256", secret).update(subject).digest("base64url").slice(0, 22)}`;

const WINDOW = /^([1-9]\d{0,3})\/([1-9]\d{0,4})([smhd])$/;
/** Counts are kept this long, so no window is longer. */
const LONGEST_MS = 31 * UNIT_MS.d;

function readWindow(text: string): RateWindow | undefined {
  const parts = WINDOW.exec(text);
  if (!parts) return undefined;
  const window_ms = milliseconds(parts[2]!, parts[3]!);
  return window_ms <= LONGEST_MS ? { count: Number(parts[1]), window_ms } : undefined;
}

/** Reads `10/1m,60/1h` as its windows and `off` as none; anything else is undefined. */
export function rateWindows(text: string): RateWindow[] | undefined {
  if (text === "off") return [];
  const windows = text.split(",").map((part) => readWindow(part.trim()));
  return windows.every((window) => window !== undefined) ? windows : undefined;
}

const DOUBLINGS = 7;

/** Windows that double the wait each time that a subject has used up all its calls: 5 in 10 minutes become also 10 in 30, 15
 *  in 70, and so on. */
export const doubling = (windows: readonly RateWindow[]): RateWindow[] =>
  windows.flatMap(({ count, window_ms }) =>
    Array.from({ length: DOUBLINGS }, (_, n) => ({
      count: count * (n + 1),
      window_ms: Math.min(LONGEST_MS, window_ms * (2 ** (n + 1) - 1)),
    })),
  );
