/** `/claim/<site_id>`, the page of `claim_url`: after the sign-in the site belongs to the account. The token comes in
 *  the fragment, which no log sees; a script shows which site it is of, without script it is pasted. A claim that ends the access of whoever
 *  deployed the site lists first what it ends (RELIABILITY A25). */
import type { Refusal } from "../base/errors.ts";
import { html, type Html } from "../html/template.ts";
import { answerRedirect } from "../http/answers.ts";
import { readForm, stringMember } from "../http/body.ts";
import type { SignedInCaller } from "../routes/caller.ts";
import { seal, single, unseal } from "../comments/keys.ts";
import { askedClaim, claimSite } from "../routes/account.ts";
import { siteUrl } from "../http/hosts.ts";
import type { Ctx, Route } from "../routes/context.ts";
import type { EndedAccess } from "../store/ownership.ts";
import { isSessionEnded } from "../store/refusals.ts";
import { count } from "../base/units.ts";
import { scriptPath } from "./assets.ts";
import { answerPage, csrfOf } from "./frame.ts";
import { alertBox, button, card, checkbox, csrfField, field, linkButton, siteLink, statusBox } from "./parts.ts";
import { isShownAgain, signedInAs, signedOutMeanwhile } from "./who.ts";

const LONGEST_TOKEN = 512;

const pageOf = ({ params }: Ctx): string => `/claim/${params.id!}`;

/** It runs before anything is drawn: what it folds away would move the button. */
const SCRIPT = html`<script src="${scriptPath("claim")}" defer blocking="render"></script>`;

const answer = (ctx: Ctx, title: string, body: Html, refusal?: Refusal): Response =>
  answerPage(ctx, { title, next: pageOf(ctx), body: card(body), refusal, width: "form wide", head: SCRIPT });

function signInFirst(ctx: Ctx): Response {
  const next = new URLSearchParams({ next: pageOf(ctx) }).toString();
  const open = ctx.parts.config.signup === "open";
  return answer(
    ctx,
    "Keep this site",
    html`<h1>Keep this site</h1>
      <p class="two-lines" data-site-end>A site without an account expires. Sign in, and it becomes yours and stays.</p>
      <div class="pair">
        ${linkButton(`/signin?${next}`, "Sign in", { kind: "primary" })}
        ${open && linkButton(`/signup?${next}`, "Create an account")}
      </div>`,
  );
}

const tokenField = (token: string, refusal: Refusal | undefined): Html =>
  field({
    name: "claim_token",
    id: "token",
    label: "Claim token",
    value: token,
    hint: "It is the part of the claim link after the #, and begins with svc_claim_.",
    refusal,
    wrong: refusal !== undefined && refusal.status !== 429,
    attributes: html`autocomplete="off" spellcheck="false" maxlength="${LONGEST_TOKEN}" required`,
  });

/** The text that was typed, and whether the box is ticked; at first it is not, for most people keep a site of their own. */
interface Typed {
  claim_token: string;
  revoke_manage_tokens: boolean;
  /** Whether the page was sent that does not say yet what ends. */
  look: boolean;
}
const NOTHING: Typed = { claim_token: "", revoke_manage_tokens: false, look: true };

/** Its parts in words; empty if nothing acts for the site but its owner. */
function wordsOf({ manage_tokens, agent_tokens, owner_codes, webhook }: EndedAccess): Html[] {
  return [
    manage_tokens > 0 && html`${count(manage_tokens, "saved token")} (manage_token)`,
    agent_tokens > 0 && html`${agent_tokens === 1 ? "1 agent's token" : `${agent_tokens} agents' tokens`}`,
    owner_codes > 0 && html`${count(owner_codes, "owner code")}`,
    webhook !== null && html`the webhook to <code>${webhook}</code>`,
  ].filter((words) => words !== false);
}

const endedList = (ended: EndedAccess): Html =>
  html`<ul class="bullets">
    ${wordsOf(ended).map((words) => html`<li>${words}</li>`)}
    <li>the hour for which a browser may moderate comments there as the owner</li>
  </ul>`;

interface ShownAgain {
  typed: Typed;
  refusal?: Refusal;
  /** The things that the claim ends while the box is ticked. */
  ends?: EndedAccess;
}

async function askForToken(ctx: Ctx, caller: SignedInCaller, shown: ShownAgain = { typed: NOTHING }) {
  const { typed, refusal, ends } = shown;
  const box = checkbox({
    name: "revoke_manage_tokens",
    value: "true",
    label: "Someone else deployed this site: end their access",
    checked: typed.revoke_manage_tokens,
    hint: "Leave it unticked if it was you or a program of yours, which can then go on publishing.",
  });
  const title = ends ? "End their access?" : "Keep this site";
  const body = html`<h1>${title}</h1>
    ${alertBox(refusal)}
    <div>
      <p class="address" data-site-address><code>${ctx.params.id}</code></p>
      <p class="small dim two-lines" data-site-facts>It becomes your account's and does not expire any more.</p>
    </div>
    <form method="post" action="${pageOf(ctx)}" class="fields">
      ${csrfField(csrfOf(ctx)!)} ${tokenField(typed.claim_token, refusal)}
      <div>${box}</div>
      ${
        ends &&
        html`<div>
          <p>The site is not yours yet. With the box ticked, keeping it ends:</p>
          ${endedList(ends)}
        </div>`
      }
      ${button(ends ? "Keep it and end their access" : "Keep it", { kind: "primary", wide: true, attributes: html`data-claim ${!ends && html`name="look" value="true"`}` })}
    </form>
    ${await signedInAs(ctx, caller, pageOf(ctx))}`;
  return answer(ctx, title, body, refusal);
}

/** The site's and nobody else's: a link that a stranger made says nothing. */
const ENDED = "svc_claim_ended";
const ringOf = ({ parts }: Ctx) => single(parts.comments.keys.cursor);

function endedIn(ctx: Ctx): EndedAccess | null {
  const said = unseal(ENDED, ringOf(ctx), ctx.query.get("ended") ?? "");
  return said?.["site_id"] === ctx.params.id ? (said as unknown as EndedAccess) : null;
}

const claimed = (ctx: Ctx, ended: EndedAccess | null): string => {
  if (ended === null) return pageOf(ctx);
  const value = seal(ENDED, ringOf(ctx), { site_id: ctx.params.id, ...ended });
  return `${pageOf(ctx)}?ended=${value}`;
};

function yours(ctx: Ctx, slug: string): Response {
  const ended = endedIn(ctx);
  const url = siteUrl(ctx.parts.config, slug);
  return answer(
    ctx,
    "This site is yours",
    html`<h1>This site is yours</h1>
      <div data-claimed>${statusBox("It does not expire.")}</div>
      <p class="address">${siteLink(url)}</p>
      ${
        ended &&
        html`<div>
          <p>The access of whoever deployed it has ended:</p>
          ${endedList(ended)}
          <p>Was that you? <code>svc login</code> in your terminal brings it back there.</p>
        </div>`
      }
      <p>${linkButton(`/dashboard/sites/${ctx.params.id!}`, "Manage this site", { kind: "primary" })}</p>`,
  );
}

/** `GET /claim/:id`. It does not say whether the site exists: only its owner may know. */
async function showClaim(ctx: Ctx) {
  const { caller, params, parts } = ctx;
  if (caller.kind !== "account") return signInFirst(ctx);
  const site = await parts.store.sites.byId(params.id!);
  return site?.owner_account_id === caller.account_id ? yours(ctx, site.slug) : askForToken(ctx, caller);
}

/** `POST /claim/:id`. */
async function submitClaim(ctx: Ctx) {
  const { caller, request, exchange } = ctx;
  if (caller.kind !== "account") return signedOutMeanwhile(ctx, pageOf(ctx));
  const typed = async (): Promise<Typed> => {
    const { claim_token = "", revoke_manage_tokens, look } = await readForm(request);
    const revokes = revoke_manage_tokens === "true";
    return { claim_token: claim_token.trim(), revoke_manage_tokens: revokes, look: look === "true" };
  };
  try {
    const wanted = await askedClaim({ ...ctx, caller }, async () => {
      const sent = await typed();
      stringMember({ ...sent }, "claim_token", LONGEST_TOKEN);
      return sent;
    });
    const sent = await typed();
    const ends = sent.look && sent.revoke_manage_tokens ? await ctx.parts.store.ownership.claimEnds(wanted) : null;
    if (ends !== null && wordsOf(ends).length > 0) return await askForToken(ctx, caller, { typed: sent, ends });
    return answerRedirect(claimed(ctx, (await claimSite({ ...ctx, caller }, wanted)).ended), exchange);
  } catch (error) {
    if (isSessionEnded(error)) return signedOutMeanwhile(ctx, pageOf(ctx));
    if (!isShownAgain(error)) throw error;
    return askForToken(ctx, caller, { typed: await typed().catch(() => NOTHING), refusal: error });
  }
}

/** The page of a claim link. */
export const CLAIM: readonly Route[] = [
  ["GET", "/claim/:id", showClaim],
  ["POST", "/claim/:id", submitClaim],
];
