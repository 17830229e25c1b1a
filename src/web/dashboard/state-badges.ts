/** The state of a site as the dashboard shows it: a badge and, if the site takes no changes, a notice. */
import { quarantineOf, siteState } from "../../base/site-state.ts";
import type { Site } from "../../base/types.ts";
import { contactLink } from "../../html/document.ts";
import { html, type Html } from "../../html/template.ts";
import { badge, warningBox } from "../parts.ts";
import type { SignedIn } from "../who.ts";

/** No account has a site that has expired. */
export const STATE_BADGES = {
  live: badge("Live", "live"),
  frozen: badge("Frozen", "bad"),
  disabled: badge("Disabled", "bad"),
  expired: null,
} as const;

/** Visitors see a site in quarantine, but its pages do not do all that they could. */
export const heldBadge = (site: Site): Html | false => quarantineOf(site).length > 0 && badge("Quarantine", "warn");

/** With its full stop, which many an operator has typed. */
const sentenceOf = (reason: string): string => (/[.!?…。]$/.test(reason.trim()) ? reason.trim() : `${reason.trim()}.`);

/** The reason why the site takes no changes for now, or why its pages do not do all that they could, and the person to ask. */
export function heldNotice({ parts }: SignedIn, site: Site): Html | null {
  const state = siteState(site, parts.now());
  const signs = quarantineOf(site);
  const held = state === "frozen" || state === "disabled";
  if (!held && signs.length === 0) return null;
  const { contact } = parts.config;
  const why = !held
    ? html`This site is in quarantine: its pages load and send nothing elsewhere. Mend what was seen, then have the
        operator end it. <span dir="auto">${signs.map(sentenceOf).join(" ")}</span>`
    : state === "disabled"
      ? html`The operator has disabled this site:
          <span dir="auto">${sentenceOf(site.disabled_reason ?? "")}</span> Nobody sees it, and it takes no new version.`
      : html`The operator has frozen this site: visitors see it, and it takes no changes for now.`;
  return warningBox(html`${why} ${contact !== null && html`Questions or an appeal: ${contactLink(contact)}`}`);
}
