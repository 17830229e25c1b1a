/** The browser's view of versions, if the server has a browser (CONTRACT 9). */
import { html, type Html } from "../../html/template.ts";
import type { RenderBrief, RenderSeen } from "../../store/renders.ts";
import type { Site } from "../../base/types.ts";
import { icon } from "../parts.ts";
import { warningGroups } from "../receipt.ts";
import type { SignedIn } from "../who.ts";
import { count, figure } from "../../base/units.ts";

type VersionRender = RenderBrief & RenderSeen;

export const looks = ({ parts }: Pick<SignedIn, "parts">): boolean => parts.config.render !== "off";

const screenshotPath = (site_id: string, version_id: string): string => `/sites/${site_id}/screenshots/${version_id}`;

/** The small picture in a row. Screen readers skip it: the row has the name next to it. */
export const thumbnail = (site_id: string, version_id: string, pictured: boolean): Html =>
  pictured
    ? html`<img
        class="shot"
        src="${screenshotPath(site_id, version_id)}"
        alt=""
        width="96"
        height="60"
        loading="lazy"
      />`
    : html`<span class="shot"></span>`;

const shot = (site_id: string, { version_id }: VersionRender, size: string, words: string): Html =>
  html`<img
    src="${screenshotPath(site_id, version_id)}${size === "phone" && "?size=phone"}"
    alt="${words}"
    width="${size === "phone" ? 390 : 1280}"
    height="${size === "phone" ? 844 : 800}"
    loading="lazy"
  />`;

const pictures = (site_id: string, seen: VersionRender): Html =>
  html`<p class="shots">
    ${shot(site_id, seen, "desktop", "The start page in a window of 1280 by 800")}
    ${shot(site_id, seen, "phone", "The start page on a phone")}
  </p>`;

/** A page may say 50,000 characters; the API has them all (`GET /sites/:id`). */
const MOST_SHOWN = 20;
const LONGEST = 200;
const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST).toWellFormed()}…` : text);

/** A list that is folded; nothing if it is empty. */
const folded = <T>(summary: string, entries: readonly T[], entryOf: (entry: T) => Html): Html | false =>
  entries.length > 0 &&
  html`<details>
    <summary>${summary}</summary>
    <ul class="said-lines" role="list">
      ${entries.slice(0, MOST_SHOWN).map((entry) => html`<li>${entryOf(entry)}</li>`)}
      ${entries.length > MOST_SHOWN && html`<li>… and ${figure(entries.length - MOST_SHOWN)} more</li>`}
    </ul>
  </details>`;

const details = ({ console: lines, failed_requests }: VersionRender): Html =>
  html`${folded(
    `${count(failed_requests.length, "request")} failed`,
    failed_requests,
    ({ method, url, status, reason }) =>
      html`<code dir="auto">${method} ${cut(url)}</code> ${status === null ? cut(reason) : `${status}`}`,
  )}
  ${folded(
    `${count(lines.length, "line")} on the console`,
    lines,
    ({ level, text }) => html`<b>${level}</b> <code dir="auto">${cut(text)}</code>`,
  )}`;

function verdict({ status, reason, warnings }: VersionRender): Html {
  if (status === "pending") return html`<p class="dim small">A browser will look at this version in a moment.</p>`;
  if (status === "failed") return html`<p class="dim small">A browser could not see this version. ${reason}</p>`;
  return warnings.length === 0
    ? html`<p class="dim small">A browser opened the start page, and nothing failed.</p>`
    : html`<p class="dim small">A browser opened the start page, and found what the deploy could not know.</p>`;
}

/** How many faults a browser saw in the live version. */
export async function warnedInBrowser(ctx: SignedIn, { site_id, live_version_id }: Site): Promise<number> {
  if (!looks(ctx)) return 0;
  const seen = await ctx.parts.store.renders.ofVersions(site_id, [live_version_id]);
  return seen.get(live_version_id)?.warnings.length ?? 0;
}

/** The view of the live version; nothing if the server has no browser, or if it was never asked to look. */
export async function seenSection(ctx: SignedIn, { site_id, live_version_id }: Site): Promise<Html | false> {
  const seen = looks(ctx) ? await ctx.parts.store.renders.of(site_id, live_version_id) : null;
  if (seen === null) return false;
  return html`<section class="card seen" aria-labelledby="seen">
    <h2 id="seen">In a browser</h2>
    ${verdict(seen)} ${seen.pictured && pictures(site_id, seen)}
    ${
      seen.warnings.length > 0 &&
      html`<h3>${icon("warning")} ${count(seen.warnings.length, "warning")}</h3>
        <ul class="items" role="list">
          ${warningGroups(seen.warnings)}
        </ul>`
    }
    ${details(seen)}
  </section>`;
}
