/** `/dashboard/account/delete`: the account and all its sites, when its address and its password were typed (WEB 8). */
import { Refusal } from "../../base/errors.ts";
import { html } from "../../html/template.ts";
import { stringMember } from "../../http/body.ts";
import { forgetSession } from "../../routes/sign-in.ts";
import { confirmPassword } from "../../routes/passwords.ts";
import { answerPage, csrfOf } from "../frame.ts";
import { alertBox, button, confirmation, csrfField, field, linkButton } from "../parts.ts";
import { accountForm, accountPage, type SignedIn } from "../who.ts";
import { count } from "../wording/amounts.ts";
import { ACCOUNT, accountOf } from "./account.ts";
import { refuseUnlessConfirmed } from "./confirmed.ts";

const TITLE = "Delete your account?";
const LONGEST_PASSWORD = 1024;

async function page(ctx: SignedIn, refusal?: Refusal): Promise<Response> {
  const { email, account_id } = await accountOf(ctx);
  const usage = await ctx.parts.store.accounts.usage(account_id);
  const sites = count(usage.sites, "site");
  const body = html`<div class="stack tight">
    <h1>${TITLE}</h1>
    ${alertBox(refusal)}
    <p>It goes for good, and so do ${sites} with ${count(usage.versions, "version")}. It cannot be undone:</p>
    <ul class="bullets">
      <li>whoever opens one of the sites finds nothing there, and nobody gets its address again</li>
      <li>all sessions end, those of your programs too</li>
    </ul>
    <form class="fields" method="post" action="${ACCOUNT}/delete">
      ${csrfField(csrfOf(ctx)!)} ${confirmation(email, refusal)}
      ${field({
        name: "password",
        label: "Password",
        type: "password",
        refusal,
        attributes: html`autocomplete="current-password" required maxlength="${LONGEST_PASSWORD}"`,
      })}
      <p class="actions final">
        ${button(`Delete my account and ${sites}`, { kind: "danger" })}
        ${linkButton(ACCOUNT, "Cancel", { kind: "quiet" })}
      </p>
    </form>
  </div>`;
  return answerPage(ctx, { title: TITLE, body, current: "account", scripts: ["password"], refusal });
}

/** `GET …/delete`. */
export const askToDeleteAccount = accountPage((ctx) => page(ctx));

/** `POST …/delete`. */
export const deleteOwnAccount = accountForm({
  page: () => `${ACCOUNT}/delete`,
  async act(ctx, fields) {
    const { email } = await accountOf(ctx);
    refuseUnlessConfirmed(fields, email);
    const password = stringMember(Object.fromEntries(fields), "password", LONGEST_PASSWORD);
    await confirmPassword(ctx, ctx.caller, { field: "password", password });
    await ctx.parts.store.accounts.remove(ctx.caller);
    forgetSession(ctx);
    return "/?done=account-deleted";
  },
  again: (ctx, refusal) => page(ctx, refusal),
});
