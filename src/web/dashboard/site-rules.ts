/** `/dashboard/sites/<site_id>/rules`: what answers an address of the site, and the live version's `_redirects` and `_headers` line
 *  by line: what each says, and what is wrong with it (WEB 6, BEYOND 2 to 5). */
import { isMarkup } from "../../base/media-types.ts";
import type { Bytes, Site } from "../../base/types.ts";
import { count, figure } from "../../base/units.ts";
import { visible } from "../../base/visible.ts";
import { html, type Html } from "../../html/template.ts";
import type { Route } from "../../routes/context.ts";
import { MOST_RULE_BYTES } from "../../rules/index.ts";
import { type ReadFor, readingOf, RULE_FILES, type RuleFile, type RuleLine } from "../../rules/reading.ts";
import { DamagedBlob } from "../../store/refusals.ts";
import type { StoredFile, StoredManifest } from "../../store/versions.ts";
import { alertBox, badge, icon } from "../parts.ts";
import { accountPage, type SignedIn } from "../who.ts";
import { answerTo, askForm, type AskedAddress, NOT_ASKED } from "./explained.ts";
import { hrefOf, ownSite, pageField, pageOf, pagesNav } from "./pages.ts";
import { answerSitePage, pathOfTab } from "./site-frame.ts";
import { heldNotice } from "./state-badges.ts";

/** Lines of both files on one page. */
const SHOWN = 100;
/** Characters of a line. */
const LONGEST = 300;

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST).toWellFormed()}…` : text);

/** The beginning of a file that is too long for rules is enough to know that. Null if it is damaged. */
async function bytesOf({ parts }: SignedIn, file: StoredFile): Promise<Bytes | null> {
  try {
    return await (await parts.store.blobs.open(file)).slice(0, MOST_RULE_BYTES + 1).bytes();
  } catch (error) {
    if (error instanceof DamagedBlob) return null;
    throw error;
  }
}

interface LiveRules {
  /** Those that the live version has. */
  files: readonly RuleFile[];
  damaged: readonly RuleFile[];
  lines: readonly RuleLine[];
}

async function liveRules(ctx: SignedIn, site: Site, manifest: StoredManifest): Promise<LiveRules> {
  const files = RULE_FILES.filter((file) => manifest.has(file));
  const about: ReadFor = {
    files: manifest,
    isPage: (path) => isMarkup(manifest.get(path)!.media_type),
    spa_never: site.spa_override === 0,
    has_password: site.access_hash !== null,
  };
  const damaged: RuleFile[] = [];
  const lines: RuleLine[] = [];
  for (const file of files) {
    const bytes = await bytesOf(ctx, manifest.get(file)!);
    if (bytes === null) damaged.push(file);
    else lines.push(...readingOf(file, bytes, about));
  }
  return { files, damaged, lines };
}

/** A line's place among the lines of the page that has it. */
const idOf = ({ file, line }: Pick<RuleLine, "file" | "line">): string => `${file.slice(1)}-${line}`;

const STATUS = /\s(\d{3}!?)$/;

/** A status of `_redirects`, or that the line is without effect. */
function badgeOf({ file, text, counts }: RuleLine): Html | false {
  if (!counts) return badge("Does nothing", "warn");
  if (file === "_headers") return false;
  return badge(STATUS.exec(text)?.[1] ?? "302", "live");
}

const problemPart = ({ message, fix_recipe }: RuleLine["problems"][number]): Html =>
  html`<p class="wrong-rule">
    ${icon("warning", 16)}
    <span><b>${fix_recipe}</b> ${message}</span>
  </p>`;

const classOf = ({ file, below }: RuleLine): string => (file === "_redirects" ? "" : below ? "under-path" : "path");

const lineRow = (rule: RuleLine): Html =>
  html`<li id="${idOf(rule)}" class="${classOf(rule)}">
    <span class="no"><span class="hidden">Line </span>${rule.line}</span>
    <div>
      ${rule.text !== "" && html`<p><code dir="auto">${visible(cut(rule.text))}</code></p>`}
      ${rule.says !== "" && html`<p class="small dim" dir="auto">${rule.says}</p>`} ${rule.problems.map(problemPart)}
    </div>
    ${badgeOf(rule)}
  </li>`;

const HINTS: Record<RuleFile, string> = {
  _redirects: "The first line that fits answers. A file that is there goes before it, unless the line has a !.",
  _headers: "Every path that fits counts, from top to bottom.",
};

const isWarned = ({ problems }: RuleLine): boolean => problems.length > 0;

function fileSection(file: RuleFile, all: LiveRules, shown: readonly RuleLine[]): Html | false {
  const own = all.lines.filter((one) => one.file === file);
  const rows = shown.filter((one) => one.file === file);
  if (!all.files.some((one) => one === file) || (rows.length === 0 && own.length > 0)) return false;
  const warned = own.filter(isWarned).length;
  return html`<section aria-labelledby="${file.slice(1)}">
    <h2 id="${file.slice(1)}"><code>${file}</code></h2>
    <p class="small dim">
      ${count(own.length, "line")}${warned > 0 && `, ${figure(warned)} with a warning`}. ${HINTS[file]}
    </p>
    ${all.damaged.some((one) => one === file) && html`<p>The server cannot read this file: deploy it again.</p>`}
    ${
      rows.length > 0 &&
      html`<ul class="rows card rules" role="list" aria-label="Lines of ${file}">
        ${rows.map(lineRow)}
      </ul>`
    }
  </section>`;
}

/** The lists: all lines, and those with a warning. Nothing where no line has one. */
function listsNav(path: string, { lines }: LiveRules, warned_alone: boolean): Html | false {
  const warned = lines.filter(isWarned).length;
  const link = (words: string, n: number, show: string, current: boolean): Html =>
    html`<a href="${hrefOf(path, { show })}" class="${show !== "" && "waits"}" ${current && html`aria-current="page"`}
      >${words} <span class="count">${figure(n)}</span></a
    >`;
  return (
    warned > 0 &&
    html`<nav class="lists" aria-label="Lines">
      ${link("All lines", lines.length, "", !warned_alone)} ${link("With a warning", warned, "warned", warned_alone)}
    </nav>`
  );
}

const EXAMPLES: readonly (readonly [RuleFile, string])[] = [
  ["_redirects", "/old-page  /new-page  301\n/blog/*    /posts/:splat"],
  ["_headers", "/assets/*\n  Cache-Control: public, max-age=31536000"],
];

const noRules = html`<div class="card empty">
  ${icon("info", 40)}
  <h2>No rules yet</h2>
  <p>Two text files at the root of what you deploy make them: one leads visitors on, the other sets headers.</p>
  <div class="examples">
    ${EXAMPLES.map(
      ([file, text]) =>
        html`<figure>
          <figcaption><code>${file}</code></figcaption>
          <pre tabindex="0" role="group" aria-label="An example of ${file}"><code>${text}</code></pre>
        </figure>`,
    )}
  </div>
  <p><a href="/docs/rules">How rules are written</a></p>
</div>`;

function lists(ctx: SignedIn, path: string, all: LiveRules): Html {
  if (all.files.length === 0) return noRules;
  const warned_alone = ctx.query.get("show") === "warned";
  const chosen = warned_alone ? all.lines.filter(isWarned) : all.lines;
  const pages = Math.max(1, Math.ceil(chosen.length / SHOWN));
  const page = Math.min(pageOf(ctx.query), pages);
  const shown = chosen.slice((page - 1) * SHOWN, page * SHOWN);
  const show = warned_alone ? "warned" : "";
  return html`${listsNav(path, all, warned_alone)} ${RULE_FILES.map((file) => fileSection(file, all, shown))}
    ${pagesNav(page, pages, (to) => hrefOf(path, { show, page: pageField(to) }))}
    <p class="small dim">
      These are the rules of the live version: a rollback brings its own back.
      <a href="/docs/rules">How rules are written</a>
    </p>`;
}

async function rulesPage(ctx: SignedIn, site: Site, asked: AskedAddress): Promise<Response> {
  const manifest = await ctx.parts.store.versions.manifest(site.site_id, site.live_version_id);
  // A deploy went live since the row was read, and the version that was left is removed already; or the site is.
  if (manifest === null) return rulesPage(ctx, await ownSite(ctx), asked);
  const path = pathOfTab(site.site_id, "rules");
  const all = await liveRules(ctx, site, manifest);
  const at = new Map(all.lines.map((line, i) => [`${line.file}:${line.line}`, [line, i] as const]));
  const hrefOfLine = (place: string): string | null => {
    const found = at.get(place);
    if (found === undefined) return null;
    const [line, i] = found;
    return `${hrefOf(path, { page: pageField(Math.floor(i / SHOWN) + 1) })}#${idOf(line)}`;
  };
  const { refusal } = asked;
  const body = html`${alertBox(refusal)} ${heldNotice(ctx, site)}
    <div class="stack rules-page">${askForm(path, ctx.query, asked, hrefOfLine)} ${lists(ctx, path, all)}</div>`;
  return answerSitePage(ctx, site, { tab: "rules", body, refusal });
}

/** `GET …/rules?url=&show=&page=`. */
const showRules = accountPage(async (ctx) => {
  const site = await ownSite(ctx);
  return rulesPage(ctx, site, ctx.query.get("url") ? await answerTo(ctx, site) : NOT_ASKED);
});

export const RULES_ROWS: readonly Route[] = [["GET", "/dashboard/sites/:id/rules", showRules]];
