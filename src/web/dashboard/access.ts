/** The things that act for the owner of a site's comments without a session: the webhook, agents' tokens and codes that nobody has
 *  used yet, each with its end or a button that ends it (WEB 7). */
import type { Site } from "../../base/types.ts";
import { html, type Html } from "../../html/template.ts";
import type { AgentToken, CommentSettings, Maker, OpenOwnerCode } from "../../store/notes.ts";
import { ahead } from "../browser/wording.ts";
import { count } from "../../base/units.ts";
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

interface Place {
  ctx: SignedIn;
  site: Site;
}

const item = (name: string, facts: Html, form: Html | null): Html =>
  html`<li>
    <p>
      <b dir="auto">${name}</b><br />
      <span class="small dim">${facts}</span>
    </p>
    ${form}
  </li>`;

const endForm = ({ ctx, site }: Place, action: string, label: Html): Html =>
  html`<form method="post" action="${commentsPath(site.site_id)}/${action}">
    ${csrfField(csrfOf(ctx)!)} ${button(label, { small: true })}
  </form>`;

function webhookItem(place: Place, { webhook, webhook_by }: CommentSettings): Html | null {
  if (webhook === null) return null;
  const facts = html`Webhook: ${webhook.events.join(", ")} · Set ${MAKERS[webhook_by]}`;
  const label = html`<span>Remove${visuallyHidden("the webhook")}</span>`;
  return item(new URL(webhook.url).host, facts, endForm(place, "webhook/remove", label));
}

function tokenItem(place: Place, token: AgentToken): Html {
  const { token_id, name, scopes, created_at, last_used_at, expires_at, made_by } = token;
  const now = place.ctx.parts.now();
  const used = last_used_at === null ? "Never used" : html`Last used ${ago(last_used_at, now)}`;
  const until = onDay(new Date(expires_at).toISOString(), now);
  const made = html`Made ${ago(created_at, now)} ${MAKERS[made_by]}`;
  const label = html`<span>Revoke<span class="hidden"> ${isolated(name)}</span></span>`;
  const facts = html`Agent: ${scopes.join(", ")} · ${made} · ${used} · Until ${until}`;
  return item(name, facts, endForm(place, `tokens/${token_id}/revoke`, label));
}

const codeItem = ({ expires_at, made_by }: OpenOwnerCode, now: number): Html =>
  item("Owner code", html`Not used yet · Ends in ${ahead(expires_at - now)} · Made ${MAKERS[made_by]}`, null);

/** The rest is counted alone: a code lasts for five minutes. */
const SHOWN_CODES = 5;

function list(place: Place, settings: CommentSettings, tokens: readonly AgentToken[], codes: readonly OpenOwnerCode[]) {
  const now = place.ctx.parts.now();
  const more = codes.length - SHOWN_CODES;
  return html`<ul class="access" role="list" aria-label="Access">
      ${webhookItem(place, settings)} ${tokens.map((token) => tokenItem(place, token))}
      ${codes.slice(0, SHOWN_CODES).map((code) => codeItem(code, now))}
    </ul>
    ${more > 0 && html`<p class="small dim">And ${count(more, "open owner code")} more.</p>`}
    <p class="small dim">
      <code>svc tokens revoke --site ${place.site.site_id}</code> ends all of it, with every manage_token of the site.
    </p>`;
}

/** The part of the page of a site's comments; nothing for a site that never had any and that nobody else acts for. */
export async function accessSection(ctx: SignedIn, site: Site, settings: CommentSettings): Promise<Html | false> {
  const { notes } = ctx.parts.store;
  const [tokens, codes] = [await notes.tokens(site.site_id), await notes.ownerCodes(site.site_id)];
  const is_empty = tokens.length + codes.length === 0 && settings.webhook === null;
  if (is_empty && settings.last_mode === null) return false;
  return html`<section class="card" aria-labelledby="access">
    <h2 id="access">Access</h2>
    ${
      is_empty
        ? html`<p class="small dim">No webhook, no agent's token, no open owner code: your account alone acts here.</p>`
        : list({ ctx, site }, settings, tokens, codes)
    }
  </section>`;
}
