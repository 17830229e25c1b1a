/** Passwords of accounts: confirmed before a step that cannot be undone, changed, and checked under limits, with a place to
 *  wait for argon2id (CONTRACT 4.4 and 5, RELIABILITY A6, WEB 8). A network that gave the right one before is known to the
 *  account: what strangers do to its name does not slow it. */
import { Refusal } from "../base/errors.ts";
import { readFields, stringMember } from "../http/body.ts";
import { customerOf, networkOf } from "../http/context.ts";
import { checkPassword, hashPassword, isPassword } from "../http/passwords.ts";
import { type Counted, limitClient } from "../http/rate-limit.ts";
import type { FairnessKey } from "../run/gate.ts";
import type { SignedInCaller } from "./caller.ts";
import type { AccountCtx, Ctx } from "./context.ts";

const LONGEST = 1024;

const wrong = (field: string): Refusal =>
  new Refusal("unauthorized", "The password is wrong, and nothing was changed.", { field });

/** The account, if this is its password; throws 401 if not. Counted as a sign-in. */
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

/** The hash by which an account remembers the client's network. Each account has another one: a reader of the database
 *  cannot tell which accounts share a network. */
export const networkHash = ({ client_address, parts }: Ctx, account_id: string): string =>
  new Bun.CryptoHasher("sha256", parts.secrets.sign_in_networks)
    .update(`${account_id}\0${networkOf(client_address())}`)
    .digest("base64url");

/** The client's place among those who wait. Networks that are `known` to the account and new ones are taken in turn, so that
 *  neither waits for the other. */
export function waitingPlace({ client_address }: Ctx, known: boolean): FairnessKey {
  const address = client_address();
  return [known ? "known" : "new", customerOf(address), networkOf(address)];
}

/** Counts the try under a further limit; if that refuses it, none of them counts it. */
async function alsoCounted(counted: Counted, count: () => Promise<Counted>): Promise<Counted> {
  try {
    const more = await count();
    return { headers: more.headers, undo: async () => void (await Promise.all([counted.undo(), more.undo()])) };
  } catch (error) {
    await counted.undo();
    throw error;
  }
}

/** The account with this address and password; null if there is none, in the same time and under the same limits whether
 *  the address has an account or not. `counted`: the call, under the limit of the client's address. `signed_in`: the account's
 *  session came along, so that tries of strangers do not count against it; those with a session have a count of their own, or
 *  a thief of one could guess from any number of networks. */
export async function passwordHolder(
  ctx: Ctx,
  { email, password }: { email: string; password: string },
  counted: Counted,
  signed_in = false,
) {
  const { limit, store } = ctx.parts;
  const network = networkOf(ctx.client_address());
  const here = await alsoCounted(counted, () => limit("rate_sign_in_account", `${email} ${network}`));
  const account = await store.accounts.byEmail(email);
  const account_id = account?.account_id ?? "";
  const known = signed_in || (await store.accounts.knows(account_id, networkHash(ctx, account_id)));
  const name = signed_in ? `${email} signed in` : email;
  if (signed_in || !known) await alsoCounted(here, () => limit("rate_sign_in_name", name));
  const right = await isPassword(password, account?.password_hash ?? null, waitingPlace(ctx, known));
  return right ? account : null;
}
