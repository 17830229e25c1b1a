/** `POST /`: publishing without script (WEB 4.8). With a session it leads to the site's page; without one the receipt is
 *  the answer itself, for its tokens are shown this once. */
import { Refusal } from "../base/errors.ts";
import { html, type Html } from "../html/template.ts";
import { isFileForm, openFileForm } from "../http/multipart.ts";
import { answerRedirect } from "../http/answers.ts";
import type { Ctx, Route } from "../routes/context.ts";
import { createSiteByForm } from "../routes/deploys/deploy.ts";
import { signedOut } from "../routes/caller.ts";
import { isSessionEnded } from "../store/refusals.ts";
import { answerPage } from "./frame.ts";
import { homePage } from "./home.ts";
import { linkButton } from "./parts.ts";
import { addressBox, forPrograms, receiptRegion, until } from "./receipt.ts";
import { isShownAgain } from "./who.ts";

type Deployed = Awaited<ReturnType<typeof createSiteByForm>>;

const TITLE = "Your site is live";

function about({ url, expires_at, claim_url }: Deployed, now: number): Html {
  return html`${addressBox(url)}
    <div class="keep">
      <p>${until(expires_at, now)}</p>
      ${claim_url && linkButton(claim_url, "Keep this site", { kind: "primary" })}
    </div>`;
}

function receiptPage(ctx: Ctx, deployed: Deployed): Response {
  const { healed, warnings, manage_token, site_id, version_id } = deployed;
  const body = html`<h1 class="hidden">Publish</h1>
    ${receiptRegion({
      heading: TITLE,
      about: about(deployed, ctx.parts.now()),
      live: true,
      notes: { healed, warnings },
      more: html`${forPrograms({ site_id, version_id, ...(manage_token && { manage_token }) })}
        <p>${linkButton("/", "Publish another")}</p>`,
      focus: true,
    })}`;
  return answerPage(ctx, { title: TITLE, body, width: "list", scripts: ["copy"] });
}

/** A form of somebody signed in never makes a site without an owner: the session has ended since it was shown. */
async function refuseSignedOut({ caller, request }: Ctx): Promise<void> {
  if (caller.kind === "account") return;
  if (caller.kind !== "anonymous") throw signedOut();
  if (isFileForm(request) && (await openFileForm(request)).fields.csrf !== undefined) throw signedOut();
}

/** A program would be told how to prove itself; a person without script cannot. */
const inWords = (refusal: Refusal): Refusal =>
  refusal.code === "challenge_failed"
    ? new Refusal("challenge_failed", "Sign in to publish without JavaScript. Nothing was published.")
    : refusal;

/** What came is published, or the page says why it was not. */
async function publish(ctx: Ctx): Promise<Response> {
  try {
    await refuseSignedOut(ctx);
    const deployed = await createSiteByForm(ctx);
    if (deployed.expires_at !== null) return receiptPage(ctx, deployed);
    return answerRedirect(`/dashboard/sites/${deployed.site_id}?done=deployed`, ctx.exchange);
  } catch (error) {
    if (isSessionEnded(error)) return homePage({ ...ctx, caller: { kind: "anonymous" } }, signedOut());
    if (!isShownAgain(error)) throw error;
    return homePage(ctx, inWords(error));
  }
}

export const PUBLISH: readonly Route[] = [["POST", "/", publish, "file_form"]];
