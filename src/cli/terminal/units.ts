/** Sizes, times and counts as people say them. */

export const count = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? "" : "s"}`;

export function size(bytes: number): string {
  if (bytes < 1024) return count(bytes, "byte");
  const [amount, unit] = bytes < 1024 * 1024 ? [bytes / 1024, "KB"] : [bytes / 1024 / 1024, "MB"];
  return `${amount < 10 ? Number(amount.toFixed(1)) : Math.round(amount)} ${unit}`;
}

/** A size and the limit that it passed. Where both would be written alike, both are written in bytes. */
export const overLimit = (bytes: number, limit: number): [string, string] =>
  size(bytes) === size(limit) ? [count(bytes, "byte"), count(limit, "byte")] : [size(bytes), size(limit)];

export const seconds = (ms: number): string => `${(Math.max(ms, 50) / 1000).toFixed(1)} s`;

const STEPS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** `14 days`, `3 hours`: in the largest unit that fits at least one and a half times. */
export function duration(ms: number): string {
  const [noun, step] = STEPS.find(([, length]) => ms >= length * 1.5) ?? ["minute", 60_000];
  return count(Math.max(1, Math.round(ms / step)), noun);
}

/** `5 December 2026`; with hour and minute where it is less than two days away. */
export function moment(epoch_ms: number, now: number): string {
  const near = epoch_ms - now < 2 * 86_400_000;
  const time = near ? ({ hour: "2-digit", minute: "2-digit" } as const) : {};
  return new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", ...time }).format(epoch_ms);
}
