/** Units, as server and command line write and read them. Imports nothing. */

/** Of time, in milliseconds: those of settings and limits. */
export const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The amount and the unit of `15m`. */
export const milliseconds = (amount: string, unit: string): number =>
  Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];

const SIZES = ["B", "KB", "MB", "GB"] as const;

/** `0 B`, `1.5 KB`, `50 GB`: one decimal below ten. */
export function humanSize(bytes: number): string {
  let [size, unit] = [bytes, 0];
  for (; Math.round(size) >= 1024 && unit < SIZES.length - 1; unit++) size /= 1024;
  const digits = unit > 0 && size < 9.95 ? 1 : 0;
  return `${size.toFixed(digits).replace(".0", "")} ${SIZES[unit]}`;
}
