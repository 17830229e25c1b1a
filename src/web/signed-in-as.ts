/** In whose name a click will be: under plain http a hosted page can have planted a stranger's session. */
import { html, type Html } from "../html/template.ts";
import type { SignedInCaller } from "../routes/caller.ts";
import type { Ctx } from "../routes/context.ts";
import { csrfOf } from "./frame.ts";
import { csrfField, hiddenField } from "./parts.ts";
import { theirs } from "./words.ts";

/** "Not you?" signs out and comes back to this page. */
export async function signedInAs(ctx: Ctx, { account_id }: SignedInCaller, page: string): Promise<Html> {
  const account = await ctx.parts.store.accounts.byId(account_id);
  return html`<form method="post" action="/auth/logout" class="after">
    You are signed in as ${theirs(account?.email ?? "")}. ${csrfField(csrfOf(ctx)!)} ${hiddenField("next", page)}
    <button class="textlike">Not you?</button>
  </form>`;
}
