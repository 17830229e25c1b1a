/** The list "Previews" of a site's page: each can be opened, made live and ended. Nothing where there is none. */
import { html, type Html } from "../../html/template.ts";
import { urlBeside } from "../../http/hosts.ts";
import type { ListedPreview } from "../../store/previews.ts";
import type { Site } from "../../base/types.ts";
import { badge, button, csrfField, linkButton } from "../parts.ts";
import type { SignedIn } from "../who.ts";
import { ago, onDay, titled } from "../words.ts";
import { pathOfSite } from "./own.ts";

interface Shown {
  site: Site;
  csrf: string;
  /** Whether it may be made live, or ended. */
  may_change: boolean;
}

/** Words that are heard and not seen: the row shows what they say. */
const heard = (words: string): Html => html`<span class="hidden"> ${words}</span>`;

/** What the forms call it: a version_id means all that show the version, so a name goes first. */
const calledBy = ({ name, version_id }: ListedPreview): string => name ?? version_id;

function actions(preview: ListedPreview, live: boolean): Html {
  const called = calledBy(preview);
  const small = (name: string) => ({ small: true, attributes: html`name="${name}" value="${called}"` });
  return html`${button(html`<span>End${heard(called)}</span>`, { ...small("end"), kind: "quiet" })}
  ${!live && button(html`<span>Make${heard(called)} live</span>`, small("promote"))}`;
}

function row(ctx: SignedIn, { site, may_change }: Shown, preview: ListedPreview): Html {
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
        html`<span>Open${heard(`preview ${called}`)}</span>`,
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

export async function previewsSection(ctx: SignedIn, shown: Shown): Promise<Html | null> {
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
