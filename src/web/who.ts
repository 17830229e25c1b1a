/** In whose name the click will be: under plain http a hosted page can have planted a stranger's session. */
import { html, type Html } from "../html/template.ts";
import type { SignedInCaller } from "../routes/caller.ts";
import type { Ctx } from "../routes/context.ts";

export async function signedInAs({ parts }: Ctx, { account_id }: SignedInCaller): Promise<Html> {
  const account = await parts.store.accounts.byId(account_id);
  return html`<p class="dim">You are signed in as ${account?.email}. <a href="/signin">Not you?</a></p>`;
}
