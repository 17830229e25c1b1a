/** What the forms of the account's page do: end sessions and deploy tokens, change the password. */
import { Refusal } from "../../base/errors.ts";
import { forgetSession } from "../../routes/sign-in.ts";
import { changePassword } from "../../routes/passwords.ts";
import { accountForm } from "../who.ts";
import { ACCOUNT, accountPageOf } from "./account.ts";

const page = () => ACCOUNT;

/** `POST …/sessions/:id/end`. One's own: a sign-out. */
export const endOneSession = accountForm({
  page,
  async act(ctx) {
    const { account_id, session_id: own } = ctx.caller;
    const session_id = ctx.params.id!;
    const ended = await ctx.parts.store.sessions.end({ account_id, session_id });
    if (!ended) throw new Refusal("not_found", "Your account has no such session: it has ended already.");
    if (session_id !== own) return `${ACCOUNT}?done=session-ended`;
    forgetSession(ctx);
    return "/";
  },
  again: accountPageOf,
});

/** `POST …/sessions/end-others`. */
export const endOtherSessions = accountForm({
  page,
  async act(ctx) {
    await ctx.parts.store.sessions.endOthers(ctx.caller);
    return `${ACCOUNT}?done=sessions-ended`;
  },
  again: accountPageOf,
});

/** `POST …/tokens/:id/revoke`. */
export const revokeToken = accountForm({
  page,
  async act(ctx) {
    const revoked = await ctx.parts.store.deploy_tokens.revoke(ctx.caller, ctx.params.id!);
    if (!revoked) throw new Refusal("not_found", "Your account has no such deploy token: it has ended already.");
    return `${ACCOUNT}?done=token-revoked`;
  },
  again: accountPageOf,
});

/** `POST …/password`. */
export const submitPassword = accountForm({
  page,
  async act(ctx) {
    await changePassword(ctx);
    return `${ACCOUNT}?done=password`;
  },
  again: accountPageOf,
});
