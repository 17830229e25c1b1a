/** Who gives an account's password, how often they may, and where they wait for argon2id (CONTRACT 4.4, RELIABILITY A6).
 *  A network that gave the right one before is known to the account: what strangers do to its name does not slow it. */
import { customerOf, networkOf } from "../http/context.ts";
import type { FairnessKey } from "../run/gate.ts";
import type { Counted } from "../http/rate-limit.ts";
import { isPassword } from "../http/passwords.ts";
import type { Ctx } from "./context.ts";

/** What the account remembers the client's network by. Another for each account: who reads the database cannot tell who
 *  shares one. */
export const networkHash = ({ client_address, parts }: Ctx, account_id: string): string =>
  new Bun.CryptoHasher("sha256", parts.secrets.sign_in_networks)
    .update(`${account_id}\0${networkOf(client_address())}`)
    .digest("base64url");

/** `known`: to the account that is asked for. Known and new ones are taken in turn, so that neither waits for the other. */
export function waitingPlace({ client_address }: Ctx, known: boolean): FairnessKey {
  const address = client_address();
  return [known ? "known" : "new", customerOf(address), networkOf(address)];
}

/** Counts the try as `counted` is; where a limit refuses it, neither counts. */
async function alsoCounted(counted: Counted, count: () => Promise<Counted>): Promise<Counted> {
  try {
    const more = await count();
    return { headers: more.headers, undo: async () => void (await Promise.all([counted.undo(), more.undo()])) };
  } catch (error) {
    await counted.undo();
    throw error;
  }
}

/** The account whose address and password these are; null where they are none, in the same time and under the same limits
 *  whether there is such an account or not. `counted`: the call under the limit of the client's address. `signed_in`: the
 *  account's session came along, so no stranger's tries stand in the way; those that bring one are counted by themselves, or
 *  whoever took a session would guess from as many networks as they have. */
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
