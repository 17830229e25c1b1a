/** The receipt (WEB 4.6): what a person is told after a deploy, and whenever they look at what is live: that it is, for
 *  how long, what is still wrong with what to do, and what was fixed. The drop zone's script builds the same markup from
 *  the API's JSON. */
import { html, type Html } from "../html/template.ts";
import type { Healed, Warning } from "../base/types.ts";
import { copyButton, icon, siteLink } from "./parts.ts";
import { ahead, count, figure, mentions } from "./browser/wording.ts";
import { onDay } from "./words.ts";

/** Groups of warnings that stand open; the rest are folded. */
const MOST_OPEN = 6;

const marked = (text: string, path: string): Html[] =>
  mentions(text, path).map((piece, i) => (i % 2 === 1 ? html`<code dir="auto">${piece}</code>` : html`${piece}`));

type Told = Pick<Warning, "message" | "path" | "fix_recipe">;

/** A message with its file. */
function told({ message, path }: Pick<Told, "message" | "path">): Html {
  if (path === undefined) return html`${message}`;
  const pieces = marked(message, path);
  return pieces.length > 1 ? html`${pieces}` : html`<code dir="auto">${path}</code>: ${message}`;
}

const recipe = ({ fix_recipe, path }: Told): Html =>
  html`To do: ${path === undefined ? fix_recipe : marked(fix_recipe, path)}`;

const group = (warnings: readonly Told[]): Html =>
  html`<li class="item">
    ${icon("warning")}
    <div>
      ${warnings.map((warning) => html`<p>${told(warning)}</p>`)}
      <p class="do">${recipe(warnings[0]!)}</p>
    </div>
  </li>`;

type Notes = NonNullable<Receipt["notes"]>;

/** Grouped by what is to be done. */
export const warningGroups = (warnings: readonly Told[]): Html[] =>
  [...Map.groupBy(warnings, ({ fix_recipe }) => fix_recipe).values()].map(group);

/** `live`: false where nobody sees the site for now. */
function warned({ warnings, left_out = 0 }: Notes, live: boolean): Html | false {
  if (warnings.length === 0) return false;
  const groups = warningGroups(warnings);
  const [open, folded] = [groups.slice(0, MOST_OPEN), groups.slice(MOST_OPEN)];
  return html`<div class="part warn-part">
    <div class="said">
      <h3>${icon("warning")} ${count(warnings.length, "warning")}</h3>
      ${live && html`<p>It is live, but not all right yet.</p>`}
    </div>
    <ul class="items" role="list">
      ${open}
    </ul>
    ${
      folded.length > 0 &&
      html`<details>
        <summary>Show all</summary>
        <ul class="items" role="list">
          ${folded}
        </ul>
      </details>`
    }
    ${left_out > 0 && html`<p class="small">And ${figure(left_out)} more, too many to be kept.</p>`}
  </div>`;
}

const fixed = (healed: readonly Healed[]): Html | false =>
  healed.length > 0 &&
  html`<div class="part">
    <h3>Fixed for you</h3>
    <ul class="items" role="list">
      ${healed.map(
        (entry) =>
          html`<li class="item fixed">
            ${icon("check")}
            <p>${told(entry)}</p>
          </li>`,
      )}
    </ul>
  </div>`;

export const YOURS = "It is yours and does not expire.";

/** How long it stays. */
export const until = (expires_at: number | null, now: number): Html =>
  expires_at === null
    ? html`${YOURS}`
    : html`Here until ${onDay(new Date(expires_at).toISOString(), now)}, ${ahead(expires_at - now)} from now.`;

interface Receipt {
  /** "Your site is live", "Version ‹id› is live". */
  heading: string | Html;
  /** Under the heading: the address, how long it stays and what to do next; a page that says so elsewhere leaves it out. */
  about?: Html | false;
  live: boolean;
  /** Null where none were kept: the version is older than that. */
  notes: { healed: readonly Healed[]; warnings: readonly Warning[]; left_out?: number } | null;
  /** What is folded away, and what else one can do. */
  more?: Html;
  /** A deploy has just ended: whoever sees nothing hears of it. */
  focus: boolean;
}

/** The address large, with what copies it. */
export const addressBox = (url: string): Html =>
  html`<p class="url">
    ${siteLink(url, url, html`id="receipt-url"`)} ${copyButton("Copy link", "receipt-url", { small: true })}
    <button type="button" class="button small share" data-share="receipt-url">${icon("share", 16)} Share</button>
  </p>`;

export const receiptRegion = ({ heading, about, live, notes, more, focus }: Receipt): Html =>
  html`<section class="receipt card" aria-label="Receipt">
    <div class="head">
      <div class="ok" ${focus && html`role="status"`}>
        ${live && html`<span class="tick">${icon("check", 18)}</span>`}
        <h2 id="receipt" tabindex="-1" ${focus && html`autofocus`}>${heading}</h2>
      </div>
      ${about} ${focus && html`<svc-left-out></svc-left-out>`}
      ${notes === null && html`<p class="dim small">No receipt was kept with this version.</p>`}
    </div>
    ${notes && warned(notes, live)} ${notes && fixed(notes.healed)} ${more && html`<div class="part">${more}</div>`}
  </section>`;

interface Programs {
  site_id: string;
  version_id: string;
  /** Shown this once; a session needs none. */
  manage_token?: string;
}

/** What programs and the command line need to go on. */
export const forPrograms = ({ site_id, version_id, manage_token }: Programs): Html =>
  html`<details>
    <summary>For programs and the command line</summary>
    <div class="fields">
      ${
        manage_token !== undefined &&
        html`<div>
          <label class="label" for="manage-token">Manage token</label>
          <p class="pair">
            <input class="field mono" id="manage-token" readonly value="${manage_token}" />
            ${copyButton("Copy token", "manage-token")}
          </p>
        </div>`
      }
      <dl class="facts-list">
        <dt>Site</dt>
        <dd><code>${site_id}</code></dd>
        <dt>Version</dt>
        <dd><code>${version_id}</code></dd>
      </dl>
      <pre tabindex="0" role="group" aria-label="Command for the next version"><code
        >svc update --site ${site_id}${manage_token !== undefined && html` --token ${manage_token}`}</code></pre>
    </div>
  </details>`;
