/** The drop zone as the server writes it: the data for its script, and the form for browsers without script (WEB 4.8).
 *  */
import type { Refusal } from "../base/errors.ts";
import { html, type Html } from "../html/template.ts";
import { randomName } from "../base/random.ts";
import type { Ctx } from "../routes/context.ts";
import { count, humanSize } from "../base/units.ts";
import { scriptPath } from "./assets.ts";
import { csrfOf } from "./frame.ts";
import { alertBox, button, csrfField, field, hiddenField, icon, linkButton } from "./parts.ts";

type ZoneRequest = Pick<Ctx, "caller" | "parts">;

/** The site that gets a version. */
interface Target {
  site_id: string;
  live_version_id: string;
}

interface Zone {
  /** The site to publish to; missing for a new site. */
  target?: Target;
  title: string;
  hint: string;
  refusal?: Refusal;
}

/** The zone's script. It runs before the page is shown, so that nothing moves and the form for browsers without script
 *  is never seen in others. */
export const zoneHead = (): Html => html`<script src="${scriptPath("zone")}"></script>`;

/** Offers the sign-in if a proof of work would be asked for: without script it cannot be made. */
const signInInstead: Html = html`<p class="plain"><a href="/signin">Sign in</a> to publish without JavaScript.</p>`;

function plainForm(asked: ZoneRequest, { target, refusal }: Zone): Html {
  const csrf = csrfOf(asked);
  if (csrf === null && asked.parts.config.challenge === "pow") return signInInstead;
  return html`<form
    class="plain fields"
    method="post"
    action="${target ? `/dashboard/sites/${target.site_id}/deploys` : "/"}"
    enctype="multipart/form-data"
  >
    ${csrf !== null && csrfField(csrf)} ${hiddenField("key", randomName(32))}
    ${field({
      name: "zip",
      label: "Zip file",
      type: "file",
      refusal,
      wrong: refusal !== undefined && [400, 413, 415].includes(refusal.status),
      attributes: html`accept=".zip,application/zip" required`,
    })}
    ${button("Publish", { kind: target ? "plain" : "primary" })}
  </form>`;
}

/** The buttons for browsers with script, which never show the form. On a site's page the main button is another one. */
const choices = (main: boolean): Html =>
  html`<div class="start">
    <div class="row">
      <button type="button" class="button ${main && "primary"}" data-choose="folder">Choose a folder</button>
      <button type="button" class="button" data-choose="files">Choose files or a zip</button>
      <button type="button" class="button quiet" data-choose="none" hidden>Cancel</button>
    </div>
    <input type="file" data-pick="folder" webkitdirectory multiple hidden />
    <input type="file" data-pick="files" multiple hidden />
  </div>`;

/** The zone alone, for a region of the page. */
export function zone(asked: ZoneRequest, look: Zone): Html {
  const { config } = asked.parts;
  const { target, title, hint, refusal } = look;
  return html`<div
    class="zone ${target && "mini"}"
    data-zone
    data-state="idle"
    data-max-files="${config.max_files}"
    data-max-bytes="${config.max_bytes}"
    data-max-zip-bytes="${config.max_zip_bytes}"
    data-worker="${scriptPath("zone-worker")}"
    data-csrf="${csrfOf(asked)}"
    data-challenge="${config.challenge}"
    ${config.anonymous === "off" && html`data-accounts-only`}
    data-site="${target?.site_id}"
    data-live="${target?.live_version_id}"
  >
    <div class="sign">${icon("folder", target ? 32 : 56)}</div>
    <div class="words">
      <p class="title" data-part="title">${title}</p>
      <p class="also">${hint}</p>
    </div>
    ${choices(target === undefined)}
    <p class="told" role="status" data-part="status"></p>
    <div class="face" data-part="face"></div>
    ${alertBox(refusal)} ${plainForm(asked, look)}
    <p class="limits">
      Up to ${count(config.max_files, "file")}, ${humanSize(config.max_bytes)}; ${humanSize(config.max_zip_bytes)}
      zipped
    </p>
  </div>`;
}

/** Whether whoever asks may not publish before they sign in (`SVC_ANONYMOUS=off`). */
const mustSignIn = (asked: ZoneRequest): boolean => asked.parts.config.anonymous === "off" && csrfOf(asked) === null;

/** In the place of the zone: a promise that the server would not keep. */
const signInToPublish = ({ parts: { config } }: ZoneRequest, refusal?: Refusal): Html =>
  html`<div class="card empty">
    ${icon("folder", 40)}
    <h2>Sign in to publish</h2>
    ${alertBox(refusal)}
    <p>This server publishes for people with an account.</p>
    <div class="pair">
      ${linkButton("/signin", "Sign in", { kind: "primary" })}
      ${config.signup === "open" && linkButton("/signup", "Create an account")}
    </div>
  </div>`;

/** The region "Publish" of home, and the sites that this browser made. */
export const publishRegion = (asked: ZoneRequest, refusal?: Refusal): Html =>
  html`<section aria-label="Publish">
      ${
        mustSignIn(asked)
          ? signInToPublish(asked, refusal)
          : zone(asked, {
              title: "Drop a folder, files or a zip",
              hint: "anywhere on this page, or paste HTML or Markdown",
              refusal,
            })
      }
    </section>
    <svc-sites ${csrfOf(asked) !== null && html`data-signed-in`}></svc-sites>`;
