/** The region "New version" of a site's page: the drop zone, for this site. */
import type { Refusal } from "../../base/errors.ts";
import { html, type Html } from "../../html/template.ts";
import type { Site } from "../../base/types.ts";
import type { SignedIn } from "../who.ts";
import { zone } from "../zone.ts";

export const newVersionSection = (ctx: SignedIn, { site_id, live_version_id }: Site, refusal?: Refusal): Html =>
  html`<section aria-labelledby="new-version">
    <h2 id="new-version">New version</h2>
    ${zone(ctx, {
      target: { site_id, live_version_id },
      title: "Drop a new version here",
      hint: "It goes live at the same address.",
      refusal,
    })}
  </section>`;
