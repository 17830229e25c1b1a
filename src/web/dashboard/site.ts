/** `/dashboard/sites/<site_id>`: a site, its live version's receipt, its versions and settings (WEB 6). */
import { Refusal } from "../../base/errors.ts";
import { siteState } from "../../base/site-state.ts";
import type { Site, Version } from "../../base/types.ts";
import { html, type Html } from "../../html/template.ts";
import { siteUrl, urlBeside } from "../../http/hosts.ts";
import type { ListedPreview } from "../../store/previews.ts";
import { answerPage, csrfOf } from "../frame.ts";
import {
  alertBox,
  badge,
  button,
  copyButton,
  csrfField,
  field,
  linkButton,
  radios,
  siteLink,
  visuallyHidden,
} from "../parts.ts";
import { addressBox, forPrograms, receiptRegion, YOURS } from "../receipt.ts";
import { accountForm, accountPage, isShownAgain, isSignedIn, type SignedIn, signedOutMeanwhile } from "../who.ts";
import { ago, onDay, titled } from "../words.ts";
import { zone, zoneHead } from "../zone.ts";
import { commentsCard } from "./comment.ts";
import { nameOf, ownSite, pageOf, pathOfSite } from "./pages.ts";
import { seenSection } from "./seen.ts";
import { heldNotice, STATE_BADGES } from "./state-badges.ts";
import { versionsSection } from "./site-versions.ts";
import { answerRedirect } from "../../http/answers.ts";
import { fittingLabel, LONGEST_LABEL } from "../../routes/account.ts";
import type { Ctx, Route } from "../../routes/context.ts";
import { makePreviewLive, makeVersionLive } from "../../routes/sites.ts";
import { redeployByForm } from "../../routes/deploys/deploy.ts";
import type { SiteChange } from "../../store/ownership.ts";
import { isSessionEnded } from "../../store/refusals.ts";

/** A form of the page that was refused. */
interface Refused {
  refusal: Refusal;
  /** The values of the form; undefined if they are not shown again. */
  sent?: URLSearchParams;
  /** True if the form published a version: then the zone shows the refusal. */
  deploy?: boolean;
}

/** The number of versions on a page. */
const VERSIONS_SHOWN = 20;

/** The values of `?done=` after a deploy. */
const DEPLOYED = new Set(["deployed", "unchanged"]);

/** The receipt of the live version's deploy. `done` is the result of the deploy that led here. */
async function liveReceipt({ parts }: SignedIn, site: Site, done: string): Promise<Html> {
  const { site_id, live_version_id } = site;
  const state = siteState(site, parts.now());
  const now_live = html`Version <code>${live_version_id}</code>${state !== "disabled" && " is live"}`;
  return receiptRegion({
    about:
      DEPLOYED.has(done) &&
      html`${addressBox(siteUrl(parts.config, site.slug))}
        <p>${YOURS}</p>`,
    heading: done === "unchanged" ? "No changes: this version is live already" : now_live,
    live: state !== "disabled",
    notes: await parts.store.versions.receipt(site_id, live_version_id),
    more: forPrograms({ site_id, version_id: live_version_id }),
    focus: DEPLOYED.has(done),
  });
}

/** The page, also after a form of it was refused. */
async function sitePage(ctx: SignedIn, site: Site, refused?: Refused): Promise<Response> {
  const { parts, query } = ctx;
  const { site_id, live_version_id } = site;
  const { versions } = parts.store;
  const live = await versions.get(site_id, live_version_id);
  // A deploy went live since the row was read, and the version that was left is removed already; or the site is.
  if (live === null) return sitePage(ctx, await ownSite(ctx), refused);
  const done = refused ? "" : (query.get("done") ?? "");
  const csrf = csrfOf(ctx)!;
  const may_change = siteState(site, parts.now()) === "live";
  const in_zone = may_change && refused?.deploy === true;
  const shown = await versions.page(site_id, { page: pageOf(query), per_page: VERSIONS_SHOWN });
  const body = html`${siteHead(ctx, site)} ${alertBox(in_zone ? undefined : refused?.refusal)} ${heldNotice(ctx, site)}
    <div class="two">
      <div class="stack">
        ${await liveReceipt(ctx, site, done)} ${await seenSection(ctx, site)}
        ${may_change && newVersionSection(ctx, site, in_zone ? refused.refusal : undefined)}
        ${await previewsSection(ctx, { site, csrf, may_change })}
        ${await versionsSection(ctx, { site, versions: shown, csrf, may_change })}
      </div>
      <div class="side">
        ${settingsSection({ site, live, csrf, refusal: refused?.refusal, sent: refused?.sent })}
        ${commentsCard(site, await parts.store.notes.counts(site_id))} ${deleteSection(site)}
      </div>
    </div>`;
  return answerPage(ctx, {
    title: nameOf(site),
    body,
    current: "sites",
    width: "list",
    scripts: ["copy"],
    head: may_change && zoneHead(),
    refusal: refused?.refusal,
    ...(done === "live" && { said: html`Version <code>${live_version_id}</code> is live.` }),
    ...(DEPLOYED.has(done) && { said: null }),
  });
}

/** `GET /dashboard/sites/:id?page=&done=`. */
export const showSite = accountPage(async (ctx) => sitePage(ctx, await ownSite(ctx)));

/** The name, the address, the state. */
function siteHead({ parts }: SignedIn, site: Site): Html {
  const [now, url] = [parts.now(), siteUrl(parts.config, site.slug)];
  const state = siteState(site, now);
  // A disabled site shows its pages to no visitor, so its button is not the main one.
  const kind = state === "disabled" ? "plain" : "primary";
  return html`<div class="pagehead">
    <div>
      <h1 dir="auto">${nameOf(site)}</h1>
      <p class="facts">
        ${siteLink(url, url, html`id="url"`)} ${STATE_BADGES[state]}
        <span>Yours since ${onDay(site.created_at, now)}. It does not expire.</span>
      </p>
    </div>
    <p class="actions">
      ${copyButton("Copy link", "url")} ${linkButton(url, "Open site", { kind, attributes: html`rel="noopener"` })}
    </p>
  </div>`;
}

/** The region "New version" of a site's page: the drop zone, for this site. */
const newVersionSection = (ctx: SignedIn, { site_id, live_version_id }: Site, refusal?: Refusal): Html =>
  html`<section aria-labelledby="new-version">
    <h2 id="new-version">New version</h2>
    ${zone(ctx, {
      target: { site_id, live_version_id },
      title: "Drop a new version here",
      hint: "It goes live at the same address.",
      refusal,
    })}
  </section>`;

interface PreviewList {
  site: Site;
  csrf: string;
  /** Whether a preview may be made live, or ended. */
  may_change: boolean;
}

/** The value by which forms name a preview: its own name if it has one, for a version_id means every preview of that
 *  version. */
const calledBy = ({ name, version_id }: ListedPreview): string => name ?? version_id;

function actions(preview: ListedPreview, live: boolean): Html {
  const called = calledBy(preview);
  const small = (name: string) => ({ small: true, attributes: html`name="${name}" value="${called}"` });
  return html`${button(html`<span>End${visuallyHidden(called)}</span>`, { ...small("end"), kind: "quiet" })}
  ${!live && button(html`<span>Make${visuallyHidden(called)} live</span>`, small("promote"))}`;
}

function row(ctx: SignedIn, { site, may_change }: PreviewList, preview: ListedPreview): Html {
  const { name, version_id, title, created_at, expires_at } = preview;
  const called = calledBy(preview);
  const live = version_id === site.live_version_id;
  const now = ctx.parts.now();
  return html`<li>
    <div>
      <p class="titled">
        <span class="name cut">${name ?? titled(title)}</span>
        ${live && badge("Same as live", "live")}
      </p>
      <p class="sub">
        <code>${version_id}</code> · ${ago(created_at, now)} · until ${onDay(new Date(expires_at).toISOString(), now)}
      </p>
    </div>
    <div class="acts">
      ${linkButton(
        urlBeside(ctx.parts.config, called, site.slug),
        html`<span>Open${visuallyHidden(`preview ${called}`)}</span>`,
        {
          kind: "quiet",
          small: true,
          attributes: html`rel="noopener"`,
        },
      )}
      ${may_change && actions(preview, live)}
    </div>
  </li>`;
}

/** The list "Previews" of a site's page: each can be opened, made live and ended. Nothing if there are none. */
async function previewsSection(ctx: SignedIn, shown: PreviewList): Promise<Html | null> {
  const { site, csrf } = shown;
  const previews = await ctx.parts.store.previews.list(site.site_id);
  if (previews.length === 0) return null;
  return html`<section aria-labelledby="previews">
    <h2 id="previews">Previews</h2>
    <form method="post" action="${pathOfSite(site.site_id)}/previews">
      ${csrfField(csrf)}
      <ul class="rows card ver" role="list" aria-label="Previews">
        ${previews.map((preview) => row(ctx, shown, preview))}
      </ul>
    </form>
  </section>`;
}

const SPA_VALUES = ["auto", "off", "on"] as const;

const spaValue = ({ spa_override }: Site): string => SPA_VALUES[spa_override === null ? 0 : spa_override + 1]!;

interface Settings {
  site: Site;
  live: Version;
  csrf: string;
  refusal: Refusal | undefined;
  /** The values of the form that was refused. */
  sent: URLSearchParams | undefined;
}

/** The form of the label and of the single-page app. */
function settingsSection(ctx: Settings): Html {
  const { site, live, csrf, refusal, sent } = ctx;
  const spa = sent?.get("spa") ?? spaValue(site);
  const choices = [
    ["auto", `Decide by the files (now ${live.spa_enabled === 1 ? "on" : "off"})`],
    ["on", "Always"],
    ["off", "Never"],
  ] as const;
  return html`<section class="card" aria-labelledby="settings">
    <h2 id="settings">Settings</h2>
    <form class="fields" method="post" action="${pathOfSite(site.site_id)}/settings">
      ${csrfField(csrf)}
      ${field({
        name: "label",
        label: "Label",
        value: sent?.get("label") ?? site.label ?? "",
        refusal,
        attributes: html`placeholder="${site.slug}" dir="auto" autocomplete="off"`,
      })}
      ${radios(
        "Single-page app",
        choices.map(([value, label]) => ({ name: "spa", value, label, checked: value === spa })),
        refusal,
      )}
      ${button("Save settings", { wide: true })}
    </form>
  </section>`;
}

const deleteSection = ({ site_id }: Site): Html =>
  html`<section class="card" aria-labelledby="delete">
    <h2 id="delete">Delete</h2>
    <p class="small dim">All versions and comments go, and nobody gets this address again.</p>
    ${linkButton(`${pathOfSite(site_id)}/delete`, "Delete this site", { kind: "danger", small: true })}
  </section>`;

// The forms of a site's page: settings, an earlier version live again, a new version without script.

const sitePath = ({ params }: Ctx): string => pathOfSite(params.id!);

const SPA = { auto: null, on: 1, off: 0 } as const;

function settingsOf(fields: URLSearchParams): SiteChange {
  const label = fittingLabel(fields.get("label") ?? "");
  if (label === null) {
    const message = `Nothing was saved: a label has at most ${LONGEST_LABEL} characters. Make it shorter.`;
    throw new Refusal("invalid_input", message, { field: "label" });
  }
  const spa = fields.get("spa") ?? "";
  if (!Object.hasOwn(SPA, spa)) {
    const message = "Nothing was saved: choose when this is a single-page app.";
    throw new Refusal("invalid_input", message, { field: "spa" });
  }
  return { label: label === "" ? null : label, spa_override: SPA[spa as keyof typeof SPA] };
}

/** `POST …/settings`. */
const saveSettings = accountForm({
  page: sitePath,
  async act(ctx, fields) {
    const { site_id } = await ownSite(ctx);
    await ctx.parts.store.ownership.change(site_id, settingsOf(fields), ctx.caller);
    return `${sitePath(ctx)}?done=saved`;
  },
  again: async (ctx, refusal, sent) => sitePage(ctx, await ownSite(ctx), { refusal, sent }),
});

/** `POST …/rollback`. */
const makeLive = accountForm({
  page: sitePath,
  async act(ctx, fields) {
    const { site_id } = await ownSite(ctx);
    await makeVersionLive(ctx, { site_id, by: ctx.caller, version_id: fields.get("version_id") ?? "" });
    return `${sitePath(ctx)}?done=live`;
  },
  again: async (ctx, refusal) => sitePage(ctx, await ownSite(ctx), { refusal }),
});

/** `POST …/previews`: one is made live, or ends. */
const changePreview = accountForm({
  page: sitePath,
  async act(ctx, fields) {
    const { site_id } = await ownSite(ctx);
    const named = (preview: string) => ({ site_id, by: ctx.caller, preview });
    const promoted = fields.get("promote");
    if (promoted === null) {
      await ctx.parts.store.previews.end(named(fields.get("end") ?? ""));
      return `${sitePath(ctx)}?done=preview-ended`;
    }
    await makePreviewLive(ctx, named(promoted));
    return `${sitePath(ctx)}?done=live`;
  },
  again: async (ctx, refusal) => sitePage(ctx, await ownSite(ctx), { refusal }),
});

/** `POST …/deploys`: a form with a zip (WEB 4.8). */
async function deployByForm(ctx: Ctx): Promise<Response> {
  if (!isSignedIn(ctx)) return signedOutMeanwhile(ctx, sitePath(ctx));
  await ownSite(ctx); // another's is a 404 here, as on every page
  try {
    const { changed } = await redeployByForm(ctx);
    return answerRedirect(`${sitePath(ctx)}?done=${changed ? "deployed" : "unchanged"}`, ctx.exchange);
  } catch (error) {
    if (isSessionEnded(error)) return signedOutMeanwhile(ctx, sitePath(ctx));
    if (!isShownAgain(error)) throw error;
    return sitePage(ctx, await ownSite(ctx), { refusal: error, deploy: true });
  }
}

/** The forms of a site's page. */
export const CHANGE_SITE_ROWS: readonly Route[] = [
  ["POST", "/dashboard/sites/:id/deploys", deployByForm, "file_form"],
  ["POST", "/dashboard/sites/:id/rollback", makeLive],
  ["POST", "/dashboard/sites/:id/previews", changePreview],
  ["POST", "/dashboard/sites/:id/settings", saveSettings],
];
