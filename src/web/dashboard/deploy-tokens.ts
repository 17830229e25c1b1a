/** Deploy tokens: the list on the page of the account, and `/dashboard/account/tokens`, which makes one and shows it once. */
import { Refusal } from "../../base/errors.ts";
import { isSiteId } from "../../base/tokens.ts";
import { html, type Html } from "../../html/template.ts";
import { readFormFields } from "../../http/body.ts";
import type { Ctx, Route } from "../../routes/context.ts";
import { LONGEST_TOKEN_NAME, makeDeployToken, MOST_SITES } from "../../routes/deploy-tokens.ts";
import type { DeployToken } from "../../store/people/deploy-tokens.ts";
import { isSessionEnded } from "../../store/refusals.ts";
import { answerPage, csrfOf } from "../frame.ts";
import { alertBox, button, checkbox, copyButton, csrfField, field, isAbout, linkButton, radios } from "../parts.ts";
import { accountPage, isShownAgain, isSignedIn, type SignedIn, signedOutMeanwhile } from "../who.ts";
import { count } from "../browser/wording.ts";
import { ago, onDay, isolated } from "../words.ts";
import { ACCOUNT } from "./pages.ts";

const MAKE_TOKEN = "/dashboard/account/tokens";
const TITLE = "Make a deploy token";

const SCOPES = [
  ["read", "Read", "Sees a site and its versions."],
  ["preview", "Previews", "Reads, and shows content beside what is live."],
  ["deploy", "Deploy", "All of that, and publishes and rolls back."],
  ["create", "New sites", "Makes new sites of your account. Leave Sites empty then."],
] as const;
const LIVES = [
  ["30d", "30 days"],
  ["90d", "90 days"],
  ["366d", "A year"],
] as const;

function fieldsOf(refusal: Refusal | undefined, sent: URLSearchParams | undefined): Html {
  const scopes = sent?.getAll("scopes") ?? ["deploy"];
  const life = sent?.get("expires_in") ?? "90d";
  return html`${field({
      name: "name",
      label: "Name",
      value: sent?.get("name") ?? "",
      hint: "What you know it by, such as the repository.",
      refusal,
      attributes: html`required maxlength="${2 * LONGEST_TOKEN_NAME}" dir="auto" autocomplete="off"`,
    })}
    <fieldset>
      <legend class="label">What it may</legend>
      ${SCOPES.map(([value, label, hint], i) => {
        const wrong = i === 0 && isAbout(refusal, "scopes");
        return checkbox({ name: "scopes", value, label, hint, checked: scopes.includes(value), wrong });
      })}
    </fieldset>
    ${field({
      name: "site_ids",
      label: "Sites",
      value: sent?.get("site_ids") ?? "",
      hint: "Addresses or ids of sites of yours, with spaces between. Empty: all that you have and get.",
      refusal,
      attributes: html`autocomplete="off" autocapitalize="none" spellcheck="false"`,
    })}
    ${radios(
      "How long",
      LIVES.map(([value, label]) => ({ name: "expires_in", value, label, checked: value === life })),
      refusal,
    )}`;
}

function form(ctx: SignedIn, refusal?: Refusal, sent?: URLSearchParams): Response {
  const body = html`<div class="stack tight">
    <h1>${TITLE}</h1>
    ${alertBox(refusal)}
    <p>Your CI deploys with it, and opens nothing else of your account.</p>
    <form class="fields" method="post" action="${MAKE_TOKEN}">
      ${csrfField(csrfOf(ctx)!)} ${fieldsOf(refusal, sent)}
      <p class="actions final">
        ${button("Make the token", { kind: "primary" })} ${linkButton(ACCOUNT, "Cancel", { kind: "quiet" })}
      </p>
    </form>
  </div>`;
  return answerPage(ctx, { title: TITLE, body, current: "account", refusal });
}

/** The refusals in words for a person, who knows no members of JSON. */
const SAID: Readonly<Record<string, string>> = {
  name: `a name has 1 to ${LONGEST_TOKEN_NAME} visible characters.`,
  scopes: "choose what it may.",
  site_ids: `name up to ${MOST_SITES} sites, all of them yours; with New sites none.`,
  expires_in: "choose how long.",
};

function inWords(refusal: Refusal): Refusal {
  const said = refusal.code === "invalid_input" ? SAID[String(refusal.details["field"])] : undefined;
  return said === undefined ? refusal : new Refusal(refusal.code, `Nothing was made: ${said}`, refusal.details);
}

type Made = Awaited<ReturnType<typeof makeDeployToken>>;

function shownOnce(ctx: SignedIn, { token, name, expires_at }: Made): Response {
  const until = onDay(new Date(expires_at).toISOString(), ctx.parts.now());
  const body = html`<div class="stack tight">
    <h1>Keep it now</h1>
    <p role="status">
      The token <b dir="auto">${name}</b> is shown this once. Put it among the secrets of your CI, as
      <code>SVC_TOKEN</code>. It ends on ${until}.
    </p>
    <div>
      <label class="label" for="deploy-token">Deploy token</label>
      <p class="pair">
        <input class="field mono" id="deploy-token" readonly autocomplete="off" value="${token}" />
        ${copyButton("Copy token", "deploy-token")}
      </p>
    </div>
    <p class="actions final">${linkButton(ACCOUNT, "Done", { kind: "primary", attributes: html`data-once` })}</p>
  </div>`;
  return answerPage(ctx, { title: "Your deploy token", body, current: "account", scripts: ["copy", "once"] });
}

/** The id of the site that a person names by its id, its slug or its address. A word that names no site is returned as it
 *  was sent, for the refusal to show. */
async function siteIdOf({ parts }: SignedIn, word: string): Promise<string> {
  if (isSiteId(word)) return word;
  const slug = word.replace(/^https?:\/\//i, "").split(/[./:]/)[0]!;
  return (await parts.store.sites.bySlug(slug.toLowerCase()))?.site_id ?? word;
}

/** If there are more than a token may name, none is looked up: their number alone is refused. */
const siteIdsOf = (ctx: SignedIn, words: readonly string[]): Promise<string[]> | readonly string[] =>
  words.length > MOST_SITES ? words : Promise.all(words.map((word) => siteIdOf(ctx, word)));

/** The form's fields as the members that the API takes. */
async function sentAs(ctx: SignedIn, fields: URLSearchParams): Promise<Record<string, unknown>> {
  const sites = (fields.get("site_ids") ?? "").split(/[\s,]+/).filter(Boolean);
  return {
    name: fields.get("name"),
    scopes: fields.getAll("scopes"),
    expires_in: fields.get("expires_in"),
    ...(sites.length > 0 && { site_ids: await siteIdsOf(ctx, sites) }),
  };
}

/** `GET …/tokens`. */
const showMakeToken = accountPage(async (ctx) => form(ctx));

/** `POST …/tokens`. The answer is a page itself, without a redirect: no other page has the token. */
async function makeToken(ctx: Ctx): Promise<Response> {
  if (!isSignedIn(ctx)) return signedOutMeanwhile(ctx, MAKE_TOKEN);
  const fields = await readFormFields(ctx.request);
  try {
    return shownOnce(ctx, await makeDeployToken(ctx, () => sentAs(ctx, fields)));
  } catch (error) {
    if (isSessionEnded(error)) return signedOutMeanwhile(ctx, MAKE_TOKEN);
    if (!isShownAgain(error)) throw error;
    return form(ctx, inWords(error), fields);
  }
}

const used = ({ last_used_at }: DeployToken, now: number): Html =>
  last_used_at === null ? html`Never used` : html`Last used ${ago(last_used_at, now)}`;

const places = ({ site_ids }: DeployToken): string =>
  site_ids === null ? "all sites" : count(site_ids.length, "site");

function row(token: DeployToken, csrf: string, now: number): Html {
  const { token_id, name, scopes, expires_at } = token;
  const label = html`<span>Revoke<span class="hidden"> ${isolated(name)}</span></span>`;
  return html`<li>
    <div>
      <p class="titled"><span class="name cut" dir="auto">${name}</span></p>
      <p class="sub">
        ${scopes.join(", ")} · ${places(token)} · Until ${onDay(new Date(expires_at).toISOString(), now)} ·
        ${used(token, now)}
      </p>
    </div>
    <form method="post" action="${MAKE_TOKEN}/${token_id}/revoke">
      ${csrfField(csrf)} ${button(label, { small: true })}
    </form>
  </li>`;
}

/** The deploy tokens of an account on its page: the scopes, the sites and the end of each, and a button to revoke it. */
export const deployTokensSection = (tokens: readonly DeployToken[], csrf: string, now: number): Html =>
  html`<section aria-labelledby="deploy-tokens">
    <h2 id="deploy-tokens">Deploy tokens</h2>
    ${
      tokens.length === 0
        ? html`<p class="small dim">
            CI deploys with one: it says what it may and for which sites, and ends by itself.
          </p>`
        : html`<ul class="rows card pairs" role="list" aria-label="Deploy tokens">
            ${tokens.map((token) => row(token, csrf, now))}
          </ul>`
    }
    <div class="below">${linkButton(MAKE_TOKEN, "Make a deploy token", { small: true })}</div>
  </section>`;

/** The page that makes a deploy token. */
export const DEPLOY_TOKEN_ROWS: readonly Route[] = [
  ["GET", "/dashboard/account/tokens", showMakeToken],
  ["POST", "/dashboard/account/tokens", makeToken],
];
