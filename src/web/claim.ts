/** `/claim/<site_id>`, where `claim_url` leads: sign in, then the site is yours. The token comes in the fragment, which
 *  no server and no log sees; without script it is pasted. */
import { Refusal } from "../errors.ts";
import { html } from "../html/template.ts";
import { answerRedirect, answerText } from "../http/answers.ts";
import { readForm, stringMember } from "../http/body.ts";
import type { SignedInCaller } from "../routes/caller.ts";
import { claimSite } from "../routes/claim.ts";
import { csrfToken } from "../http/csrf.ts";
import { siteUrl } from "../http/hosts.ts";
import type { Ctx } from "../routes/context.ts";
import claimScript from "./claim.client.js" with { type: "text" };
import { answerPage, csrfField, problem, signedInAs } from "./frame.ts";

const LONGEST_TOKEN = 512;
export const SCRIPT_PATH = "/scripts/claim.js";

const script = html`<script src="${SCRIPT_PATH}" defer></script>`;

/** `GET /scripts/claim.js`. */
export const serveScript = async ({ exchange }: Ctx): Promise<Response> =>
  answerText(claimScript, exchange, {
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "no-cache",
  });

function signInFirst({ exchange, params, parts }: Ctx): Response {
  const next = new URLSearchParams({ next: `/claim/${params.id!}` }).toString();
  const body = html`<h1>Keep this site</h1>
    <p>A site without an account expires. Sign in, and it becomes yours and stays.</p>
    <p><a href="/signin?${next}">Sign in</a></p>
    ${parts.config.signup === "open" && html`<p><a href="/signup?${next}">Make an account</a></p>`}`;
  return answerPage({ title: "Keep this site", body, script }, exchange);
}

/** `keep`: the box was not ticked when the form came back. */
async function askForToken(ctx: Ctx, caller: SignedInCaller, refusal?: Refusal, keep = false): Promise<Response> {
  const { exchange, params, parts } = ctx;
  const body = html`<h1>Keep this site</h1>
    ${problem(refusal?.message)}
    <p>The site <code>${params.id}</code> becomes your account's and does not expire any more.</p>
    <form method="post" action="/claim/${params.id}">
      ${csrfField(csrfToken(parts.secrets.csrf, caller.session_id))}
      <label for="token">Claim token</label>
      <input
        id="token"
        name="claim_token"
        autocomplete="off"
        spellcheck="false"
        maxlength="${LONGEST_TOKEN}"
        required
      />
      <p class="dim">It is the part of the claim link after the #, and begins with svc_claim_.</p>
      <label class="box">
        <input type="checkbox" name="revoke_manage_tokens" value="true" ${!keep && "checked"} />
        End access for whoever deployed it
      </label>
      <p class="dim">Leave it ticked unless that was you: their saved token could still change the site.</p>
      <button>Claim the site</button>
    </form>
    ${await signedInAs(ctx, caller)}`;
  return answerPage({ title: "Keep this site", body, script, status: refusal?.status }, exchange);
}

function yours({ exchange, parts }: Ctx, slug: string): Response {
  const url = siteUrl(parts.config, slug);
  const body = html`<h1>This site is yours</h1>
    <p role="status">It does not expire.</p>
    <p><a href="${url}">${url}</a></p>`;
  return answerPage({ title: "This site is yours", body, script }, exchange);
}

/** `GET /claim/:id`. Whether the site exists is not told to whoever does not own it. */
export async function showClaim(ctx: Ctx) {
  const { caller, params, parts } = ctx;
  if (caller.kind !== "account") return signInFirst(ctx);
  const site = await parts.store.sites.byId(params.id!);
  return site?.owner_account_id === caller.account_id ? yours(ctx, site.slug) : askForToken(ctx, caller);
}

/** `POST /claim/:id`. */
export async function submitClaim(ctx: Ctx) {
  const { caller, request, params, exchange } = ctx;
  if (caller.kind !== "account") return signInFirst(ctx);
  const read = async () => {
    const form = await readForm(request);
    const claim_token = stringMember(form, "claim_token", LONGEST_TOKEN).trim();
    return { claim_token, revoke_manage_tokens: form.revoke_manage_tokens === "true" };
  };
  try {
    await claimSite(ctx, read);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    Object.assign(ctx.headers, error.headers);
    const form = await readForm(request).catch(() => null);
    return askForToken(ctx, caller, error, form !== null && form.revoke_manage_tokens !== "true");
  }
  return answerRedirect(`/claim/${params.id!}`, exchange);
}
