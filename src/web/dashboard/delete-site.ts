/** `/dashboard/sites/<site_id>/delete`: one site, when its slug was typed (WEB 6). */
import type { Refusal } from "../../base/errors.ts";
import { html } from "../../html/template.ts";
import { siteUrl } from "../../http/hosts.ts";
import type { Site } from "../../base/types.ts";
import { answerPage, csrfOf } from "../frame.ts";
import { alertBox, button, confirmation, csrfField, linkButton } from "../parts.ts";
import { accountForm, accountPage, noSuchSite, type SignedIn } from "../who.ts";
import { count } from "../wording/amounts.ts";
import { refuseUnlessConfirmed } from "./confirmed.ts";
import { ownSite, pathOfSite } from "./own.ts";

function page(ctx: SignedIn, { site_id, slug, stored_versions }: Site, refusal?: Refusal): Response {
  const title = `Delete ${slug}?`;
  const url = siteUrl(ctx.parts.config, slug);
  const body = html`<div class="stack tight">
    <h1>${title}</h1>
    ${alertBox(refusal)}
    <p>${url} goes for good. It cannot be undone:</p>
    <ul class="bullets">
      <li>${count(stored_versions, "version")}, with all their files</li>
      <li>all comments on them</li>
      <li>the address: whoever opens it finds nothing there, and nobody gets it again</li>
    </ul>
    <form class="fields" method="post" action="${pathOfSite(site_id)}/delete">
      ${csrfField(csrfOf(ctx)!)} ${confirmation(slug, refusal)}
      <p class="actions final">
        ${button("Delete site", { kind: "danger" })} ${linkButton(pathOfSite(site_id), "Cancel", { kind: "quiet" })}
      </p>
    </form>
  </div>`;
  return answerPage(ctx, { title, body, current: "sites", refusal });
}

/** `GET …/delete`. */
export const askToDeleteSite = accountPage(async (ctx) => page(ctx, await ownSite(ctx)));

/** `POST …/delete`. */
export const deleteOneSite = accountForm({
  page: ({ params }) => `${pathOfSite(params.id!)}/delete`,
  async act(ctx, fields) {
    const { site_id, slug } = await ownSite(ctx);
    refuseUnlessConfirmed(fields, slug);
    const [reason] = await ctx.parts.store.ownership.remove([site_id], ctx.caller);
    if (reason) throw noSuchSite();
    return "/dashboard?done=deleted";
  },
  again: async (ctx, refusal) => page(ctx, await ownSite(ctx), refusal),
});
