/** `GET /sites/:id/stats`: what is counted of a site's visits (BEYOND 11). */
import { Refusal } from "../base/errors.ts";
import { dateOf, dayOf, KEPT_DAYS } from "../base/statistics.ts";
import type { Site } from "../base/types.ts";
import type { ApiHandlers, ApiParts, SiteCtx } from "./context.ts";

const DEFAULT_DAYS = 30;

/** Days of UTC, both in. */
interface DaySpan {
  from: number;
  to: number;
}

const invalid = (field: string, must: string): Refusal =>
  new Refusal("invalid_input", `The parameter ${field} must be ${must}.`, { field });

/** A date that is none of the calendar, as 30 February, is none here. */
function dayAt(query: URLSearchParams, field: "from" | "to"): number {
  const text = query.get(field) ?? "";
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? dayOf(Date.parse(text)) : NaN;
  if (Number.isNaN(day) || dateOf(day) !== text) throw invalid(field, "a date such as 2026-11-28");
  return day;
}

/** The last `days`, today among them, or from one date to another. */
function spanOf(query: URLSearchParams, now: number): DaySpan {
  if (query.has("from") || query.has("to")) {
    if (query.has("days"))
      throw new Refusal("invalid_input", "Give days, or from and to, not both.", { field: "days" });
    const [from, to] = [dayAt(query, "from"), dayAt(query, "to")];
    if (to < from) throw invalid("to", "no date before from");
    if (to - from >= KEPT_DAYS) throw invalid("from", `at most ${KEPT_DAYS - 1} days before to`);
    return { from, to };
  }
  const text = query.get("days") ?? String(DEFAULT_DAYS);
  const days = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > KEPT_DAYS) throw invalid("days", `a number from 1 to ${KEPT_DAYS}`);
  const today = dayOf(now);
  return { from: today - days + 1, to: today };
}

export async function statisticsOf({ config, statistics }: ApiParts, { site_id, stats }: Site, { from, to }: DaySpan) {
  const { totals, ...lists } = await statistics.read(site_id, from, to);
  const enabled = config.stats === "on" && stats === 1;
  return {
    site_id,
    from: dateOf(from),
    to: dateOf(to),
    enabled,
    totals,
    visitors_are: "sum_of_days",
    ...lists,
  } as const;
}

const readStatistics = ({ site, query, parts }: SiteCtx) => statisticsOf(parts, site, spanOf(query, parts.now()));

/** The row of the API that this file answers. */
export const STATISTICS_HANDLERS = { "GET /sites/:id/stats": readStatistics } satisfies Partial<ApiHandlers>;
