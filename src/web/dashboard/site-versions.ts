/** `/dashboard/sites/<site_id>/versions`: each is known by its time and by what it changed, and can be opened, compared, made
 *  live again and deleted (WEB 6). */
import type { Refusal } from "../../base/errors.ts";
import { siteState } from "../../base/site-state.ts";
import { html, type Html } from "../../html/template.ts";
import { siteUrl } from "../../http/hosts.ts";
import type { Route } from "../../routes/context.ts";
import { makeVersionLive } from "../../routes/versions.ts";
import type { VersionChanges } from "../../store/receipts.ts";
import type { RenderBrief } from "../../store/renders.ts";
import type { Site, Version } from "../../base/types.ts";
import { count, figure, humanSize, UNIT_MS } from "../../base/units.ts";
import { csrfOf } from "../frame.ts";
import { alertBox, badge, button, csrfField, linkButton, visuallyHidden, warningBox } from "../parts.ts";
import { accountForm, accountPage, type SignedIn } from "../who.ts";
import { dayTimeFirst, monthOf } from "../words.ts";
import { hrefOf, ownSite, pageField, pageOf, pagesNav, pathOfSite, pathOfVersion } from "./pages.ts";
import { looks, thumbnail } from "./seen.ts";
import { answerSitePage, pathOfTab } from "./site-frame.ts";
import { heldNotice } from "./state-badges.ts";

type ListedVersion = Version & { live: boolean };

/** The address at which a version is seen as it is, live or not. */
export const versionUrl = ({ parts }: SignedIn, { slug }: Pick<Site, "slug">, version_id: string): string =>
  siteUrl(parts.config, `${version_id}--${slug}`);

/** The beginning of a version's id, by which people tell it apart. */
const shortId = (version_id: string): Html => html`<code title="${version_id}">${version_id.slice(0, 8)}</code>`;

const QUIET = { kind: "quiet", small: true } as const;

const openButton = (ctx: SignedIn, site: Site, version_id: string): Html =>
  linkButton(versionUrl(ctx, site, version_id), html`<span>Open${visuallyHidden(`version ${version_id}`)}</span>`, {
    ...QUIET,
    attributes: html`rel="noopener"`,
  });

/** Leads to the page that asks first. */
const deleteButton = ({ site_id }: Site, version_id: string): Html =>
  linkButton(
    `${pathOfVersion(site_id, version_id)}/delete`,
    html`<span>Delete${visuallyHidden(version_id)}</span>`,
    QUIET,
  );

const makeLive = (version_id: string): Html =>
  button(html`<span>Make${visuallyHidden(version_id)} live</span>`, {
    small: true,
    attributes: html`name="version_id" value="${version_id}"`,
  });

/** The path of a file that changed, for a sentence. */
export const exampleOf = ({ named }: VersionChanges): string | null => named.changed ?? named.added ?? named.removed;

/** `1 added, 2 changed: README.md, …`. */
function changeLine(changes: VersionChanges): Html | false {
  const { added, changed, removed } = changes;
  const kinds = [
    added > 0 && html`<span class="plus">${figure(added)} added</span>`,
    changed > 0 && html`${figure(changed)} changed`,
    removed > 0 && html`<span class="minus">${figure(removed)} removed</span>`,
  ].filter((kind) => kind !== false);
  if (kinds.length === 0) return false;
  const example = exampleOf(changes);
  const more = added + changed + removed > 1;
  return html`${kinds.map((kind, i) => html`${i > 0 && ", "}${kind}`)}${
    example !== null && html`: <span dir="auto">${example}</span>${more && ", …"}`
  } · `;
}

interface KnownOfVersions {
  /** A browser's findings by version; null if the server has no browser. */
  seen: ReadonlyMap<string, RenderBrief> | null;
  /** Those that their own addresses do not show, for a secret was seen in them. */
  withheld: ReadonlySet<string>;
  /** How each differs from what was live before it. */
  changes: ReadonlyMap<string, VersionChanges>;
}

/** Whether versions may be made live and deleted. */
interface VersionList extends KnownOfVersions {
  site: Site;
  may_change: boolean;
  /** Whether "Delete" is among the buttons of a row. */
  deletes: boolean;
}

function row(ctx: SignedIn, list: VersionList, version: ListedVersion): Html {
  const { site, may_change, deletes, seen, withheld, changes } = list;
  const { version_id, created_at, files, bytes, live } = version;
  const render = seen?.get(version_id);
  const warned = render?.warnings.length ?? 0;
  const hidden = withheld.has(version_id);
  const changed = changes.get(version_id);
  const page = hrefOf(`${pathOfSite(site.site_id)}/changes`, { from: changed?.against ?? "", to: version_id });
  return html`<li>
    ${seen && thumbnail(site.site_id, version_id, render?.pictured ?? false)}
    <div>
      <p class="titled">
        <span class="name">${dayTimeFirst(created_at, ctx.parts.now())}</span>
        ${live && site.disabled_reason === null && badge("Live", "live")} ${hidden && badge("Withheld", "warn")}
        ${warned > 0 && badge(count(warned, "warning"), "warn")}
      </p>
      <p class="sub">
        ${changed && changeLine(changed)}${shortId(version_id)} ·
        <span class="size">${count(files, "file")}, ${humanSize(bytes)}</span>
      </p>
      ${hidden && html`<p class="small dim">A secret was seen in it, so its own address shows it to nobody.</p>`}
    </div>
    <div class="acts">
      ${linkButton(page, html`<span>Changes${visuallyHidden(`in ${version_id}`)}</span>`, QUIET)}
      ${!hidden && openButton(ctx, site, version_id)}
      ${may_change && deletes && !live && deleteButton(site, version_id)} ${may_change && !live && makeLive(version_id)}
    </div>
  </li>`;
}

async function knownOf(ctx: SignedIn, { site_id }: Site, rows: readonly Version[]): Promise<KnownOfVersions> {
  const { versions, renders } = ctx.parts.store;
  const ids = rows.map(({ version_id }) => version_id);
  return {
    seen: looks(ctx) ? await renders.ofVersions(site_id, ids) : null,
    withheld: new Set(await versions.withheld(site_id)),
    changes: await versions.changes(site_id, ids),
  };
}

/** The heading over a version's row: the last seven days, then the months. */
function periodOf({ created_at }: Version, now: number): string {
  return now - Date.parse(created_at) < 7 * UNIT_MS.d ? "The last 7 days" : monthOf(created_at);
}

const listOf = (label: string, list: VersionList, items: readonly Html[]): Html =>
  html`<ul class="rows card ver${list.seen && " pictured"}" role="list" aria-label="${label}">
    ${items}
  </ul>`;

const rollbackForm = (ctx: SignedIn, { site_id }: Site, content: Html): Html =>
  html`<form method="post" action="${pathOfSite(site_id)}/rollback">${csrfField(csrfOf(ctx)!)} ${content}</form>`;

/** The number of versions on a page, and beside the overview. */
const SHOWN = 20;
const SHOWN_FIRST = 4;

/** The newest versions, under the overview. */
export async function newestVersions(ctx: SignedIn, site: Site, may_change: boolean): Promise<Html> {
  const shown = await ctx.parts.store.versions.page(site.site_id, { page: 1, per_page: SHOWN_FIRST });
  const list = { site, may_change, deletes: false, ...(await knownOf(ctx, site, shown.rows)) };
  const items = shown.rows.map((version) => row(ctx, list, version));
  return html`<section aria-labelledby="versions">
    <h2 id="versions">Versions</h2>
    ${rollbackForm(ctx, site, listOf("Versions", list, items))}
    ${
      shown.matching > shown.rows.length &&
      html`<p class="pages">
        <span>The newest ${shown.rows.length} of ${figure(shown.matching)}</span>
        <a href="${pathOfTab(site.site_id, "versions")}">All versions</a>
      </p>`
    }
  </section>`;
}

/** Asks before a version in which a secret was seen goes live: everybody could read it again. */
function askedAgain(ctx: SignedIn, site: Site, { withheld, may_change }: VersionList): Html | false {
  const version_id = ctx.query.get("sure") ?? "";
  if (!may_change || !withheld.has(version_id)) return false;
  const path = `${pathOfVersion(site.site_id, version_id)}/delete`;
  return html`<div class="narrow">
    <section class="card prose" aria-labelledby="sure">
      <h2 id="sure" tabindex="-1" autofocus>Show the secret again?</h2>
      ${warningBox(html`A secret was seen in version ${version_id}. Live again, everybody could read it.`)}
      <form method="post" action="${pathOfSite(site.site_id)}/rollback" class="actions">
        ${csrfField(csrfOf(ctx)!)} <input type="hidden" name="sure" value="true" />
        ${linkButton(path, "Delete this version", { kind: "primary" })}
        ${button("Make it live all the same", { attributes: html`name="version_id" value="${version_id}"` })}
        <a href="${pathOfTab(site.site_id, "versions")}">Cancel</a>
      </form>
    </section>
  </div>`;
}

async function versionsPage(ctx: SignedIn, site: Site, refusal?: Refusal): Promise<Response> {
  const { parts, query } = ctx;
  const now = parts.now();
  const shown = await parts.store.versions.page(site.site_id, { page: pageOf(query), per_page: SHOWN });
  const may_change = siteState(site, now) === "live";
  const list = { site, may_change, deletes: true, ...(await knownOf(ctx, site, shown.rows)) };
  const periods = [...Map.groupBy(shown.rows, (version) => periodOf(version, now))];
  const lists = periods.map(
    ([period, versions]) =>
      html`<h2 class="day">${period}</h2>
        ${listOf(
          `Versions, ${period}`,
          list,
          versions.map((version) => row(ctx, list, version)),
        )}`,
  );
  const path = pathOfTab(site.site_id, "versions");
  const asked = askedAgain(ctx, site, list);
  const body = html`${alertBox(refusal)} ${heldNotice(ctx, site)}
    <div class="stack">${asked} ${rollbackForm(ctx, site, html`${lists}`)}</div>
    ${pagesNav(shown.page, shown.pages, (to) => hrefOf(path, { page: pageField(to) }))}
    <p class="small dim below-list">Times are UTC.</p>`;
  return answerSitePage(ctx, site, { tab: "versions", body, has_primary: asked !== false, refusal });
}

/** `GET …/versions?page=`. */
const showVersions = accountPage(async (ctx) => versionsPage(ctx, await ownSite(ctx)));

/** `POST …/rollback`. */
const rollBack = accountForm({
  page: ({ params }) => pathOfTab(params.id!, "versions"),
  async act(ctx, fields) {
    const { site_id, live_version_id } = await ownSite(ctx);
    const version_id = fields.get("version_id") ?? "";
    const asks = fields.get("sure") !== "true" && version_id !== live_version_id;
    if (asks && new Set(await ctx.parts.store.versions.withheld(site_id)).has(version_id))
      return hrefOf(pathOfTab(site_id, "versions"), { sure: version_id });
    await makeVersionLive(ctx, { site_id, by: ctx.caller, version_id });
    return `${pathOfSite(site_id)}?done=live`;
  },
  again: async (ctx, refusal) => versionsPage(ctx, await ownSite(ctx), refusal),
});

export const VERSION_ROWS: readonly Route[] = [
  ["GET", "/dashboard/sites/:id/versions", showVersions],
  ["POST", "/dashboard/sites/:id/rollback", rollBack],
];
