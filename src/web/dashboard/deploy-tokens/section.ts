/** The deploy tokens of an account on its page: what each may, until when, and the way to its end. */
import { html, type Html } from "../../../html/template.ts";
import type { DeployToken } from "../../../store/people/deploy-tokens.ts";
import { button, csrfField, linkButton } from "../../parts.ts";
import { count } from "../../wording/amounts.ts";
import { ago, onDay, theirs } from "../../words.ts";

/** The page that makes one. */
export const MAKE_TOKEN = "/dashboard/account/tokens";

const used = ({ last_used_at }: DeployToken, now: number): Html =>
  last_used_at === null ? html`Never used` : html`Last used ${ago(last_used_at, now)}`;

const places = ({ site_ids }: DeployToken): string =>
  site_ids === null ? "all sites" : count(site_ids.length, "site");

function row(token: DeployToken, csrf: string, now: number): Html {
  const { token_id, name, scopes, expires_at } = token;
  const label = html`<span>Revoke<span class="hidden"> ${theirs(name)}</span></span>`;
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
