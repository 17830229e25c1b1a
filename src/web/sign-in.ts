/** `/signin` and `/signup`: forms without script. Their content is judged by the same code as the sign-ins of programs.
 *  */
import type { Refusal } from "../base/errors.ts";
import { html, type Html } from "../html/template.ts";
import { answerRedirect, HOME, nextPath } from "../http/answers.ts";
import { login, signup } from "../routes/sign-in.ts";
import { readForm } from "../http/body.ts";
import type { Ctx, Route } from "../routes/context.ts";
import { answerPage } from "./frame.ts";
import { alertBox, button, card, field, hiddenField, warningBox } from "./parts.ts";
import { isShownAgain } from "./who.ts";

interface SignInLook {
  next: string;
  email?: string;
  invite?: string;
  /** Why the last try failed. */
  refusal?: Refusal;
}

/** The address to come back to; undefined for the dashboard, which is never named in an address. */
const nextOf = ({ next }: SignInLook): string | undefined => (next === HOME ? undefined : next);

/** The values that both pages pass to each other. */
function keeping(path: string, { next, invite }: SignInLook): string {
  const query = new URLSearchParams({ ...(next !== HOME && { next }), ...(invite && { invite }) }).toString();
  return query === "" ? path : `${path}?${query}`;
}

/** Both fields are marked: the page does not say which of the two is wrong. */
const wrongPair = ({ refusal }: SignInLook): true | undefined => refusal?.code === "unauthorized" || undefined;

const emailField = (shown: SignInLook): Html =>
  field({
    name: "email",
    label: "E-mail address",
    type: "email",
    value: shown.email ?? "",
    refusal: shown.refusal,
    wrong: wrongPair(shown) ?? (shown.refusal?.code === "email_taken" || undefined),
    attributes: html`autocomplete="username" required maxlength="254" spellcheck="false"`,
  });

const passwordField = (shown: SignInLook, autocomplete: string, hint?: string): Html =>
  field({
    name: "password",
    label: "Password",
    type: "password",
    hint,
    refusal: shown.refusal,
    wrong: wrongPair(shown),
    attributes: html`autocomplete="${autocomplete}" required maxlength="1024"`,
  });

const kept = ({ next, invite }: SignInLook): Html =>
  html`${hiddenField("next", next)} ${invite && hiddenField("invite", invite)}`;

/** The way back in for people who forgot the password: only the operator can help them. */
function forgot(contact: string | null): Html | null {
  if (contact === null || !/^https?:\/\/|^[^\s@/]+@[^\s@/]+$/i.test(contact)) return null;
  const href = contact.includes("://") ? contact : `mailto:${contact}`;
  return html`Forgot it? <a href="${href}">Ask for a new one</a>.`;
}

const SIGNED_OUT = "You were signed out, and nothing was changed.";

function signInPage(ctx: Ctx, shown: SignInLook): Response {
  const { origin, parts, query } = ctx;
  const { refusal } = shown;
  const open = parts.config.signup === "open" || shown.invite !== undefined;
  const body = card(
    html`<div>
        <h1>Sign in</h1>
        <p class="dim">to ${new URL(origin).host}</p>
      </div>
      ${!refusal && query.get("why") === "signed-out" && warningBox(SIGNED_OUT)} ${alertBox(refusal)}
      <form method="post" action="/signin" class="fields">
        ${emailField(shown)} ${passwordField(shown, "current-password")} ${kept(shown)}
        ${button("Sign in", { kind: "primary", wide: true })}
      </form>
      <p class="after">
        ${open && html`New here? <a href="${keeping("/signup", shown)}">Create an account</a>.`}
        ${forgot(parts.config.contact)}
      </p>`,
  );
  return answerPage(ctx, {
    title: "Sign in",
    body,
    next: nextOf(shown),
    refusal,
    width: "form",
    scripts: ["password"],
  });
}

/** The reason why sign-up is closed, or null. */
function shutOf({ parts }: Ctx, { invite }: SignInLook): string | null {
  const mode = parts.config.signup;
  if (mode === "closed") return "This server takes no new accounts.";
  return mode === "invite" && !invite
    ? "This server makes accounts by invitation: open the link that its operator sent you."
    : null;
}

function signUpPage(ctx: Ctx, shown: SignInLook): Response {
  const { refusal } = shown;
  const signIn = keeping("/signin", shown);
  const shut = shutOf(ctx, shown);
  const form = html`<form method="post" action="/signup" class="fields">
    ${emailField(shown)} ${passwordField(shown, "new-password", "At least 10 characters")} ${kept(shown)}
    ${button("Create an account", { kind: "primary", wide: true })}
  </form>`;
  const body = card(
    html`<div>
        <h1>Create an account</h1>
        <p class="dim">at ${new URL(ctx.origin).host}</p>
      </div>
      ${alertBox(refusal)} ${shut ? html`<p>${shut}</p>` : form}
      <p class="after">You have an account? <a href="${signIn}">Sign in</a>.</p>`,
  );
  return answerPage(ctx, {
    title: "Create an account",
    body,
    next: nextOf(shown),
    refusal,
    width: "form",
    scripts: ["password"],
  });
}

/** `GET /signin`, `GET /signup`: somebody who is signed in already goes on at once. */
const show = (page: (ctx: Ctx, shown: SignInLook) => Response) => async (ctx: Ctx) => {
  const { caller, query, exchange } = ctx;
  const next = nextPath(query.get("next"));
  if (caller.kind === "account") return answerRedirect(next, exchange);
  return page(ctx, { next, invite: query.get("invite") ?? undefined });
};

/** The form again with what was wrong; the password is typed anew. */
const submit =
  (send: (ctx: Ctx) => Promise<unknown>, page: (ctx: Ctx, shown: SignInLook) => Response) => async (ctx: Ctx) => {
    try {
      return await send(ctx);
    } catch (error) {
      if (!isShownAgain(error)) throw error;
      const { next, email, invite } = await readForm(ctx.request);
      return page(ctx, { next: nextPath(next), email, invite, refusal: error });
    }
  };

const showSignIn = show(signInPage);
const submitSignIn = submit(login, signInPage);
const showSignUp = show(signUpPage);
const submitSignUp = submit(signup, signUpPage);

/** The pages for signing in and signing up. */
export const SIGN_IN: readonly Route[] = [
  ["GET", "/signin", showSignIn],
  ["POST", "/signin", submitSignIn, "no_session"],
  ["GET", "/signup", showSignUp],
  ["POST", "/signup", submitSignUp, "no_session"],
];
