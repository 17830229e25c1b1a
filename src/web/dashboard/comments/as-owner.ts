/** The way to a site as its owner: a one-time link to press, for a form is never answered with a redirect to a site
 *  (WEB 1.6 and 7). */
import { limitOwner, ownerCode } from "../../../comments/index.ts";
import { Refusal } from "../../../base/errors.ts";
import { html } from "../../../html/template.ts";
import type { Ctx } from "../../../routes/context.ts";
import { isSessionEnded } from "../../../store/refusals.ts";
import { answerPage } from "../../frame.ts";
import { linkButton } from "../../parts.ts";
import { isShownAgain, isSignedIn, type SignedIn, signedOutMeanwhile } from "../../who.ts";
import { theirs } from "../../words.ts";
import { nameOf, ownSite } from "../own.ts";
import { commentsPath } from "./lists.ts";
import { commentsPage } from "./page.ts";

async function linkPage(ctx: SignedIn): Promise<Response> {
  const site = await ownSite(ctx);
  if (site.comments_mode === "off") {
    const refusal = new Refusal("invalid_input", "Comments are off on this site. Turn them on, then open it as owner.");
    return commentsPage(ctx, site, { refusal, sent: new URLSearchParams() });
  }
  const parts = ctx.parts.comments;
  await limitOwner({ site, parts });
  const { url } = await ownerCode({ parts, site, by: ctx.caller });
  const title = "Open on the site as owner";
  const body = html`<div class="stack tight">
    <div>
      <p class="small dim">${theirs(nameOf(site))}</p>
      <h1>${title}</h1>
    </div>
    <p>
      On the site you answer as Owner, approve what waits and settle threads beside the text, in this browser and for
      one hour. The link works once, within five minutes.
    </p>
    <p class="actions wraps">
      ${linkButton(url, html`<span>Go to ${new URL(url).host} as owner</span>`, {
        kind: "primary",
        attributes: html`rel="noopener"`,
      })}
      ${linkButton(commentsPath(site.site_id), "Back to the comments", { kind: "quiet" })}
    </p>
  </div>`;
  return answerPage(ctx, { title, body, current: "sites" });
}

/** `POST …/comments/owner`. */
export async function openAsOwner(ctx: Ctx): Promise<Response> {
  const page = commentsPath(ctx.params.id!);
  if (!isSignedIn(ctx)) return signedOutMeanwhile(ctx, page);
  try {
    return await linkPage(ctx);
  } catch (error) {
    if (isSessionEnded(error)) return signedOutMeanwhile(ctx, page);
    if (!isShownAgain(error)) throw error;
    return commentsPage(ctx, await ownSite(ctx), { refusal: error, sent: new URLSearchParams() });
  }
}
