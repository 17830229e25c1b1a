/** Sizes, times and counts as people say them. */
import { humanSize, UNIT_MS } from "../../base/units.ts";

export const count = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? "" : "s"}`;

/** A size in a sentence, where bytes are written out. */
export const size = (bytes: number): string => (bytes < 1024 ? count(bytes, "byte") : humanSize(bytes));

export const seconds = (ms: number): string => `${(Math.max(ms, 50) / 1000).toFixed(1)} s`;

const STEPS = [
  ["day", UNIT_MS.d],
  ["hour", UNIT_MS.h],
  ["minute", UNIT_MS.m],
] as const;

/** A span such as `14 days` or `3 hours`, in the largest unit that fits at least one and a half times. */
export function duration(ms: number): string {
  const [noun, step] = STEPS.find(([, length]) => ms >= length * 1.5) ?? ["minute", UNIT_MS.m];
  return count(Math.max(1, Math.round(ms / step)), noun);
}

/** An age: `now`, `5 minutes ago`, `3 days ago`. */
export function age(ms: number): string {
  const unit = STEPS.find(([, length]) => ms >= length);
  return unit === undefined ? "now" : `${count(Math.floor(ms / unit[1]), unit[0])} ago`;
}

/** A date such as `5 December 2026`, with hour and minute if it is less than two days away. */
export function moment(epoch_ms: number, now: number): string {
  const near = epoch_ms - now < 2 * UNIT_MS.d;
  const time = near ? ({ hour: "2-digit", minute: "2-digit" } as const) : {};
  return new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", ...time }).format(epoch_ms);
}
