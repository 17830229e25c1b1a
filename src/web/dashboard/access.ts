/** The things that act for the owner of a site's comments without a session: the webhook, agents' tokens and codes that nobody has used
 *  yet, each with its end or a button that ends it (WEB 7). */
import type { Site } from "../../base/types.ts";
import { html, type Html } from "../../html/template.ts";
import type { AgentToken, CommentSettings, Maker, OpenOwnerCode } from "../../store/notes.ts";
import { ahead, count } from "../browser/wording.ts";
import { csrfOf } from "../frame.ts";
import { button, csrfField, visuallyHidden } from "../parts.ts";
import type { SignedIn } from "../who.ts";
import { ago, isolated, onDay } from "../words.ts";
import { commentsPath } from "./comment-lists.ts";

const MAKERS: Record<Maker, string> = {
  giver: "with the manage_token of a deploy without an account",
  manage: "with a manage_token",
  account: "by your account",
};

interface Ending {
  ctx: SignedIn;
  site: Site;
}

const endForm = ({ ctx, site }: Ending, action: string, label: Html): Html =>
  html`<form method="post" action="${commentsPath(site.site_id)}/${action}">
    ${csrfField(csrfOf(ctx)!)} ${button(label, { small: true })}
  </form>`;

function webhookRow(ending: Ending, { webhook, webhook_by }: CommentSettings): Html | null {
  if (webhook === null) return null;
  return html`<li>
    <div>
      <p class="titled"><span class="name cut">${isolated(new URL(webhook.url).host)}</span></p>
      <p class="sub">Webhook: ${webhook.events.join(", ")} · Set ${MAKERS[webhook_by]}</p>
    </div>
    ${endForm(ending, "webhook/remove", html`<span>Remove${visuallyHidden("the webhook")}</span>`)}
  </li>`;
}

function tokenRow(
  ending: Ending,
  { token_id, name, scopes, created_at, last_used_at, expires_at, made_by }: AgentToken,
) {
  const now = ending.ctx.parts.now();
  const used = last_used_at === null ? html`Never used` : html`Last used ${ago(last_used_at, now)}`;
  return html`<li>
    <div>
      <p class="titled"><span class="name cut" dir="auto">${name}</span></p>
      <p class="sub">
        Agent: ${scopes.join(", ")} · Made ${ago(created_at, now)} ${MAKERS[made_by]} · ${used} · Until
        ${onDay(new Date(expires_at).toISOString(), now)}
      </p>
    </div>
    ${endForm(ending, `tokens/${token_id}/revoke`, html`<span>Revoke<span class="hidden"> ${isolated(name)}</span></span>`)}
  </li>`;
}

const codeRow = ({ expires_at, made_by }: OpenOwnerCode, now: number): Html =>
  html`<li>
    <div>
      <p class="titled"><span class="name">Owner code</span></p>
      <p class="sub">Not used yet · Ends in ${ahead(expires_at - now)} · Made ${MAKERS[made_by]}</p>
    </div>
  </li>`;

/** Past these they are counted alone: each lasts for five minutes. */
const SHOWN_CODES = 5;

/** The part of the page of a site's comments; nothing for a site that never had any and that nobody else acts for. */
export async function accessSection(ctx: SignedIn, site: Site, settings: CommentSettings): Promise<Html | false> {
  const { notes } = ctx.parts.store;
  const [tokens, codes] = [await notes.tokens(site.site_id), await notes.ownerCodes(site.site_id)];
  const [ending, now] = [{ ctx, site }, ctx.parts.now()];
  const more = codes.length - SHOWN_CODES;
  const none = tokens.length + codes.length === 0 && settings.webhook === null;
  if (none && settings.last_mode === null) return false;
  return html`<section class="card" aria-labelledby="access">
    <h2 id="access">Access</h2>
    ${
      none
        ? html`<p class="small dim">
            No webhook, no agent's token and no open owner code: your account alone acts here.
          </p>`
        : html`<ul class="rows pairs" role="list" aria-label="Access">
              ${webhookRow(ending, settings)} ${tokens.map((token) => tokenRow(ending, token))}
              ${codes.slice(0, SHOWN_CODES).map((code) => codeRow(code, now))}
            </ul>
            ${more > 0 && html`<p class="small dim">And ${count(more, "open owner code")} more.</p>`}
            <p class="small dim">
              <code>svc tokens revoke --site ${site.site_id}</code> ends all of it, with every manage_token of the site.
            </p>`
    }
  </section>`;
}
