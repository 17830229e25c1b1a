/** What a limit on calls is, for the settings, the counter and the headers alike (CONTRACT 4.4). */
import { milliseconds, UNIT_MS } from "./units.ts";

export interface RateWindow {
  count: number;
  window_ms: number;
}

/** How a window stands: for a call that was counted, after it. */
export interface Standing extends RateWindow {
  remaining: number;
  /** Until one more call fits (refused), or until the oldest one counted leaves the window. */
  reset_ms: number;
}

export interface Taken {
  allowed: boolean;
  windows: Standing[];
  /** As if the call had never been: for one that another rule refuses. */
  undo(): Promise<void>;
}

export interface Rates {
  /** Counts a call of `subject` under `rule` where every window has room; where one is full, nothing is counted. */
  take(rule: string, subject: string, windows: readonly RateWindow[]): Promise<Taken>;
  close(): void;
}

const WINDOW = /^([1-9]\d{0,3})\/([1-9]\d{0,4})([smhd])$/;
/** No window is longer than the counts are kept. */
const LONGEST_MS = 31 * UNIT_MS.d;

function readWindow(text: string): RateWindow | undefined {
  const parts = WINDOW.exec(text);
  if (!parts) return undefined;
  const window_ms = milliseconds(parts[2]!, parts[3]!);
  return window_ms <= LONGEST_MS ? { count: Number(parts[1]), window_ms } : undefined;
}

/** `10/1m,60/1h` → its windows; `off` → none. Undefined where it is neither. */
export function rateWindows(text: string): RateWindow[] | undefined {
  if (text === "off") return [];
  const windows = text.split(",").map((part) => readWindow(part.trim()));
  return windows.every((window) => window !== undefined) ? windows : undefined;
}

const DOUBLINGS = 7;

/** So that the wait is twice as long each time that somebody has used up all there is: of 5 in 10 minutes 10 in 30, 15 in
 *  70, and so on. */
export const doubling = (windows: readonly RateWindow[]): RateWindow[] =>
  windows.flatMap(({ count, window_ms }) =>
    Array.from({ length: DOUBLINGS }, (_, n) => ({
      count: count * (n + 1),
      window_ms: Math.min(LONGEST_MS, window_ms * (2 ** (n + 1) - 1)),
    })),
  );
