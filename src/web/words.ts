/** Counts, times and what people sent, as pages say them (WEB 1.9). */
import { html, type Html } from "../html/template.ts";
import { UNIT_MS } from "../units.ts";

const NUMBER = new Intl.NumberFormat("en");

/** `1,204`. */
export const figure = (amount: number): string => NUMBER.format(amount);

/** `1 file`, `1,204 files`. */
export const count = (amount: number, noun: string, many = `${noun}s`): string =>
  `${figure(amount)} ${amount === 1 ? noun : many}`;

/** What a person sent: text in an element of its own, whatever its direction. */
export const theirs = (text: string): Html => html`<span dir="auto">${text}</span>`;

/** A title as it was sent; one that is empty or blank is no name. */
export const titled = (title: string | null): Html => theirs(title?.trim() || "Untitled");

const STEPS = [
  ["year", 365 * UNIT_MS.d],
  ["month", 30 * UNIT_MS.d],
  ["week", 7 * UNIT_MS.d],
  ["day", UNIT_MS.d],
  ["hour", UNIT_MS.h],
  ["minute", UNIT_MS.m],
] as const;

/** `3 hours`, in the largest unit that fits; less than a minute is none. */
function span(ms: number): string | null {
  const step = STEPS.find(([, length]) => ms >= length);
  return step === undefined ? null : count(Math.floor(ms / step[1]), step[0]);
}

const FULL = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });
const DAY_AND_YEAR = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });

/** `5 December`; with the year where it is another one. */
function day(iso: string, now: number): string {
  const same_year = iso.slice(0, 4) === new Date(now).toISOString().slice(0, 4);
  return (same_year ? DAY : DAY_AND_YEAR).format(Date.parse(iso));
}

const SHORT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

/** `22 Nov 2026, 09:14`: for what holds text alone. */
export const moment = (iso: string): string => SHORT.format(Date.parse(iso));

const timeElement = (iso: string, words: string): Html =>
  html`<time datetime="${iso}" title="${FULL.format(Date.parse(iso))} UTC">${words}</time>`;

/** `3 hours ago`, the full time behind it. */
export function ago(iso: string, now: number): Html {
  const past = span(now - Date.parse(iso));
  return timeElement(iso, past === null ? "just now" : `${past} ago`);
}

/** `5 December`, the full time behind it. */
export const onDay = (iso: string, now: number): Html => timeElement(iso, day(iso, now));

/** `14 days`, rounded: of what lies ahead. */
export function ahead(ms: number): string {
  const [noun, length] = (
    [
      ["day", UNIT_MS.d],
      ["hour", UNIT_MS.h],
      ["minute", UNIT_MS.m],
    ] as const
  ).find(([, step]) => ms >= step) ?? ["minute", UNIT_MS.m];
  return count(Math.max(1, Math.round(ms / length)), noun);
}
