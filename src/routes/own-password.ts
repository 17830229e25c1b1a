/** The password of whoever is signed in: asked for once more before a step that cannot be undone, and changed
 *  (CONTRACT 5, WEB 8). */
import { Refusal } from "../base/errors.ts";
import { readFields, stringMember } from "../http/body.ts";
import { type Counted, limitClient } from "../http/rate-limit.ts";
import { checkPassword, hashPassword } from "../http/passwords.ts";
import type { SignedInCaller } from "./caller.ts";
import type { AccountCtx, Ctx } from "./context.ts";
import { passwordHolder, waitingPlace } from "./password-check.ts";

const LONGEST = 1024;

const wrong = (field: string): Refusal =>
  new Refusal("unauthorized", "The password is wrong, and nothing was changed.", { field });

/** The account, where this is its password; throws 401 where it is not. Counted as a sign-in. */
export async function confirmPassword(
  ctx: Ctx,
  { account_id }: SignedInCaller,
  { field, password, counted }: { field: string; password: string; counted?: Counted },
) {
  const tried = counted ?? (await limitClient(ctx, "rate_sign_in"));
  const account = await ctx.parts.store.accounts.byId(account_id);
  const holder = account && (await passwordHolder(ctx, { email: account.email, password }, tried, true));
  if (!holder) throw wrong(field);
  return holder;
}

/** `POST /account/password`: all other sessions end, this one stays. */
export async function changePassword(ctx: AccountCtx) {
  const by = ctx.caller;
  const counted = await limitClient(ctx, "rate_sign_in");
  const fields = await readFields(ctx.request);
  const field = "current_password";
  const password = stringMember(fields, field, LONGEST);
  const fresh = stringMember(fields, "new_password", LONGEST);
  checkPassword(fresh, "new_password");
  const { password_hash: checked_hash } = await confirmPassword(ctx, by, { field, password, counted });
  const password_hash = await hashPassword(fresh, waitingPlace(ctx, true));
  if (!(await ctx.parts.store.accounts.changePassword({ by, checked_hash, password_hash }))) throw wrong(field);
  return { ok: true };
}
