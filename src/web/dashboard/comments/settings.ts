/** Whether visitors may comment on a site, and who reads it: the form (WEB 7). */
import type { Refusal } from "../../../base/errors.ts";
import { html, type Html } from "../../../html/template.ts";
import { isTrustworthy, siteUrl } from "../../../http/hosts.ts";
import type { CommentSettings } from "../../../store/notes.ts";
import type { CommentsMode, Site } from "../../../base/types.ts";
import { csrfOf } from "../../frame.ts";
import { button, csrfField, field, hiddenField, radios, warningBox } from "../../parts.ts";
import type { SignedIn } from "../../who.ts";
import { commentsPath, type Place } from "./lists.ts";

const MODES: readonly [mode: CommentsMode, label: string, hint: string][] = [
  ["off", "Off", "Threads are kept, and nobody sees them."],
  ["anonymous", "Anonymous", "Anyone reads and writes. What is written shows at once."],
  ["passcode", "Passcode", "Whoever knows the passcode reads and writes. It guards the comments, not the pages."],
  ["approved", "Approved", "Anyone reads and writes. What is written shows once you approve it."],
];

const PASSCODE_HINT = "At least 8 characters. A new one locks out everybody who knows the old one.";

const passcodeField = (is_set: boolean, refusal: Refusal | undefined): Html =>
  field({
    name: "passcode",
    label: is_set ? "New passcode" : "Passcode",
    type: "password",
    refusal,
    hint: is_set ? `One is set, and is never shown again. ${PASSCODE_HINT}` : PASSCODE_HINT,
    attributes: html`autocomplete="new-password"`,
  });

interface Settings {
  site: Site;
  settings: CommentSettings;
  here: Place;
  /** What the form held that was refused. */
  sent: URLSearchParams | undefined;
  refusal: Refusal | undefined;
}

export function commentSettings(ctx: SignedIn, { site, settings, here, sent, refusal }: Settings): Html {
  const mode = sent?.get("mode") ?? settings.mode;
  const choices = MODES.map(([value, label, hint]) => ({ name: "mode", value, label, hint, checked: value === mode }));
  return html`<section class="card" aria-labelledby="settings">
    <h2 id="settings">Settings</h2>
    <form class="fields" method="post" action="${commentsPath(site.site_id)}/settings">
      ${csrfField(csrfOf(ctx)!)} ${hiddenField("show", here.show)} ${radios("Comments", choices, refusal)}
      ${passcodeField(settings.passcode_hash !== null, refusal)} ${button("Save settings", { wide: true })}
    </form>
  </section>`;
}

/** Browsers keep visitors' cookies on https and on localhost alone (COMMENTS, ruling 9). */
export function cookieWarning({ parts }: SignedIn, { slug, comments_mode }: Site): Html | null {
  const url = siteUrl(parts.config, slug);
  if (comments_mode === "off" || isTrustworthy(url)) return null;
  return warningBox(
    html`Visitors can read comments and cannot write any: browsers keep their identity over https alone, and ${url} is
    not. Serve the sites over https.`,
  );
}
