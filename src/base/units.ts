/** Units, as server and command line write and read them, and days as people say them, in UTC. Imports nothing. */

/** The units of time of settings and limits, in milliseconds. */
export const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of an amount and its unit, as in `15m`. */
export const milliseconds = (amount: string, unit: string): number =>
  Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];

/** Writes whole seconds in the largest unit that divides them: `14d`, `90s`. */
export function durationText(ms: number): string {
  const unit = (["d", "h", "m"] as const).find((one) => ms % UNIT_MS[one] === 0) ?? "s";
  return `${ms / UNIT_MS[unit]}${unit}`;
}

const SIZES = ["B", "KB", "MB", "GB"] as const;

/** Writes bytes in the largest unit that divides them: `10MB`, `1500B`. A KB is 1,024 bytes. */
export function sizeText(bytes: number): string {
  let [size, unit] = [bytes, 0];
  for (; size % 1024 === 0 && unit < SIZES.length - 1; unit++) size /= 1024;
  return `${size}${SIZES[unit]}`;
}

/** Writes bytes for people: `0 B`, `1.5 KB`, `50 GB`, with one decimal below ten. */
export function humanSize(bytes: number): string {
  let [size, unit] = [bytes, 0];
  for (; Math.round(size) >= 1024 && unit < SIZES.length - 1; unit++) size /= 1024;
  const digits = unit > 0 && size < 9.95 ? 1 : 0;
  return `${size.toFixed(digits).replace(".0", "")} ${SIZES[unit]}`;
}

/** `1,204`. By hand: what the system formats with takes 2 ms to load, in every process that starts. */
export function figure(amount: number): string {
  const digits = String(amount);
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
  return groups.join(",");
}

/** `1 file`, `1,204 files`. */
export const count = (amount: number, noun: string): string => `${figure(amount)} ${noun}${amount === 1 ? "" : "s"}`;

// The months are written by hand: the system's own formatter takes 7 ms to load, in every process that starts.
const MONTHS = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
];

/** The parts of an ISO time, which is in UTC. */
export function dateParts(iso: string) {
  const [year, month, day] = iso.slice(0, 10).split("-").map(Number) as [number, number, number];
  return { year, month: MONTHS[month - 1]!, day, time: iso.slice(11, 16) };
}

/** `5 December`; with the year if it is another one than now. */
export function dayIn(iso: string, now: number): string {
  const { year, month, day } = dateParts(iso);
  return year === new Date(now).getUTCFullYear() ? `${day} ${month}` : `${day} ${month} ${year}`;
}
