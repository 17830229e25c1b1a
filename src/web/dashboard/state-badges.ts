/** The state of a site as the dashboard shows it: a badge and, if the site takes no changes, a notice. */
import { siteState } from "../../base/site-state.ts";
import type { Site } from "../../base/types.ts";
import { contactLink } from "../../html/contact.ts";
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

/** With its full stop, which many an operator has typed. */
const sentenceOf = (reason: string): string => (/[.!?…。]$/.test(reason.trim()) ? reason.trim() : `${reason.trim()}.`);

/** The reason why the site takes no changes for now, and the person to ask; nothing if it takes them. */
export function heldNotice({ parts }: SignedIn, site: Site): Html | null {
  const state = siteState(site, parts.now());
  if (state === "live" || state === "expired") return null;
  const { contact } = parts.config;
  const why =
    state === "disabled"
      ? html`The operator has disabled this site:
          <span dir="auto">${sentenceOf(site.disabled_reason ?? "")}</span> Nobody sees it, and it takes no new version.`
      : html`The operator has frozen this site: visitors see it, and it takes no changes for now.`;
  return warningBox(html`${why} ${contact !== null && html`Questions or an appeal: ${contactLink(contact)}`}`);
}
