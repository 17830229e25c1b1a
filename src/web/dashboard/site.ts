/** `/dashboard/sites/<site_id>`: what is live since when, what was checked, what changed and how to go back; a new version;
 *  what waits for the owner (WEB 6). */
import { Refusal } from "../../base/errors.ts";
import { siteState } from "../../base/site-state.ts";
import type { Site, Version } from "../../base/types.ts";
import { html, type Html } from "../../html/template.ts";
import { answerRedirect } from "../../http/answers.ts";
import { redeployByForm } from "../../routes/deploys/deploy.ts";
import type { Ctx, Route } from "../../routes/context.ts";
import type { NoteCounts } from "../../store/notes.ts";
import type { VersionChanges } from "../../store/receipts.ts";
import { isSessionEnded } from "../../store/refusals.ts";
import { csrfOf } from "../frame.ts";
import { alertBox, badge, button, csrfField, icon, linkButton } from "../parts.ts";
import { figuresPart, forPrograms, receiptRegion, sizeLine } from "../receipt.ts";
import { accountPage, isShownAgain, isSignedIn, type SignedIn, signedOutMeanwhile } from "../who.ts";
import { count } from "../../base/units.ts";
import { dayTime, dayTimeWords } from "../words.ts";
import { zone, zoneHead } from "../zone.ts";
import { hrefOf, ownSite, pathOfSite } from "./pages.ts";
import { seenSection, warnedInBrowser } from "./seen.ts";
import { answerSitePage, factsOf, pathOfTab } from "./site-frame.ts";
import { previewsCard } from "./site-previews.ts";
import { settingsCard } from "./site-settings.ts";
import { exampleOf, newestVersions } from "./site-versions.ts";
import { heldNotice } from "./state-badges.ts";

/** The values of `?done=` after a deploy. */
const DEPLOYED = new Set(["deployed", "unchanged"]);

/** How long the deploy took that led here, as its page says; undefined for none, and for nonsense. */
function tookMs({ query }: SignedIn): number | undefined {
  const text = query.get("ms") ?? "";
  return /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

interface LiveStanding {
  version: Version;
  since: string;
  /** The one that was live before, to go back to. */
  before: Version | null;
  changes: VersionChanges | null;
}

/** How it differs from the version that one would go back to: mostly the receipt knows. */
async function changesSince(ctx: SignedIn, version: Version, before: Version | null, known: VersionChanges | null) {
  if (before === null || known?.against === before.version_id) return known;
  const { versions } = ctx.parts.store;
  return (await versions.changesBetween(version.site_id, before.version_id, version.version_id)) ?? known;
}

/** "Go back to 20 November, 21:04"; forward where that one is newer. Its id tells it from one of the same minute. */
function wayTo(before: Version, version: Version, now: number): string {
  const way = before.created_at > version.created_at ? "Go forward to" : "Go back to";
  const [then, here] = [before, version].map(({ created_at }) => dayTimeWords(created_at, now));
  return `${way} ${then}${then === here ? ` (${before.version_id.slice(0, 8)})` : ""}`;
}

/** "See the changes", and the way to the version that was live before. */
function waysOn(ctx: SignedIn, site: Site, { version, before, changes }: LiveStanding): Html | undefined {
  if (before === null || changes === null) return undefined;
  const now = ctx.parts.now();
  const from = hrefOf(`${pathOfSite(site.site_id)}/changes`, { from: before.version_id, to: version.version_id });
  const may_go_back = siteState(site, now) === "live" && before.withhold === 0;
  return html`<form class="actions" method="post" action="${pathOfSite(site.site_id)}/rollback">
    ${csrfField(csrfOf(ctx)!)} ${linkButton(from, "See the changes", { small: true })}
    ${
      may_go_back &&
      button(wayTo(before, version, now), {
        small: true,
        attributes: html`name="version_id" value="${before.version_id}"`,
      })
    }
  </form>`;
}

/** The receipt of the live version. `done` is the result of the deploy that led here. */
async function liveReceipt(ctx: SignedIn, site: Site, version: Version, done: string): Promise<Html> {
  const { parts } = ctx;
  const { versions } = parts.store;
  const { site_id } = site;
  const shown = siteState(site, parts.now()) !== "disabled";
  const receipt = await versions.receipt(site_id, version.version_id);
  const { live_since, before } = await versions.standing(site_id);
  const since = live_since === null ? version.created_at : new Date(live_since).toISOString();
  const changes = await changesSince(ctx, version, before, receipt?.changes ?? null);
  const live: LiveStanding = { version, since, before, changes };
  const headings = new Map([
    ["deployed", "Your new version is live"],
    ["unchanged", "No changes: this version is live already"],
  ]);
  return receiptRegion({
    heading: shown ? (headings.get(done) ?? html`Live since ${dayTime(since, parts.now())}`) : "Not shown to visitors",
    about: html`<p class="small dim">${sizeLine(version, done === "deployed" ? tookMs(ctx) : undefined)}</p>`,
    live: shown,
    notes: receipt,
    figures: figuresPart(
      { checked: receipt?.checked ?? null, changes, example: changes && exampleOf(changes) },
      (receipt?.warnings.length ?? 0) + (await warnedInBrowser(ctx, site)),
      waysOn(ctx, site, live),
    ),
    more: forPrograms({ site_id, version_id: version.version_id }),
    focus: DEPLOYED.has(done),
  });
}

/** The list of what waits for the owner; nothing if nothing does. A thread that begins with a comment that waits is told once. */
function todoCard({ site_id }: Site, { reported, pending, begun }: NoteCounts): Html | false {
  const path = pathOfTab(site_id, "comments");
  const lines = [
    { n: reported, noun: "comment", what: "reported", show: "reported", act: "Look" },
    { n: pending, noun: "comment", what: "waiting for you", show: "pending", act: "Approve" },
    { n: begun, noun: "thread", what: "open", show: "open", act: "Answer" },
  ].filter(({ n }) => n > 0);
  if (lines.length === 0) return false;
  return html`<section class="card todo" aria-labelledby="todo">
    <h2 id="todo">For you to do</h2>
    <ul role="list">
      ${lines.map(
        ({ n, noun, what, show, act }) =>
          html`<li class="${show === "open" && "calm"}">
            ${icon(show === "open" ? "check" : "warning")}
            <span>${count(n, noun)} ${n === 1 ? "is" : "are"} ${what}</span>
            ${linkButton(hrefOf(path, { show }), act, { small: true })}
          </li>`,
      )}
    </ul>
  </section>`;
}

/** The region "New version" of a site's page: the drop zone, for this site. */
const newVersionSection = (ctx: SignedIn, { site_id, live_version_id }: Site, refusal?: Refusal): Html =>
  html`<section aria-labelledby="new-version">
    <h2 id="new-version" class="hidden">New version</h2>
    ${zone(ctx, {
      target: { site_id, live_version_id },
      title: "Publish a new version",
      hint: "Drop a folder, files or a zip anywhere on this page. It goes live at the same address.",
      refusal,
    })}
  </section>`;

/** The page, also after the form of a deploy was refused. */
async function overview(ctx: SignedIn, site: Site, refusal?: Refusal): Promise<Response> {
  const { parts, query } = ctx;
  const { site_id, live_version_id } = site;
  const live = await parts.store.versions.get(site_id, live_version_id);
  // A deploy went live since the row was read, and the version that was left is removed already; or the site is.
  if (live === null) return overview(ctx, await ownSite(ctx), refusal);
  const done = refusal ? "" : (query.get("done") ?? "");
  const may_change = siteState(site, parts.now()) === "live";
  const facts = await factsOf(ctx, site);
  const body = html`${alertBox(may_change ? undefined : refusal)} ${heldNotice(ctx, site)}
    <div class="two">
      <div class="stack">
        ${await liveReceipt(ctx, site, live, done)} ${await seenSection(ctx, site)}
        ${may_change && newVersionSection(ctx, site, refusal)} ${await newestVersions(ctx, site, may_change)}
      </div>
      <div class="side">
        ${todoCard(site, facts.notes)} ${previewsCard(ctx, site, facts.previews, may_change)}
        ${settingsCard(site, live.spa_enabled === 1)}
      </div>
    </div>`;
  return answerSitePage(ctx, site, {
    tab: "overview",
    facts,
    body,
    head: may_change && zoneHead(),
    refusal,
    ...(done === "live" && { said: html`The version of ${dayTime(live.created_at, parts.now())} is live.` }),
    ...(DEPLOYED.has(done) && { said: null }),
  });
}

/** `GET /dashboard/sites/:id?done=`. */
const showSite = accountPage(async (ctx) => overview(ctx, await ownSite(ctx)));

/** `POST …/deploys`: a form with a zip (WEB 4.8). */
async function deployByForm(ctx: Ctx): Promise<Response> {
  const path = pathOfSite(ctx.params.id!);
  if (!isSignedIn(ctx)) return signedOutMeanwhile(ctx, path);
  await ownSite(ctx); // another's is a 404 here, as on every page
  try {
    const { changed } = await redeployByForm(ctx);
    const ms = Math.round(ctx.exchange.elapsed_ms());
    return answerRedirect(`${path}?done=${changed ? `deployed&ms=${ms}` : "unchanged"}`, ctx.exchange);
  } catch (error) {
    if (isSessionEnded(error)) return signedOutMeanwhile(ctx, path);
    if (!isShownAgain(error)) throw error;
    return overview(ctx, await ownSite(ctx), error);
  }
}

export const SITE_ROWS: readonly Route[] = [
  ["GET", "/dashboard/sites/:id", showSite],
  ["POST", "/dashboard/sites/:id/deploys", deployByForm, "file_form"],
];
