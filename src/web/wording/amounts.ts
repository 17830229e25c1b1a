/** Counts and lengths of time, as pages and their scripts say them. */
import { UNIT_MS } from "../../base/units.ts";

/** `1,204`. By hand: what the system formats with takes 2 ms to load, in every process that starts. */
export const figure = (amount: number): string => String(amount).replace(/\B(?=(?:\d{3})+$)/g, ",");

/** `1 file`, `1,204 files`. */
export const count = (amount: number, noun: string): string => `${figure(amount)} ${noun}${amount === 1 ? "" : "s"}`;

/** In minutes. */
const STEPS = [
  ["day", UNIT_MS.d / UNIT_MS.m],
  ["hour", UNIT_MS.h / UNIT_MS.m],
] as const;

/** `14 days`, `13 hours`, to the nearest: of what lies ahead, also where the clock has moved a second since it began. */
export function ahead(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / UNIT_MS.m));
  const [noun, step] = STEPS.find(([, length]) => minutes >= length) ?? (["minute", 1] as const);
  return count(Math.round(minutes / step), noun);
}
