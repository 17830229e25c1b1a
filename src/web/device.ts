/** `/device`: a person approves or denies a device login (RFC 8628, 3.3). Opening it never decides anything. */
import { Refusal } from "../errors.ts";
import { html } from "../html/template.ts";
import { answerRedirect } from "../http/answers.ts";
import { wrongPassword } from "../routes/auth.ts";
import { readForm } from "../http/body.ts";
import { accountHolder, type SignedInCaller } from "../routes/caller.ts";
import { csrfToken } from "../http/csrf.ts";
import { readUserCode, showUserCode } from "../routes/device.ts";
import { passwordHolder } from "../routes/password-check.ts";
import { limitClient } from "../http/rate-limit.ts";
import type { Ctx } from "../routes/context.ts";
import type { DeviceLogin } from "../store/people.ts";
import { UNIT_MS } from "../units.ts";
import { answerPage, csrfField, problem, signedInAs } from "./frame.ts";

/** Who signed in longer ago gives the password once more: what is approved lives on for months. */
const FRESH_MS = UNIT_MS.h;

const isFresh = ({ signed_in_at }: SignedInCaller, now: number): boolean =>
  signed_in_at !== null && now - Date.parse(signed_in_at) <= FRESH_MS;

function askForCode({ exchange }: Ctx, status = 200, message?: string): Response {
  const body = html`<h1>Sign in a device</h1>
    ${problem(message)}
    <p>Enter the code that the program on your device shows.</p>
    <form method="get" action="/device">
      <label for="code">Code</label>
      <input
        id="code"
        name="user_code"
        class="code"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck="false"
        placeholder="XXXX-XXXX"
        maxlength="20"
        required
      />
      <button>Go on</button>
    </form>`;
  return answerPage({ title: "Sign in a device", body, status }, exchange);
}

/** Unknown, used, decided and expired codes look alike. */
const notWaiting = (ctx: Ctx): Response =>
  askForCode(
    ctx,
    404,
    "This code is not waiting for anybody. Check it, or start again on your device: codes live for 15 minutes.",
  );

const ageOf = (created_at: string, now: number): string => {
  const minutes = Math.floor((now - Date.parse(created_at)) / UNIT_MS.m);
  return minutes < 1 ? "less than a minute ago" : minutes === 1 ? "a minute ago" : `${minutes} minutes ago`;
};

async function askToDecide(ctx: Ctx, caller: SignedInCaller, login: DeviceLogin, refusal?: Refusal): Promise<Response> {
  const { parts, exchange } = ctx;
  const now = parts.now();
  const password = html`<p>You signed in a while ago: to approve, give your password again.</p>
    <label for="password">Password</label>
    <input id="password" name="password" type="password" autocomplete="current-password" maxlength="1024" />`;
  const body = html`<h1>Sign in this device?</h1>
    ${problem(refusal?.message)}
    <p class="code">${showUserCode(login.user_code)}</p>
    <p>
      Approve only if <strong>you</strong> started this and your device shows the same code. It can then do all that you
      can.
    </p>
    <dl>
      <dt>Program</dt>
      <dd>${login.client}</dd>
      <dt>Address</dt>
      <dd>${login.address}</dd>
      <dt>Asked</dt>
      <dd>${ageOf(login.created_at, now)}</dd>
    </dl>
    <form method="post" action="/device">
      <input type="hidden" name="user_code" value="${login.user_code}" />
      ${csrfField(csrfToken(parts.secrets.csrf, caller.session_id))} ${!isFresh(caller, now) && password}
      <button name="decision" value="approve">Approve</button>
      <button name="decision" value="deny" class="second">Deny</button>
    </form>
    ${await signedInAs(ctx, caller)}`;
  return answerPage({ title: "Sign in this device?", body, status: refusal?.status }, exchange);
}

const DONE = {
  approved: "The device is signed in. You can close this page and go back to it.",
  denied: "The device was not signed in.",
};

function done({ exchange }: Ctx, state: keyof typeof DONE): Response {
  const title = state === "approved" ? "Approved" : "Denied";
  const body = html`<h1>${title}</h1>
    <p role="status">${DONE[state]}</p>`;
  return answerPage({ title, body }, exchange);
}

/** A sibling's page cannot read what it loads from here, but ten pictures of it would use up a person's ten codes. They are
 *  not counted, so they are told nothing either: else a program would guess under their name. */
function refuseUnlessNavigation({ request: { headers } }: Ctx): void {
  const wanted = headers.get("sec-fetch-dest") ?? "document";
  // A sibling may have a page fetched ahead, with its cookies, as if it were opened.
  const ahead = headers.has("sec-purpose") || headers.has("purpose");
  if (wanted === "document" && !ahead) return;
  throw new Refusal("forbidden", "A code is entered by opening this page in a browser's own window.");
}

/** `GET /device`: asks for the code; with `?user_code=`, shows the login that waits under it. */
export async function showDevice(ctx: Ctx) {
  const { caller, query, exchange, parts } = ctx;
  const state = query.get("done");
  if (state === "approved" || state === "denied") return done(ctx, state);
  const typed = query.get("user_code");
  if (caller.kind !== "account") {
    const next = typed === null ? "/device" : `/device?${new URLSearchParams({ user_code: typed })}`;
    return answerRedirect(`/signin?${new URLSearchParams({ next })}`, exchange);
  }
  if (typed === null) return askForCode(ctx);
  refuseUnlessNavigation(ctx);
  await limitClient(ctx, "rate_device_code");
  const code = readUserCode(typed);
  const login = code && (await parts.store.device_logins.pending(code));
  return login ? askToDecide(ctx, caller, login) : notWaiting(ctx);
}

/** Throws where the password of the account is not the one that was typed. */
async function confirmPassword(ctx: Ctx, caller: SignedInCaller, password: string | undefined): Promise<void> {
  if (!password) throw new Refusal("invalid_input", "Give your password to approve.", { field: "password" });
  const counted = await limitClient(ctx, "rate_sign_in");
  const account = await ctx.parts.store.accounts.byId(caller.account_id);
  const right = account && (await passwordHolder(ctx, { email: account.email, password }, counted, true));
  if (!right) throw wrongPassword();
  await ctx.parts.store.sessions.confirm(caller.session_id);
}

/** `POST /device`: the click. */
export async function decideDevice(ctx: Ctx) {
  const caller = accountHolder(ctx.caller);
  const { device_logins } = ctx.parts.store;
  await limitClient(ctx, "rate_device_code");
  const { user_code, decision, password } = await readForm(ctx.request);
  const code = readUserCode(user_code);
  const login = code && (await device_logins.pending(code));
  if (!login) return notWaiting(ctx);
  if (decision !== "approve" && decision !== "deny") {
    throw new Refusal("invalid_input", "Choose Approve or Deny.", { field: "decision" });
  }
  try {
    if (decision === "approve" && !isFresh(caller, ctx.parts.now())) await confirmPassword(ctx, caller, password);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    Object.assign(ctx.headers, error.headers);
    return askToDecide(ctx, caller, login, error);
  }
  const state = decision === "approve" ? "approved" : "denied";
  if (!(await device_logins.decide(login.user_code, state, caller))) return notWaiting(ctx);
  return answerRedirect(`/device?done=${state}`, ctx.exchange);
}
