/** `/device`: a person approves or denies a device login (RFC 8628, 3.3). Opening it never decides anything. */
import { Refusal } from "../base/errors.ts";
import { html, type Html } from "../html/template.ts";
import { answerRedirect } from "../http/answers.ts";
import { readForm } from "../http/body.ts";
import type { SignedInCaller } from "../routes/caller.ts";
import { confirmPassword, readUserCode, showUserCode } from "../routes/sign-in.ts";
import { limitClient } from "../http/rate-limit.ts";
import type { Ctx, Route } from "../routes/context.ts";
import type { DeviceLogin } from "../store/people/device-logins.ts";
import { UNIT_MS } from "../base/units.ts";
import { answerPage, csrfOf } from "./frame.ts";
import { alertBox, button, card, csrfField, field, hiddenField, statusBox } from "./parts.ts";
import { isShownAgain, signedInAs, signedOutMeanwhile } from "./who.ts";
import { ago, isolated } from "./words.ts";

/** The time since the sign-in after which the password is asked for once more: an approved device has access for
 *  months. */
const FRESH_MS = UNIT_MS.h;

const isFresh = ({ signed_in_at }: SignedInCaller, now: number): boolean =>
  signed_in_at !== null && now - Date.parse(signed_in_at) <= FRESH_MS;

/** The page that shows the login of a code. */
const pageOf = (code: string | null): string =>
  code === null ? "/device" : `/device?${new URLSearchParams({ user_code: code })}`;

function askForCode(ctx: Ctx, refusal?: Refusal): Response {
  const body = card(
    html`<h1>Sign in a device</h1>
      ${alertBox(refusal)}
      <p>Enter the code that the program on your device shows.</p>
      <form method="get" action="/device" class="fields">
        ${field({
          name: "user_code",
          id: "code",
          label: "Code",
          class: "code",
          refusal,
          attributes: html`autocomplete="off" autocapitalize="characters" spellcheck="false" placeholder="XXXX-XXXX"
          maxlength="20" required`,
        })}
        ${button("Continue", { kind: "primary", wide: true })}
      </form>`,
  );
  return answerPage(ctx, { title: "Sign in a device", body, refusal, width: "form" });
}

/** Unknown, used, decided and expired codes look alike. */
const notWaiting = (ctx: Ctx): Response =>
  askForCode(
    ctx,
    new Refusal(
      "not_found",
      "This code is not waiting for anybody. Check it, or start again on your device: codes live for 15 minutes.",
      { field: "user_code" },
    ),
  );

const aPassword = (refusal: Refusal | undefined): Html =>
  html`<p>You signed in a while ago: to approve, give your password again.</p>
    ${field({
      name: "password",
      label: "Password",
      type: "password",
      refusal,
      wrong: refusal?.status === 400 || refusal?.status === 401,
      attributes: html`autocomplete="current-password" maxlength="1024"`,
    })}`;

async function askToDecide(ctx: Ctx, caller: SignedInCaller, login: DeviceLogin, refusal?: Refusal): Promise<Response> {
  const now = ctx.parts.now();
  const code = showUserCode(login.user_code);
  const body = card(
    html`<h1>Sign in this device?</h1>
      ${alertBox(refusal)}
      <p class="code">${code}</p>
      <p>
        Approve only if <strong>you</strong> started this and your device shows the same code. It gets full access to
        your account.
      </p>
      <dl class="facts-list">
        <dt>Program</dt>
        <dd>${isolated(login.client)}</dd>
        <dt>Address</dt>
        <dd>${login.address}</dd>
        <dt>Asked</dt>
        <dd>${ago(login.created_at, now)}</dd>
      </dl>
      <form method="post" action="/device" class="fields">
        ${hiddenField("user_code", login.user_code)} ${csrfField(csrfOf(ctx)!)}
        ${!isFresh(caller, now) && aPassword(refusal)}
        <div class="pair">
          ${button("Approve", { kind: "primary", attributes: html`name="decision" value="approve"` })}
          ${button("Deny", { attributes: html`name="decision" value="deny"` })}
        </div>
      </form>
      ${await signedInAs(ctx, caller, pageOf(code))}`,
  );
  return answerPage(ctx, {
    title: "Sign in this device?",
    body,
    refusal,
    width: "form wide",
    scripts: isFresh(caller, now) ? [] : ["password"],
  });
}

const DONE = {
  approved: "The device is signed in. You can close this page and go back to it.",
  denied: "The device was not signed in.",
};

function done(ctx: Ctx, state: keyof typeof DONE): Response {
  const title = state === "approved" ? "Approved" : "Denied";
  return answerPage(ctx, {
    title,
    body: card(
      html`<h1>${title}</h1>
        ${statusBox(DONE[state])}`,
    ),
    width: "form",
  });
}

/** Refuses requests that are not a navigation. A sibling's page cannot read an answer from here, but ten pictures with
 *  this address would use up a person's ten codes. Such requests are not counted, so they get no answer about the code
 *  either: otherwise a program would guess under that person's name. */
function refuseUnlessNavigation({ request: { headers } }: Ctx): void {
  const wanted = headers.get("sec-fetch-dest") ?? "document";
  // A sibling may have a page fetched ahead, with its cookies, as if it were opened.
  const ahead = headers.has("sec-purpose") || headers.has("purpose");
  if (wanted === "document" && !ahead) return;
  throw new Refusal("forbidden", "A code is entered by opening this page in a browser's own window.");
}

/** `GET /device`: asks for the code; with `?user_code=`, shows the login that waits under it. */
async function showDevice(ctx: Ctx) {
  const { caller, query, exchange, parts } = ctx;
  const state = query.get("done");
  if (state === "approved" || state === "denied") return done(ctx, state);
  const typed = query.get("user_code");
  if (caller.kind !== "account") {
    return answerRedirect(`/signin?${new URLSearchParams({ next: pageOf(typed) })}`, exchange);
  }
  if (typed === null) return askForCode(ctx);
  refuseUnlessNavigation(ctx);
  await limitClient(ctx, "rate_device_code");
  const code = readUserCode(typed);
  const login = code && (await parts.store.device_logins.pending(code));
  return login ? askToDecide(ctx, caller, login) : notWaiting(ctx);
}

/** Throws if the typed password is not that of the account. */
async function confirmAgain(ctx: Ctx, caller: SignedInCaller, password: string | undefined): Promise<void> {
  if (!password) throw new Refusal("invalid_input", "Give your password to approve.", { field: "password" });
  await confirmPassword(ctx, caller, { field: "password", password });
  await ctx.parts.store.sessions.confirm(caller.session_id);
}

/** `POST /device`: the click. */
async function decideDevice(ctx: Ctx) {
  const { caller } = ctx;
  const { user_code, decision, password } = await readForm(ctx.request);
  const code = readUserCode(user_code);
  if (caller.kind !== "account") return signedOutMeanwhile(ctx, pageOf(code && showUserCode(code)));
  const { device_logins } = ctx.parts.store;
  await limitClient(ctx, "rate_device_code");
  const login = code && (await device_logins.pending(code));
  if (!login) return notWaiting(ctx);
  if (decision !== "approve" && decision !== "deny") {
    throw new Refusal("invalid_input", "Choose Approve or Deny.", { field: "decision" });
  }
  try {
    if (decision === "approve" && !isFresh(caller, ctx.parts.now())) await confirmAgain(ctx, caller, password);
  } catch (error) {
    if (!isShownAgain(error)) throw error;
    return askToDecide(ctx, caller, login, error);
  }
  const state = decision === "approve" ? "approved" : "denied";
  if (!(await device_logins.decide(login.user_code, state, caller))) return notWaiting(ctx);
  return answerRedirect(`/device?done=${state}`, ctx.exchange);
}

/** The page that signs a device in (RFC 8628). */
export const DEVICE: readonly Route[] = [
  ["GET", "/device", showDevice],
  ["POST", "/device", decideDevice],
];
