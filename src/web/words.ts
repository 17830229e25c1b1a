/** Times and what people sent, as pages say them (WEB 1.9). */
import { html, type Html } from "../html/template.ts";
import { dateParts, dayIn } from "../base/units.ts";
import { count, UNIT_MS } from "../base/units.ts";

/** A text that a person sent, in an element of its own: its direction of writing changes nothing around it. */
export const isolated = (text: string): Html => html`<span dir="auto">${text}</span>`;

/** A title as it was sent; one that is empty or blank is no name. */
export const titled = (title: string | null): Html => isolated(title?.trim() || "Untitled");

const STEPS = [
  ["year", 365 * UNIT_MS.d],
  ["month", 30 * UNIT_MS.d],
  ["week", 7 * UNIT_MS.d],
  ["day", UNIT_MS.d],
  ["hour", UNIT_MS.h],
  ["minute", UNIT_MS.m],
] as const;

/** `3 hours`, in the largest unit that fits; null for less than a minute. */
function span(ms: number): string | null {
  const step = STEPS.find(([, length]) => ms >= length);
  return step === undefined ? null : count(Math.floor(ms / step[1]), step[0]);
}

/** `22 November 2026 at 09:14 UTC`. */
function full(iso: string): string {
  const { year, month, day, time } = dateParts(iso);
  return `${day} ${month} ${year} at ${time} UTC`;
}

/** `22 Nov 2026, 09:14`: for what holds text alone. */
export function moment(iso: string): string {
  const { year, month, day, time } = dateParts(iso);
  return `${day} ${month.slice(0, 3)} ${year}, ${time}`;
}

/** `today, 04:59`, `yesterday, 21:04`, `20 November, 21:04`; with the year if it is another one. In UTC. */
export function dayTimeWords(iso: string, now: number): string {
  const days = Math.floor(now / UNIT_MS.d) - Math.floor(Date.parse(iso) / UNIT_MS.d);
  const day = days === 0 ? "today" : days === 1 ? "yesterday" : dayIn(iso, now);
  return `${day}, ${dateParts(iso).time}`;
}

/** `November 2026`: the heading over the rows of a month. */
export function monthOf(iso: string): string {
  const { year, month } = dateParts(iso);
  return `${month} ${year}`;
}

const timeElement = (iso: string, words: string): Html =>
  html`<time datetime="${iso}" title="${full(iso)}">${words}</time>`;

/** `3 hours ago`, the full time behind it. */
export function ago(iso: string, now: number): Html {
  const past = span(now - Date.parse(iso));
  return timeElement(iso, past === null ? "just now" : `${past} ago`);
}

/** `yesterday, 21:04`, the full time behind it. */
export const dayTime = (iso: string, now: number): Html => timeElement(iso, dayTimeWords(iso, now));

/** The same at the beginning of a line. */
export function dayTimeFirst(iso: string, now: number): Html {
  const words = dayTimeWords(iso, now);
  return timeElement(iso, words.charAt(0).toUpperCase() + words.slice(1));
}

/** `5 December`, the full time behind it. */
export const onDay = (iso: string, now: number): Html => timeElement(iso, dayIn(iso, now));
