/** Sizes and times as people say them, in the page. */
import { count, humanSize, UNIT_MS } from "../../../base/units.ts";

/** A size as the command line prints it. */
export const size = (bytes: number): string => (bytes < 1024 ? count(bytes, "byte") : humanSize(bytes));

/** `2.1 of 4.8 MB`: the part in the unit of the whole. */
export function sizeDone(part: number, bytes: number): string {
  const [figure = "", unit = ""] = size(bytes).split(" ");
  const whole = Number(figure.replaceAll(",", ""));
  const digits = figure.includes(".") || (whole < 10 && unit.endsWith("B")) ? 1 : 0;
  return `${(part * whole).toFixed(digits)} of ${figure} ${unit}`;
}

/** `5 December`, with the year if it is another one, and with the time of the day if that is less than a day ahead. */
export function day(epoch_ms: number, now: number): string {
  const year = new Date(epoch_ms).getFullYear() === new Date(now).getFullYear() ? {} : ({ year: "numeric" } as const);
  const time = epoch_ms - now < UNIT_MS.d ? ({ hour: "2-digit", minute: "2-digit" } as const) : {};
  return new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", ...year, ...time }).format(epoch_ms);
}
