/** The frame of a site's pages (WEB 6): its name and address, and tabs that lead from one of them to the next. */
import { siteState } from "../../base/site-state.ts";
import type { Refusal } from "../../base/errors.ts";
import type { Site } from "../../base/types.ts";
import { html, type Html } from "../../html/template.ts";
import { siteUrl } from "../../http/hosts.ts";
import type { NoteCounts } from "../../store/notes.ts";
import type { ListedPreview } from "../../store/previews.ts";
import { answerPage } from "../frame.ts";
import { badge, copyButton, icon, linkButton, siteLink } from "../parts.ts";
import { figure } from "../../base/units.ts";
import type { SignedIn } from "../who.ts";
import { nameOf, pathOfSite } from "./pages.ts";
import { heldBadge, STATE_BADGES } from "./state-badges.ts";

type Tab = keyof typeof TABS;
const TABS = {
  overview: "Overview",
  versions: "Versions",
  previews: "Previews",
  comments: "Comments",
  statistics: "Statistics",
  rules: "Rules",
  domains: "Domains",
  settings: "Settings",
};

/** Read once for a page: its tabs tell the numbers, its cards the rest. */
interface SiteFacts {
  previews: ListedPreview[];
  notes: NoteCounts;
}

export async function factsOf({ parts }: SignedIn, { site_id }: Site): Promise<SiteFacts> {
  const { notes, previews } = parts.store;
  return { previews: await previews.list(site_id), notes: await notes.counts(site_id) };
}

/** The path of a site's page. */
export const pathOfTab = (site_id: string, tab: Tab): string =>
  tab === "overview" ? pathOfSite(site_id) : `${pathOfSite(site_id)}/${tab}`;

/** The numbers beside a tab's name. */
function besideTab(tab: Tab, site: Site, { previews, notes }: SiteFacts): Html | false {
  const number = (n: number) => n > 0 && html`<span class="n">${figure(n)}</span>`;
  if (tab === "versions") return number(site.stored_versions);
  if (tab === "previews") return number(previews.length);
  if (tab !== "comments") return false;
  return html`${number(notes.open)} ${notes.pending > 0 && badge(`${figure(notes.pending)} to approve`, "warn")}
  ${notes.reported > 0 && badge(`${figure(notes.reported)} reported`, "warn")}`;
}

const tabs = (site: Site, current: Tab, facts: SiteFacts): Html =>
  html`<nav class="site-tabs" aria-label="This site">
    ${(Object.keys(TABS) as Tab[]).map(
      (tab) =>
        html`<a href="${pathOfTab(site.site_id, tab)}" ${tab === current && html`aria-current="page"`}
          >${TABS[tab]} ${besideTab(tab, site, facts)}</a
        >`,
    )}
  </nav>`;

/** The name, the address, the state. `filled`: "Open site" is the one filled button of the page (WEB 9). */
function siteHead({ parts }: SignedIn, site: Site, filled: boolean): Html {
  const url = siteUrl(parts.config, site.slug);
  const state = siteState(site, parts.now());
  // A disabled site shows its pages to no visitor.
  const open = state !== "disabled";
  return html`<p class="crumb"><a href="/dashboard">Sites</a></p>
    <div class="pagehead">
      <div>
        <h1 dir="auto">${nameOf(site)}</h1>
        <p class="facts">
          ${siteLink(url, new URL(url).host, html`id="url"`)} ${STATE_BADGES[state]} ${heldBadge(site)}
        </p>
      </div>
      <p class="actions">
        <button type="button" class="button share" data-share="url">${icon("share", 16)} Share</button>
        ${copyButton("Copy link", "url")}
        ${open && linkButton(url, "Open site", { kind: filled ? "primary" : "plain", attributes: html`rel="noopener"` })}
      </p>
    </div>`;
}

interface SitePage {
  tab: Tab;
  /** Left out by a page that needs none of them itself. */
  facts?: SiteFacts;
  body: Html;
  /** The body has a filled button itself. */
  has_primary?: boolean;
  refusal?: Refusal | undefined;
  head?: Html | false;
  said?: Html | string | null;
  scripts?: readonly ("copy" | "select")[];
}

/** A page of the site, under its name and tabs. */
export async function answerSitePage(ctx: SignedIn, site: Site, page: SitePage): Promise<Response> {
  const { tab, facts = await factsOf(ctx, site), body, has_primary = false, scripts = ["copy"], ...rest } = page;
  return answerPage(ctx, {
    title: tab === "overview" ? nameOf(site) : `${TABS[tab]} ${tab === "comments" ? "on" : "of"} ${nameOf(site)}`,
    body: html`${siteHead(ctx, site, !has_primary)} ${tabs(site, tab, facts)} ${body}`,
    current: "sites",
    width: "list",
    scripts,
    ...rest,
  });
}
