/** Sign-up, sign-in and sign-out, for programs (JSON in, a token out) and for browsers (a form in, a cookie out), and the
 *  login of a device by RFC 8628 (CONTRACT 5). */
import { appealing, Refusal } from "../base/errors.ts";
import { randomText } from "../base/random.ts";
import { hashToken, newAccountId, newSessionId, newToken } from "../base/tokens.ts";
import type { Config } from "../config/index.ts";
import { answerRedirect, nextPath } from "../http/answers.ts";
import { isForm, readFields, readForm, stringMember } from "../http/body.ts";
import { refuseForeignOrigin } from "../http/csrf.ts";
import { clientOf } from "../http/exchange.ts";
import { checkPassword, hashPassword, isPassword, normalEmail } from "../http/passwords.ts";
import { type Counted, limitClient } from "../http/rate-limit.ts";
import { isTrustworthy } from "../http/hosts.ts";
import { DEVICE_INTERVAL_S, DEVICE_LIFETIME_MS } from "../store/index.ts";
import type { NewSession } from "../store/people/sessions.ts";
import { refusals } from "../store/refusals.ts";
import { accountHolder, type SignedInCaller } from "./caller.ts";
import type { AccountCtx, ApiHandlers, Ctx } from "./context.ts";
import { customerOf, networkOf } from "../http/context.ts";
import type { FairnessKey } from "../run/gate.ts";

const LONGEST_EMAIL = 300;
const LONGEST_PASSWORD = 1024;
const LONGEST_INVITE = 512;

type SignInFields = Readonly<Record<string, unknown>>;

/** A new token at every sign-in: one that was planted in the browser before opens nothing afterwards. */
function newSession(client: string): { session_token: string; session: NewSession } {
  const session_token = newToken("svc_session_");
  return { session_token, session: { session_id: newSessionId(), hash: hashToken(session_token), client } };
}

/** A program gets the token; a page of our own the cookie too, and a form is sent on its way. */
function signedIn(ctx: Ctx, fields: SignInFields, account_id: string, session_token: string) {
  const fromPage = ctx.request.headers.has("origin");
  if (fromPage) ctx.headers["set-cookie"] = ctx.cookie.set(session_token);
  if (isForm(ctx.request) && (fromPage || fields.next !== undefined)) {
    return answerRedirect(nextPath(fields.next), ctx.exchange);
  }
  return { account_id, session_token };
}

async function emailAndPassword(fields: SignInFields): Promise<{ email: string; password: string }> {
  return {
    email: normalEmail(stringMember(fields, "email", LONGEST_EMAIL)),
    password: stringMember(fields, "password", LONGEST_PASSWORD),
  };
}

const wrongPassword = (): Refusal => new Refusal("unauthorized", "The e-mail address or the password is wrong.");

/** Only after the right password: others must not learn that the account is disabled. */
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

/** The hash of the invitation; null if sign-up needs none. */
function invitationOf(fields: SignInFields, mode: Config["signup"]): string | null {
  if (mode === "open") return null;
  if (mode === "closed") throw new Refusal("signup_closed", "This server takes no new accounts.");
  const { invite } = fields;
  if (typeof invite !== "string" || invite.length > LONGEST_INVITE) throw refusals.signupClosed();
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

/** The redirect that the form of a page asks for; null for a program. */
async function redirectAsked({ request, exchange }: Ctx): Promise<Response | null> {
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

/** `POST /auth/logout`: ends the session that is presented. A form without a session
 *  is sent on its way: what it wanted is so already. */
async function logout(ctx: Ctx) {
  const { caller } = ctx;
  const on = await redirectAsked(ctx);
  if (on && caller.kind !== "account") return on;
  const { account_id, session_id } = accountHolder(caller);
  await ctx.parts.store.sessions.end({ account_id, session_id });
  forgetSession(ctx);
  return on ?? { ok: true };
}

/** The device asks for a code, shows it to a person, and asks whether they approved (RFC 8628); they do so on a page
 *  (src/web/device.ts). The letters of a code are neither vowels, so that no word appears, nor Y, which passes for one: 20 letters, 34.5 bits in eight. */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const CODE_LENGTH = 8;
const ATTEMPTS = 5;
const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code";

export const showUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/** The code as it is stored, however it was typed; null if it cannot be one. */
export function readUserCode(text: unknown): string | null {
  const code = typeof text === "string" ? text.toUpperCase().replace(/[\s-]/g, "") : "";
  return code.length === CODE_LENGTH && [...code].every((letter) => LETTERS.includes(letter)) ? code : null;
}

/** `POST /auth/device/code`. What a client sends along (`client_id`, `scope`) changes nothing. */
async function startDevice(ctx: Ctx) {
  const { request, client_address, parts } = ctx;
  refuseForeignOrigin(ctx); // before it is counted: a foreign page's visitor has not begun it
  await limitClient(ctx, "rate_device_start");
  const device_code = newToken("svc_device_");
  const login = { device_hash: hashToken(device_code), address: client_address(), client: clientOf(request) };
  for (let left = ATTEMPTS; left > 0; left--) {
    const user_code = randomText(LETTERS, CODE_LENGTH);
    if (!(await parts.store.device_logins.start({ ...login, user_code }))) continue;
    const verification_uri = `${parts.config.base_url}/device`;
    return {
      device_code,
      user_code: showUserCode(user_code),
      verification_uri,
      verification_uri_complete: `${verification_uri}?user_code=${showUserCode(user_code)}`,
      expires_in: DEVICE_LIFETIME_MS / 1000,
      interval: DEVICE_INTERVAL_S,
    };
  }
  throw new Refusal("unavailable", "No free code was found. Try again.", {}, { "retry-after": "1" });
}

const SENTENCES = {
  authorization_pending: "Nobody has approved this login yet: go on asking.",
  slow_down: "You ask too often: wait five seconds longer between two tries.",
  access_denied: "The login was denied in the browser.",
  expired_token: "This device code is unknown, used or expired: begin again.",
} as const;

/** RFC 6749, 5.2: here `error` is the code, and the sentence goes into a member of its own. */
const notYet = (code: keyof typeof SENTENCES): Refusal =>
  new Refusal(code, code, { error_description: SENTENCES[code] });

const CODE_OF = {
  pending: "authorization_pending",
  slow_down: "slow_down",
  denied: "access_denied",
  unknown: "expired_token",
} as const;

/** `POST /auth/device/token`. */
async function pollDevice({ request, parts }: Ctx) {
  const fields = await readFields(request);
  const device_code = stringMember(fields, "device_code", 512);
  if (fields.grant_type !== undefined && fields.grant_type !== GRANT_TYPE) {
    throw new Refusal("invalid_input", `The grant_type must be ${GRANT_TYPE}.`, { field: "grant_type" });
  }
  const { session, session_token } = newSession("");
  const polled = await parts.store.device_logins.poll(hashToken(device_code), session);
  if (polled.state !== "approved") throw notYet(CODE_OF[polled.state]);
  return { access_token: session_token, token_type: "Bearer", account_id: polled.account_id };
}

/** The rows of the API that this file answers. */
export const SIGN_IN_HANDLERS = {
  "POST /auth/signup": signup,
  "POST /auth/login": login,
  "POST /auth/logout": logout,
  "POST /auth/device/code": startDevice,
  "POST /auth/device/token": pollDevice,
} satisfies Partial<ApiHandlers>;

// Passwords of accounts: confirmed before a step that cannot be undone, changed, and checked under limits, with a place to
// wait for argon2id (CONTRACT 4.4 and 5, RELIABILITY A6, WEB 8). A network that gave the right one before is known to the
// account: what strangers do to its name does not slow it.

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
const networkHash = ({ client_address, parts }: Ctx, account_id: string): string =>
  new Bun.CryptoHasher("sha256", parts.secrets.sign_in_networks)
    .update(`${account_id}\0${networkOf(client_address())}`)
    .digest("base64url");

/** The client's place among those who wait. Networks that are `known` to the account and new ones are taken in turn, so that
 *  neither waits for the other. */
function waitingPlace({ client_address }: Ctx, known: boolean): FairnessKey {
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
async function passwordHolder(
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
