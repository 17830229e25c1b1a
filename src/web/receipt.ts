/** The receipt (WEB 4.6): what a person reads after a deploy, and with the live version later: that it is live, for how long,
 *  what is still wrong and what to do about it, what was fixed and what was set up. The server's pages call it, and the drop zone's script
 *  with the API's JSON: no `Bun`, and nothing that runs at load. */
import { html, type Html } from "../html/template.ts";
import type { Checked, Healed, Warning } from "../base/types.ts";
import { healedParts } from "../base/healed.ts";
import { brokenWords, changeWords, checkedSentence, type FileChange } from "../base/receipt-figures.ts";
import { count, figure, humanSize } from "../base/units.ts";
import { copyButton, icon, linkButton, siteLink } from "./parts.ts";
import { ahead, mentions } from "./browser/wording.ts";

/** The number of groups of warnings that are shown; the rest are folded. */
const MOST_OPEN = 6;

const marked = (text: string, path: string): Html[] =>
  mentions(text, path).map((piece, i) => (i % 2 === 1 ? html`<code dir="auto">${piece}</code>` : html`${piece}`));

type Advice = Pick<Warning, "message" | "path" | "fix_recipe">;

/** A message with its file. */
function sentence({ message, path }: Pick<Advice, "message" | "path">): Html {
  if (path === undefined) return html`${message}`;
  const pieces = marked(message, path);
  return pieces.length > 1 ? html`${pieces}` : html`<code dir="auto">${path}</code>: ${message}`;
}

/** The change to make, then the faults that it mends. */
const group = (warnings: readonly Advice[]): Html => {
  const { fix_recipe, path } = warnings[0]!;
  return html`<li class="item">
    ${icon("warning")}
    <div>
      <p class="fix">${path === undefined ? fix_recipe : marked(fix_recipe, path)}</p>
      ${warnings.map((warning) => html`<p class="why">${sentence(warning)}</p>`)}
    </div>
  </li>`;
};

type Notes = NonNullable<Receipt["notes"]>;

/** Warnings as items of a list: those that one change would mend are one item. */
export const warningGroups = (warnings: readonly Advice[]): Html[] =>
  [...Map.groupBy(warnings, ({ fix_recipe }) => fix_recipe).values()].map(group);

/** "It is live, but 11 things are broken or risky." */
const verdict = (warnings: number, live: boolean): string =>
  `${live ? "It is live, but " : ""}${brokenWords(warnings)}`;

/** The part of the warnings. `live`: visitors can see the site now. */
function warned({ warnings, left_out = 0 }: Notes, live: boolean): Html | false {
  if (warnings.length === 0) return false;
  const groups = warningGroups(warnings);
  const [open, folded] = [groups.slice(0, MOST_OPEN), groups.slice(MOST_OPEN)];
  return html`<div class="part warn-part">
    <h3>${icon("warning")} ${verdict(warnings.length, live)}</h3>
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

const ticked = (words: string | Html): Html =>
  html`<li class="item fixed">
    ${icon("check")}
    <p>${words}</p>
  </li>`;

/** Nothing of the old site is left: that is rarely meant. */
const NOTHING_LEFT = "None of the old files is in this version.";
const isAnother = ({ same, changed, removed }: FileChange): boolean => same + changed === 0 && removed > 0;

interface DeployFigures {
  checked: Checked | null;
  /** Against what was live before; null for a first version. */
  changes: FileChange | null;
  /** A path that changed, to know the version by. */
  example?: string | null;
}

function changeSentence(changes: FileChange, example: string | null): Html {
  const more = changes.added + changes.changed + changes.removed > 1;
  return html`${changeWords(changes)} beside the version that was live
  before${example !== null && html`: <code dir="auto">${example}</code>${more && ", …"}`}`;
}

/** The figures: how much was checked and what changed, said even if all is well. `more`: what can be done about it. */
export function figuresPart(
  { checked, changes, example = null }: DeployFigures,
  warnings: number,
  more?: Html,
): Html | false {
  const sentence = checked && checkedSentence(checked, warnings);
  if (sentence === null && changes === null && !more) return false;
  const change = changes && changeSentence(changes, example);
  return html`<div class="part ${changes && isAnother(changes) && "warn-part"}">
    ${changes && isAnother(changes) && html`<h3>${icon("warning")} ${NOTHING_LEFT}</h3>`}
    <ul class="items" role="list">
      ${sentence && ticked(sentence)} ${change && ticked(change)}
    </ul>
    ${more}
  </div>`;
}

/** "12 files, 184 KB · live in 0.6 s". */
export const sizeLine = ({ files, bytes }: { files: number; bytes: number }, ms?: number): Html =>
  html`${count(files, "file")},
  ${humanSize(bytes)}${ms !== undefined && ` · live in ${(Math.max(ms, 50) / 1000).toFixed(1)} s`}`;

const done = (healed: readonly Healed[]): Html[] =>
  healedParts(healed).map(
    ({ heading, entries }) =>
      html`<div class="part">
        <h3>${heading}</h3>
        <ul class="items" role="list">
          ${entries.map((entry) => ticked(sentence(entry)))}
        </ul>
      </div>`,
  );

const YOURS = "It is yours and does not expire.";

/** The address large, with what copies it. */
const addressBox = (url: string): Html =>
  html`<p class="url">
    ${siteLink(url, url, html`id="receipt-url"`)} ${copyButton("Copy link", "receipt-url", { small: true })}
    <button type="button" class="button small share" data-share="receipt-url">${icon("share", 16)} Share</button>
  </p>`;

interface MadeSite {
  url: string;
  site_id: string;
  /** Epoch milliseconds; null when owned. */
  expires_at: number | null;
  claim_url?: string;
}

interface StayWords {
  now: number;
  /** A day in words: the server writes it in UTC, a script in the reader's time zone. */
  onDay(iso: string, now: number): Html;
  /** How much was published, and in what time. */
  size?: Html | null;
  /** The names of files that were not sent. */
  left_out?: Html | false;
}

/** How long the site stays. */
const until = (expires_at: number | null, { now, onDay }: StayWords): Html =>
  expires_at === null
    ? html`${YOURS}`
    : html`Here until ${onDay(new Date(expires_at).toISOString(), now)}, ${ahead(expires_at - now)} from now.`;

/** The address of a site that was just made, how long it stays, and what to do next. */
export function aboutSite({ url, site_id, expires_at, claim_url }: MadeSite, words: StayWords): Html {
  const stays = html`<p>${until(expires_at, words)}</p>
    ${words.size && html`<p class="small dim">${words.size}</p>`}`;
  const manage =
    expires_at === null && linkButton(`/dashboard/sites/${site_id}`, "Manage this site", { kind: "primary" });
  return html`${addressBox(url)}
    <div class="keep">
      <div>${stays} ${words.left_out}</div>
      ${manage || (claim_url && linkButton(claim_url, "Keep this site", { kind: "primary" }))}
    </div>`;
}

interface Receipt {
  /** "Your site is live", "Live since yesterday, 04:59". */
  heading: string | Html;
  /** Under the heading: the address, how long it stays and what to do next; a page that says so elsewhere leaves it out. */
  about?: Html | false;
  live: boolean;
  /** Null where none were kept: the version is older than that. */
  notes: { healed: readonly Healed[]; warnings: readonly Warning[]; left_out?: number } | null;
  /** Made by `figuresPart`. */
  figures?: Html | false | null;
  /** A picture of the start page. */
  shot?: Html | false;
  /** The folded parts, and further things to do. */
  more?: Html;
  /** A deploy has just ended: the heading takes the focus, and screen readers read it out. */
  focus: boolean;
}

export const receiptRegion = ({ heading, about, live, notes, figures, shot, more, focus }: Receipt): Html =>
  html`<section class="receipt card" aria-label="Receipt">
    <div class="head">
      <div class="ok" ${focus && html`role="status"`}>
        ${live && html`<span class="tick">${icon("check", 18)}</span>`}
        <h2 id="receipt" tabindex="-1" ${focus && html`autofocus`}>${heading}</h2>
      </div>
      ${about} ${focus && html`<svc-left-out></svc-left-out>`}
      ${notes === null && html`<p class="dim small">No receipt was kept with this version.</p>`}
    </div>
    ${notes && warned(notes, live)} ${figures} ${notes && done(notes.healed)}
    ${more && html`<div class="part">${more}</div>`}
  </section>`;

interface Deploy {
  site_id: string;
  version_id: string;
  /** Shown this once; a session needs none. */
  manage_token?: string;
}

/** The ids and the command with which programs and the command line go on. */
export const forPrograms = ({ site_id, version_id, manage_token }: Deploy): Html =>
  html`<details>
    <summary>Tokens and commands</summary>
    <div class="fields">
      ${
        manage_token !== undefined &&
        html`<div>
          <label class="label" for="manage-token">Manage token</label>
          <p class="pair">
            <input class="field mono" id="manage-token" readonly value="${manage_token}" />
            ${copyButton("Copy token", "manage-token", { small: true })}
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
