/** `/dashboard/sites/<site_id>`: a site, its live version's receipt, its versions and settings (WEB 6). */
import type { Refusal } from "../../base/errors.ts";
import { html, type Html } from "../../html/template.ts";
import { siteUrl } from "../../http/hosts.ts";
import { siteState } from "../../base/site-state.ts";
import type { Site } from "../../base/types.ts";
import { answerPage, csrfOf } from "../frame.ts";
import { alertBox } from "../parts.ts";
import { addressBox, forPrograms, receiptRegion, YOURS } from "../receipt.ts";
import { accountPage, type SignedIn } from "../who.ts";
import { commentsCard } from "./comments/card.ts";
import { newVersionSection } from "./new-version.ts";
import { nameOf, ownSite } from "./own.ts";
import { pageOf } from "./pages.ts";
import { seenSection } from "./seen.ts";
import { zoneHead } from "../zone.ts";
import { previewsSection } from "./site-previews.ts";
import { deleteSection, heldNotice, settingsSection, siteHead } from "./site-sections.ts";
import { VERSIONS_SHOWN, versionsSection } from "./site-versions.ts";

/** Of a form of the page that was refused. */
interface Refused {
  refusal: Refusal;
  /** What it held; undefined for a form whose values are not shown again. */
  sent?: URLSearchParams;
  /** What was refused is a version: the zone says so itself. */
  deploy?: boolean;
}

const DEPLOYED = new Set(["deployed", "unchanged"]);

/** What the deploy of the live version was told. `done`: how the deploy ended that led here. */
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
export async function sitePage(ctx: SignedIn, site: Site, refused?: Refused): Promise<Response> {
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
