/** Sign-up, sign-in and sign-out, for programs (JSON in, a token out) and for browsers (a form in, a cookie out):
 *  CONTRACT 5. */
import { appealing, Refusal } from "../base/errors.ts";
import { hashPassword, normalEmail } from "../http/passwords.ts";
import type { Config } from "../config/index.ts";
import { signupClosed } from "../store/refusals.ts";
import type { NewSession } from "../store/people/sessions.ts";
import { hashToken, newAccountId, newSessionId, newToken } from "../base/tokens.ts";
import { answerRedirect, nextPath } from "../http/answers.ts";
import { isForm, readFields, readForm, stringMember } from "../http/body.ts";
import { accountHolder } from "./caller.ts";
import { clientOf } from "../http/exchange.ts";
import { refuseForeignOrigin } from "../http/csrf.ts";
import { isTrustworthy } from "../http/hosts.ts";
import { limitClient } from "../http/rate-limit.ts";
import type { Ctx } from "./context.ts";
import { networkHash, passwordHolder, waitingPlace } from "./password-check.ts";

const LONGEST_EMAIL = 300;
const LONGEST_PASSWORD = 1024;
const LONGEST_INVITE = 512;

type Fields = Readonly<Record<string, unknown>>;

/** A new token at every sign-in: one that somebody planted before opens nothing afterwards. */
export function newSession(client: string): { session_token: string; session: NewSession } {
  const session_token = newToken("svc_session_");
  return { session_token, session: { session_id: newSessionId(), hash: hashToken(session_token), client } };
}

/** A program gets the token; a page of our own the cookie too, and a form is sent on its way. */
function signedIn(ctx: Ctx, fields: Fields, account_id: string, session_token: string) {
  const fromPage = ctx.request.headers.has("origin");
  if (fromPage) ctx.headers["set-cookie"] = ctx.cookie.set(session_token);
  if (isForm(ctx.request) && (fromPage || fields.next !== undefined)) {
    return answerRedirect(nextPath(fields.next), ctx.exchange);
  }
  return { account_id, session_token };
}

async function emailAndPassword(fields: Fields): Promise<{ email: string; password: string }> {
  return {
    email: normalEmail(stringMember(fields, "email", LONGEST_EMAIL)),
    password: stringMember(fields, "password", LONGEST_PASSWORD),
  };
}

const wrongPassword = (): Refusal => new Refusal("unauthorized", "The e-mail address or the password is wrong.");

/** Whoever does not give the password learns nothing of it. */
function refuseDisabled({ disabled_reason }: { disabled_reason: string | null }, { contact }: Pick<Config, "contact">) {
  if (disabled_reason === null) return;
  throw appealing(new Refusal("forbidden", `This account was disabled by the operator: ${disabled_reason}`), contact);
}

/** `POST /auth/login`. */
export async function login(ctx: Ctx) {
  refuseForeignOrigin(ctx);
  const counted = await limitClient(ctx, "rate_sign_in");
  const fields = await readFields(ctx.request);
  const account = await passwordHolder(ctx, await emailAndPassword(fields), counted);
  if (!account) throw wrongPassword();
  refuseDisabled(account, ctx.parts.config);
  const { session, session_token } = newSession(clientOf(ctx.request));
  const network_hash = networkHash(ctx, account.account_id);
  if (!(await ctx.parts.store.sessions.start({ ...session, network_hash }, account))) throw wrongPassword();
  return signedIn(ctx, fields, account.account_id, session_token);
}

/** The hash of the invitation where sign-up needs one. */
function invitationOf(fields: Fields, mode: Config["signup"]): string | null {
  if (mode === "open") return null;
  if (mode === "closed") throw new Refusal("signup_closed", "This server takes no new accounts.");
  const { invite } = fields;
  if (typeof invite !== "string" || invite.length > LONGEST_INVITE) throw signupClosed();
  return hashToken(invite);
}

/** `POST /auth/signup`. */
export async function signup(ctx: Ctx) {
  const { config, store } = ctx.parts;
  refuseForeignOrigin(ctx);
  await limitClient(ctx, "rate_sign_in");
  const fields = await readFields(ctx.request);
  const invitation_hash = invitationOf(fields, config.signup);
  const { email, password } = await emailAndPassword(fields);
  const password_hash = await hashPassword(password, waitingPlace(ctx, false));
  const account_id = newAccountId();
  const made = newSession(clientOf(ctx.request));
  const session = { ...made.session, network_hash: networkHash(ctx, account_id) };
  await store.accounts.create({ account_id, email, password_hash, session, invitation_hash });
  return signedIn(ctx, fields, account_id, made.session_token);
}

/** Where the form of a page goes on to; null for a program. */
async function wayOn({ request, exchange }: Ctx): Promise<Response | null> {
  if (!isForm(request)) return null;
  const { next } = await readForm(request);
  return next === undefined ? null : answerRedirect(nextPath(next), exchange);
}

/** The browser forgets a session that has ended. */
export function forgetSession({ caller, cookie, headers, origin }: Ctx): void {
  if (caller.kind !== "account" || caller.by !== "cookie") return;
  headers["set-cookie"] = cookie.cleared;
  // Never "cookies" or "storage": they reach what visitors of sites and the drop zone keep.
  if (isTrustworthy(origin)) headers["clear-site-data"] = '"cache"';
}

/** `POST /auth/logout`: ends the session that is presented. On a page whose session is gone, what was wanted is done. */
export async function logout(ctx: Ctx) {
  const { caller } = ctx;
  const on = await wayOn(ctx);
  if (on && caller.kind !== "account") return on;
  const { account_id, session_id } = accountHolder(caller);
  await ctx.parts.store.sessions.end({ account_id, session_id });
  forgetSession(ctx);
  return on ?? { ok: true };
}
