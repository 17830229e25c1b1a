/** `/dashboard/sites/<site_id>/statistics`: how often a site is visited, what its visitors read, where they came from, and links that
 *  lead nowhere (BEYOND 11, WEB 6). */
import { Refusal } from "../../base/errors.ts";
import { dateParts } from "../../base/units.ts";
import { dayOf, KEPT_DAYS, OTHER } from "../../base/statistics.ts";
import type { Site } from "../../base/types.ts";
import { count, figure } from "../../base/units.ts";
import { visible } from "../../base/visible.ts";
import { html, type Html } from "../../html/template.ts";
import type { Route } from "../../routes/context.ts";
import { statisticsOf } from "../../routes/statistics.ts";
import { refuseUnlessWritable } from "../../store/refusals.ts";
import { csrfOf } from "../frame.ts";
import { alertBox, button, command, copyButton, csrfField, hiddenField, icon } from "../parts.ts";
import { accountForm, accountPage, type SignedIn } from "../who.ts";
import { hrefOf, ownSite } from "./pages.ts";
import { answerSitePage, pathOfTab } from "./site-frame.ts";
import { heldNotice } from "./state-badges.ts";

type Told = Awaited<ReturnType<typeof statisticsOf>>;
type Day = Told["days"][number];

const SPANS = [7, 30, 90, KEPT_DAYS] as const;
const DEFAULT_SPAN = 30;

/** Another number of days in the address means the usual one. */
const spanIn = (query: URLSearchParams): number =>
  SPANS.find((days) => String(days) === query.get("days")) ?? DEFAULT_SPAN;

const pathFor = ({ site_id }: Site, days: number): string =>
  hrefOf(pathOfTab(site_id, "statistics"), days === DEFAULT_SPAN ? {} : { days: String(days) });

const spans = (site: Site, current: number): Html =>
  html`<nav class="spans" aria-label="Span of time">
    ${SPANS.map(
      (days) =>
        html`<a href="${pathFor(site, days)}" ${days === current && html`aria-current="page"`}>${days} days</a>`,
    )}
  </nav>`;

const totals = ({ totals: { views, visitors, bots, misses } }: Told): Html =>
  html`<dl class="totals">
    ${(
      [
        ["Views", views, "pages that were shown"],
        ["Visitors", visitors, "a day's, added up"],
        ["Broken links", misses, "pages that are missing"],
        ["Bots", bots, "not among the others"],
      ] as const
    ).map(
      ([name, amount, hint]) =>
        html`<div>
          <dt>${name}</dt>
          <dd><strong>${figure(amount)}</strong> <span class="dim small">${hint}</span></dd>
        </div>`,
    )}
  </dl>`;

/** `28 November 2026` */
function dateWords(date: string): string {
  const { year, month, day } = dateParts(date);
  return `${day} ${month} ${year}`;
}

// The chart: a bar a day, visitors before views. Its units are hundredths of a day and of its height.

const DAY_WIDTH = 100;
const HEIGHT = 100;
/** Past so many days there is no room between two bars. */
const MOST_APART = 100;
/** One visit is seen, too. */
const LEAST = 1.5;

/** The end of the scale: a round number. */
function endOfScale(most: number): number {
  const step = 10 ** Math.floor(Math.log10(Math.max(1, most)));
  return Math.max(4, [1, 2, 4, 5].map((n) => n * step).find((end) => end >= most) ?? 10 * step);
}

interface Scale {
  end: number;
  /** Measures of a bar. */
  width: number;
}

function bar(amount: number, { end, width }: Scale, at: number, name: string): Html | false {
  if (amount === 0) return false;
  const height = Math.max(LEAST, (amount / end) * HEIGHT);
  const [x, y] = [at * DAY_WIDTH + (DAY_WIDTH - width) / 2, HEIGHT - height];
  return html`<rect class="${name}" x="${x}" y="${y.toFixed(1)}" width="${width}" height="${height.toFixed(1)}" />`;
}

const dayWords = ({ date, views, visitors }: Day): string =>
  `${dateWords(date)}: ${count(views, "view")}, ${count(visitors, "visitor")}`;

/** The day's words are shown where the pointer is. */
const dayBars = (day: Day, scale: Scale, at: number): Html =>
  html`<g
    ><title>${dayWords(day)}</title
    ><rect class="day-hit" x="${at * DAY_WIDTH}" y="0" width="${DAY_WIDTH}" height="${HEIGHT}" />
    ${bar(day.views, scale, at, "views")} ${bar(day.visitors, scale, at, "visitors")}
  </g>`;

function chart({ days, from, to }: Told): Html {
  const most = days.reduce((best, day) => (day.views > best.views ? day : best));
  const end = endOfScale(Math.max(...days.map(({ views, visitors }) => Math.max(views, visitors))));
  const scale = { end, width: days.length > MOST_APART ? DAY_WIDTH : 0.7 * DAY_WIDTH };
  const width = days.length * DAY_WIDTH;
  return html`<figure class="chart card">
    <figcaption>
      <strong>Views and visitors a day</strong>
      <span class="keys"><span class="key views">Views</span> <span class="key visitors">Visitors</span></span>
    </figcaption>
    <div class="plot">
      <span class="most" aria-hidden="true">${figure(end)}</span>
      <svg viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-labelledby="chart-words">
        <title id="chart-words">
          A bar for each day from ${dateWords(from)} to ${dateWords(to)}. The most on ${dayWords(most)}.
        </title>
        ${days.map((day, at) => dayBars(day, scale, at))}
      </svg>
      <span aria-hidden="true">${dateWords(from)}</span> <span aria-hidden="true">${dateWords(to)}</span>
    </div>
    ${dayTable(days)}
  </figure>`;
}

/** The same, newest first, for who reads figures or hears them. */
const dayTable = (days: readonly Day[]): Html =>
  html`<details>
    <summary>As a table</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="Days">
      <table>
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            <th scope="col">Views</th>
            <th scope="col">Visitors</th>
            <th scope="col">Broken links</th>
            <th scope="col">Bots</th>
          </tr>
        </thead>
        <tbody>
          ${days.toReversed().map(
            ({ date, views, visitors, misses, bots }) =>
              html`<tr>
                <th scope="row"><time datetime="${date}">${dateWords(date)}</time></th>
                <td>${figure(views)}</td>
                <td>${figure(visitors)}</td>
                <td>${figure(misses)}</td>
                <td>${figure(bots)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;

// The lists: ten of each, the others folded.

const FIRST = 10;

function list(id: string, title: string, items: readonly Html[], none: string): Html {
  const rows = (some: readonly Html[]) =>
    html`<ul class="rows card counts" role="list">
      ${some}
    </ul>`;
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${items.length === 0 ? html`<p class="dim small">${none}</p>` : rows(items.slice(0, FIRST))}
    ${
      items.length > FIRST &&
      html`<details>
        <summary>${figure(items.length - FIRST)} more</summary>
        ${rows(items.slice(FIRST))}
      </details>`
    }
  </section>`;
}

const named = (name: string): Html =>
  name === OTHER ? html`<span class="dim">all others</span>` : html`<bdi class="name">${visible(name)}</bdi>`;

const counted = (name: string, amount: number): Html =>
  html`<li>${named(name)} <span class="amount">${figure(amount)}</span></li>`;

/** Its line is in a box of its own, with Copy beside it. */
function missed({ path, hits, internal, rule }: Told["misses"][number], at: number): Html {
  return html`<li class="missed">
    ${named(path)} <span class="amount">${figure(hits)}</span>
    ${internal > 0 && html`<p class="sub">${figure(internal)} of them from your own pages</p>`}
    ${
      rule !== null &&
      html`<p class="mend">
        <code id="rule-${at}">${rule}</code>
        ${copyButton(`Copy the line for ${visible(path)}`, `rule-${at}`, { small: true, shown: "Copy" })}
      </p>`
    }
  </li>`;
}

const lists = ({ paths, referrers, misses }: Told): Html =>
  html`<div class="halves">
      ${list(
        "pages",
        "Pages",
        paths.map(({ path, views }) => counted(path, views)),
        "No page was viewed.",
      )}
      ${list(
        "referrers",
        "Came from",
        referrers.map(({ host, views }) => counted(host, views)),
        "No other site led anybody here.",
      )}
    </div>
    ${list("broken", "Broken links", misses.map(missed), "Nobody asked for a page that is missing.")}
    ${
      misses.some(({ rule }) => rule !== null) &&
      html`<p class="dim small">
        A line that is copied into the file <code>_redirects</code> leads visitors to the page that was probably meant.
        <a href="/docs/rules">How it works</a>
      </p>`
    }`;

/** The switch, and what turning it off does. */
function countingForm(ctx: SignedIn, site: Site, days: number): Html {
  const on = site.stats === 1;
  const words = on
    ? "Visits are counted without cookies, scripts or anything in the pages. If you stop, all that was counted is deleted at once."
    : "Visits of this site are not counted.";
  return html`<section class="card" aria-labelledby="counting">
    <h2 id="counting">Count visits: ${on ? "on" : "off"}</h2>
    <p>${words} <a href="/docs/privacy">What is counted</a></p>
    <form method="post" action="${pathFor(site, days)}">
      ${csrfField(csrfOf(ctx)!)} ${hiddenField("stats", on ? "off" : "on")}
      ${button(on ? "Stop counting and delete the figures" : "Count visits", { small: true })}
    </form>
  </section>`;
}

/** Before the first visit, or while nothing is counted. */
function noVisits(ctx: SignedIn, site: Site): Html {
  if (ctx.parts.config.stats === "off") {
    return html`<div class="card empty">
      ${icon("info", 40)}
      <h2>Visits are not counted here</h2>
      <p>The operator of this server has turned statistics off for all sites.</p>
    </div>`;
  }
  const off = site.stats === 0;
  return html`<div class="card empty">
    ${icon(off ? "info" : "search", 40)}
    <h2>${off ? "Visits are not counted" : "No visits in this time"}</h2>
    <p>
      ${
        off
          ? "Turn counting on below, and the next visit is here."
          : "Open the site in a browser or send its address to somebody: each view is here at once. Nothing is to be set up."
      }
    </p>
    <p class="dim small">From a terminal:</p>
    ${command("tell-visits", `svc stats --site ${site.site_id}`)}
  </div>`;
}

async function statisticsPage(ctx: SignedIn, site: Site, refusal?: Refusal): Promise<Response> {
  const days = spanIn(ctx.query);
  const today = dayOf(ctx.parts.now());
  const told = await statisticsOf(ctx.parts, site, { from: today - days + 1, to: today });
  const { views, misses, bots } = told.totals;
  const figures =
    views + misses + bots === 0 ? noVisits(ctx, site) : html`${totals(told)} ${chart(told)} ${lists(told)}`;
  const body = html`${alertBox(refusal)} ${heldNotice(ctx, site)}
    <div class="stack statistics">
      ${spans(site, days)} ${figures}
      <div class="narrow">${ctx.parts.config.stats === "on" && countingForm(ctx, site, days)}</div>
    </div>`;
  return answerSitePage(ctx, site, { tab: "statistics", body, refusal });
}

/** `GET …/statistics?days=`. */
const showStatistics = accountPage(async (ctx) => statisticsPage(ctx, await ownSite(ctx)));

/** `POST …/statistics`: visits are counted, or no more. */
const changeCounting = accountForm({
  page: ({ params }) => pathOfTab(params.id!, "statistics"),
  async act(ctx, fields) {
    const site = await ownSite(ctx);
    const wanted = fields.get("stats");
    if (wanted !== "on" && wanted !== "off") {
      throw new Refusal("invalid_input", "Nothing was changed: press one of the buttons.", { field: "stats" });
    }
    refuseUnlessWritable(site, ctx.parts.now());
    const { ownership } = ctx.parts.store;
    await ownership.changeSettings(site.site_id, { stats: wanted === "on" ? 1 : 0 }, ctx.caller);
    return `${pathOfTab(site.site_id, "statistics")}?done=${wanted === "on" ? "counting" : "not-counting"}`;
  },
  again: async (ctx, refusal) => statisticsPage(ctx, await ownSite(ctx), refusal),
});

export const STATISTICS_ROWS: readonly Route[] = [
  ["GET", "/dashboard/sites/:id/statistics", showStatistics],
  ["POST", "/dashboard/sites/:id/statistics", changeCounting],
];
