/** `/dashboard/sites/<site_id>/previews`: what is shown beside the live version. Each can be opened, made live and ended (WEB 6). */
import type { Refusal } from "../../base/errors.ts";
import { siteState } from "../../base/site-state.ts";
import type { Site } from "../../base/types.ts";
import { html, type Html } from "../../html/template.ts";
import { urlBeside } from "../../http/hosts.ts";
import type { Route } from "../../routes/context.ts";
import { makePreviewLive } from "../../routes/sites.ts";
import type { ListedPreview } from "../../store/previews.ts";
import { csrfOf } from "../frame.ts";
import { alertBox, badge, button, command, csrfField, icon, linkButton, siteLink, visuallyHidden } from "../parts.ts";
import { accountForm, accountPage, type SignedIn } from "../who.ts";
import { ago, isolated, onDay, titled } from "../words.ts";
import { ownSite, pathOfSite } from "./pages.ts";
import { answerSitePage, factsOf, pathOfTab } from "./site-frame.ts";
import { heldNotice } from "./state-badges.ts";

/** The value by which forms name a preview: its own name if it has one, for a version_id means every preview of that
 *  version. */
const calledBy = ({ name, version_id }: ListedPreview): string => name ?? version_id;

/** Its name for people; an unnamed one has its title. */
const shownName = ({ name, title }: ListedPreview): Html => (name === null ? titled(title) : isolated(name));

const makeLive = (preview: ListedPreview): Html => {
  const called = calledBy(preview);
  return button(html`<span>Make${visuallyHidden(called)} live</span>`, {
    small: true,
    attributes: html`name="promote" value="${called}"`,
  });
};

const until = ({ expires_at }: ListedPreview, now: number): Html => onDay(new Date(expires_at).toISOString(), now);

function row(ctx: SignedIn, site: Site, may_change: boolean, preview: ListedPreview): Html {
  const { version_id, created_at } = preview;
  const called = calledBy(preview);
  const live = version_id === site.live_version_id;
  const now = ctx.parts.now();
  const quiet = { kind: "quiet", small: true } as const;
  return html`<li>
    <div>
      <p class="titled"><span class="name cut">${shownName(preview)}</span> ${live && badge("Same as live", "live")}</p>
      <p class="sub">${ago(created_at, now)} · until ${until(preview, now)} · <code>${version_id.slice(0, 8)}</code></p>
    </div>
    <div class="acts">
      ${linkButton(
        urlBeside(ctx.parts.config, called, site.slug),
        html`<span>Open${visuallyHidden(`preview ${called}`)}</span>`,
        { ...quiet, attributes: html`rel="noopener"` },
      )}
      ${
        may_change &&
        button(html`<span>End${visuallyHidden(called)}</span>`, {
          ...quiet,
          attributes: html`name="end" value="${called}"`,
        })
      }
      ${may_change && !live && makeLive(preview)}
    </div>
  </li>`;
}

const noPreviews = (site_id: string): Html =>
  html`<div class="card empty">
    ${icon("folder", 40)}
    <h2>No previews</h2>
    <p>A preview is a version at an address of its own, while what is live stays as it is.</p>
    <p class="dim small">From a terminal:</p>
    ${command("make-preview", `svc preview ./my-site --name next --site ${site_id}`)}
  </div>`;

async function previewsPage(ctx: SignedIn, site: Site, refusal?: Refusal): Promise<Response> {
  const facts = await factsOf(ctx, site);
  const { previews } = facts;
  const may_change = siteState(site, ctx.parts.now()) === "live";
  const list = html`<form method="post" action="${pathOfTab(site.site_id, "previews")}">
    ${csrfField(csrfOf(ctx)!)}
    <ul class="rows card ver" role="list" aria-label="Previews">
      ${previews.map((preview) => row(ctx, site, may_change, preview))}
    </ul>
  </form>`;
  const body = html`${alertBox(refusal)} ${heldNotice(ctx, site)}
  ${previews.length === 0 ? noPreviews(site.site_id) : list}`;
  return answerSitePage(ctx, site, { tab: "previews", facts, body, refusal });
}

/** `GET …/previews`. */
const showPreviews = accountPage(async (ctx) => previewsPage(ctx, await ownSite(ctx)));

/** `POST …/previews`: one is made live, or ends. */
const changePreview = accountForm({
  page: ({ params }) => pathOfTab(params.id!, "previews"),
  async act(ctx, fields) {
    const { site_id } = await ownSite(ctx);
    const named = (preview: string) => ({ site_id, by: ctx.caller, preview });
    const promoted = fields.get("promote");
    if (promoted === null) {
      await ctx.parts.store.previews.end(named(fields.get("end") ?? ""));
      return `${pathOfTab(site_id, "previews")}?done=preview-ended`;
    }
    await makePreviewLive(ctx, named(promoted));
    return `${pathOfSite(site_id)}?done=live`;
  },
  again: async (ctx, refusal) => previewsPage(ctx, await ownSite(ctx), refusal),
});

const MOST_ON_CARD = 3;

/** The newest previews, beside the overview. Nothing if there are none. */
export function previewsCard(
  ctx: SignedIn,
  site: Site,
  previews: readonly ListedPreview[],
  may_change: boolean,
): Html | false {
  if (previews.length === 0) return false;
  const { site_id, slug, live_version_id } = site;
  return html`<section class="card" aria-labelledby="previews">
    <h2 id="previews">Previews</h2>
    <form method="post" action="${pathOfTab(site_id, "previews")}">
      ${csrfField(csrfOf(ctx)!)}
      <ul class="rows" role="list" aria-label="Previews">
        ${previews.slice(0, MOST_ON_CARD).map(
          (preview) =>
            html`<li>
              <div>
                ${siteLink(urlBeside(ctx.parts.config, calledBy(preview), slug), shownName(preview), html`class="name cut"`)}
                <p class="sub">until ${until(preview, ctx.parts.now())}</p>
              </div>
              ${may_change && preview.version_id !== live_version_id && makeLive(preview)}
            </li>`,
        )}
      </ul>
    </form>
    <p><a href="${pathOfTab(site_id, "previews")}">All previews</a></p>
  </section>`;
}

export const PREVIEW_ROWS: readonly Route[] = [
  ["GET", "/dashboard/sites/:id/previews", showPreviews],
  ["POST", "/dashboard/sites/:id/previews", changePreview],
];
