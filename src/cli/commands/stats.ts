/** `svc stats`: how often a site is visited (BEYOND 11). */
import { array, type Infer, nullable, object, pick } from "../../api/shapes/builder.ts";
import * as sites from "../../api/shapes/sites.ts";
import { count, figure } from "../../base/units.ts";
import type { CallWords, Context } from "../command.ts";
import { Failure, usage } from "../failure.ts";
import { ask } from "../service/api.ts";
import { ApiFailure } from "../service/refusal.ts";
import { ANY } from "../service/wire.ts";
import type { Terminal } from "../terminal/index.ts";
import { columns, cut, dim, text } from "../terminal/text.ts";
import { chooseSite, openSite, type OpenedSite } from "./chosen-site.ts";

const { days, paths, referrers, misses } = sites.STATISTICS.required;
const STATISTICS = object({
  ...pick(sites.STATISTICS, "from", "to", "enabled", "totals").required,
  days: array(pick(days.items, "date", "views")),
  paths: array(pick(paths.items, "path", "views")),
  referrers: array(pick(referrers.items, "host", "views")),
  misses: array(
    object({ ...pick(misses.items, "path", "hits", "internal").required, rule: nullable(misses.items.required.rule) }),
  ),
});
type Statistics = Infer<typeof STATISTICS>;

const MOST_DAYS = 400;
const DEFAULT_DAYS = 30;
const TOP = 10;
/** Letters of a path that are shown, and of the longest bar. */
const PATH_WIDTH = 72;
const BAR_WIDTH = 50;

function daysOf(given: CallWords): number {
  const written = given.value("days") ?? String(DEFAULT_DAYS);
  const days = /^\d{1,3}$/.test(written) ? Number(written) : 0;
  if (days < 1 || days > MOST_DAYS) throw usage(`--days wants a number from 1 to ${MOST_DAYS}, not ${written}.`);
  return days;
}

/** An older server, which counts nothing, answers that nothing is there. */
async function askStatistics({ server, credential, site_id }: OpenedSite, days: number): Promise<Statistics> {
  const path = `/sites/${site_id}/stats?days=${days}`;
  try {
    return await ask(server, { method: "GET", path, credential, repeatable: true }, STATISTICS);
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.code !== "not_found") throw error;
    throw new Failure(
      "not_found",
      `The server ${server.origin} counts no visits: it is older than this svc. Upgrade it first.`,
    );
  }
}

/** Blocks of an eighth each, so that a bar of a few views is not rounded away. */
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

function bar(views: number, most: number): string {
  const eighths = most === 0 ? 0 : Math.ceil((views / most) * BAR_WIDTH * 8);
  return "█".repeat(eighths >> 3) + EIGHTHS[eighths & 7]!;
}

function tellDays(terminal: Terminal, { days }: Statistics): void {
  const most = Math.max(...days.map(({ views }) => views));
  if (!terminal.resultIsRead || most === 0) return;
  const width = figure(most).length;
  terminal.result("");
  for (const { date, views } of days) {
    terminal.result(`${date}  ${figure(views).padStart(width)}  ${bar(views, most)}`.trimEnd());
  }
}

interface Line {
  name: string;
  amount: number;
  more?: string;
}

function tellList(terminal: Terminal, title: string, lines: readonly Line[]): void {
  if (lines.length === 0) return;
  const shown = lines.slice(0, TOP);
  const width = Math.max(...shown.map(({ amount }) => figure(amount).length));
  const rows = shown.map(({ name, amount, more = "" }) => [
    figure(amount).padStart(width),
    cut(name, PATH_WIDTH),
    more,
  ]);
  terminal.result("");
  terminal.result(title);
  for (const row of columns(rows)) terminal.result(row);
}

/** With the lines that mend them, to be copied. */
function tellMisses(terminal: Terminal, { misses }: Statistics): void {
  const of = (internal: number) => (internal === 0 ? "" : `${figure(internal)} from your own pages`);
  const lines = misses.map(({ path, hits, internal }) => ({ name: path, amount: hits, more: of(internal) }));
  tellList(terminal, "Broken links", lines);
  const rules = misses.slice(0, TOP).flatMap(({ rule }) => rule ?? []);
  if (rules.length === 0) return;
  terminal.result("");
  terminal.result("For _redirects");
  for (const rule of rules) terminal.result(rule);
}

function tellAll(terminal: Terminal, told: Statistics): void {
  const { totals, from, to, paths, referrers } = told;
  const { views, visitors, bots, misses } = totals;
  terminal.result(
    `${count(views, "view")} by ${count(visitors, "visitor")} from ${from} to ${to}, ` +
      `${figure(bots)} by bots, ${figure(misses)} of missing pages`,
  );
  tellDays(terminal, told);
  tellList(
    terminal,
    "Pages",
    paths.map(({ path, views }) => ({ name: path, amount: views })),
  );
  tellList(
    terminal,
    "Came from",
    referrers.map(({ host, views }) => ({ name: host, amount: views })),
  );
  tellMisses(terminal, told);
}

export async function stats(context: Context, given: CallWords): Promise<void> {
  const { terminal } = context;
  const days = daysOf(given);
  const site = await openSite(context, chooseSite(context, given, given.argument), 1, ANY);
  const told = await askStatistics(site, days);
  if (given.json) return terminal.json({ ok: true, ...told });
  tellAll(terminal, told);
  if (!told.enabled) {
    terminal.say(text`\n  ${dim("Visits are not counted now: the site's settings or the server say so.")}`);
  }
}
