/** The frame of every page on the API host: plain HTML that needs no script, under headers that let nobody else's code
 *  or frame near it (CONTRACT 5). */
import { createHash } from "node:crypto";
import type { Refusal } from "../errors.ts";
import { document, html, type Html } from "../html/template.ts";
import { answerText } from "../http/answers.ts";
import type { Exchange } from "../http/exchange.ts";
import type { SignedInCaller } from "../routes/caller.ts";
import type { Ctx } from "../routes/context.ts";

/** Fields that a thumb can hit and that iOS does not zoom into. */
const STYLE = `form{margin:1.25rem 0}label{display:block;margin:1rem 0 .25rem;font-weight:600}
input{display:block;font:inherit;width:100%;max-width:26rem;min-height:2.75rem;padding:.4rem .7rem;border:1px solid var(--dim);border-radius:6px;background:transparent;color:inherit}
button{font:inherit;font-weight:600;min-height:2.75rem;padding:.4rem 1.2rem;margin:1rem .5rem 0 0;border:1px solid var(--accent);border-radius:6px;background:var(--accent);color:var(--paper);cursor:pointer}
button.second{background:transparent;color:var(--accent)}
.box{display:flex;align-items:center;font-weight:400}.box input{appearance:none;flex:none;width:2.75rem;padding:.7rem;margin-left:-.7rem;border:0}
.box input::before{content:"";display:block;width:1.35rem;height:1.35rem;border:2px solid var(--accent);border-radius:4px;font:700 1rem/1.1rem system-ui,sans-serif;text-align:center}
.box input:checked::before{content:"✓";background:var(--accent);color:var(--paper)}
.code{font:600 1.6rem/1.4 ui-monospace,SFMono-Regular,Menlo,monospace;letter-spacing:.08em}
[role=alert],[role=status]{border-left:4px solid var(--accent);padding:.5rem .9rem;margin:1rem 0}
dl{margin:1rem 0}dt{color:var(--dim)}dd{margin:0 0 .5rem}`;

const STYLE_ELEMENT = /<style>([\s\S]*?)<\/style>/;
const known_policies = new Map<string, string>();

/** No `unsafe-inline`: the one style element of the page is named by its hash. */
function cspOf(text: string): string {
  const style = STYLE_ELEMENT.exec(text)![1]!;
  let policy = known_policies.get(style);
  if (!policy) {
    const hash = createHash("sha256").update(style).digest("base64");
    policy =
      `default-src 'none'; style-src 'sha256-${hash}'; script-src 'self'; img-src data:; ` +
      "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    known_policies.set(style, policy);
  }
  return policy;
}

interface Page {
  title: string;
  body: Html;
  status?: number;
  /** Path of a script of ours. */
  script?: Html;
}

export function answerPage({ title, body, status = 200, script }: Page, exchange: Exchange): Response {
  const head = html`<link rel="icon" href="data:," />${script}`;
  const text = document({ title: `${title} · svc`, style: STYLE, head, body });
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": cspOf(text),
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
  };
  return answerText(text, exchange, headers, status);
}

/** What went wrong with the last try, read out by screen readers. */
export const problem = (message: string | undefined): Html | undefined =>
  message === undefined ? undefined : html`<p role="alert">${message}</p>`;

/** A refusal that no page shows beside its own form. */
export function answerProblem(refusal: Refusal, exchange: Exchange): Response {
  const body = html`<h1>That did not work</h1>
    ${problem(refusal.message)}
    <p><a href="/signin">Go to sign-in</a></p>
    <p class="dim">Request id: ${exchange.request_id}</p>`;
  const response = answerPage({ title: "That did not work", body, status: refusal.status }, exchange);
  for (const [name, value] of Object.entries(refusal.headers)) response.headers.set(name, value);
  return response;
}

/** The proof that a form is ours, for the session of whoever it is shown to. */
export const csrfField = (token: string): Html => html`<input type="hidden" name="csrf" value="${token}" />`;

/** In whose name the click will be: under plain http a hosted page can have planted a stranger's session. */
export async function signedInAs({ parts }: Ctx, { account_id }: SignedInCaller): Promise<Html> {
  const account = await parts.store.accounts.byId(account_id);
  return html`<p class="dim">You are signed in as ${account?.email}. <a href="/signin">Not you?</a></p>`;
}
