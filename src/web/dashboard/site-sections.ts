/** The parts of a site's page besides its versions: its name and address, its settings, the link to its deletion. */
import type { Refusal } from "../../base/errors.ts";
import { contactLink } from "../../html/contact.ts";
import { html, type Html } from "../../html/template.ts";
import { siteUrl } from "../../http/hosts.ts";
import { siteState } from "../../base/site-state.ts";
import type { Site, Version } from "../../base/types.ts";
import { button, copyButton, field, isAbout, csrfField, linkButton, radios, siteLink, warningBox } from "../parts.ts";
import type { SignedIn } from "../who.ts";
import { onDay } from "../words.ts";
import { nameOf, pathOfSite } from "./pages.ts";
import { STATE_BADGES } from "./state-badges.ts";

/** The name, the address, the state. */
export function siteHead({ parts }: SignedIn, site: Site): Html {
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

/** The reason why the site takes no changes for now, and the person to ask; nothing if it takes them. */
export function heldNotice({ parts }: SignedIn, site: Site): Html | null {
  const state = siteState(site, parts.now());
  if (state === "live" || state === "expired") return null;
  const { contact } = parts.config;
  const why =
    state === "disabled"
      ? html`The operator has disabled this site: <span dir="auto">${site.disabled_reason}</span>. Nobody sees it, and
          it takes no new version.`
      : html`The operator has frozen this site: visitors see it, and it takes no changes for now.`;
  return warningBox(html`${why} ${contact !== null && html`Questions or an appeal: ${contactLink(contact)}`}`);
}

const SPA_VALUES = ["auto", "off", "on"] as const;
const spaValue = ({ spa_override }: Site): string => SPA_VALUES[spa_override === null ? 0 : spa_override + 1]!;

/** `sent`: what the form held that was refused. */
export function settingsSection(ctx: Settings): Html {
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

interface Settings {
  site: Site;
  live: Version;
  csrf: string;
  refusal: Refusal | undefined;
  sent: URLSearchParams | undefined;
}

export const deleteSection = ({ site_id }: Site): Html =>
  html`<section class="card" aria-labelledby="delete">
    <h2 id="delete">Delete</h2>
    <p class="small dim">All versions and comments go, and nobody gets this address again.</p>
    ${linkButton(`${pathOfSite(site_id)}/delete`, "Delete this site", { kind: "danger", small: true })}
  </section>`;
