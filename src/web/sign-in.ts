/** `/signin` and `/signup`: forms without script. What they send is judged where programs' sign-ins are. */
import { Refusal } from "../errors.ts";
import { html, type Html } from "../html/template.ts";
import { answerRedirect } from "../http/answers.ts";
import { login, signup } from "../routes/auth.ts";
import { readForm } from "../http/body.ts";
import { csrfToken } from "../http/csrf.ts";
import { HOME, nextPath } from "../http/next-path.ts";
import type { Ctx } from "../routes/context.ts";
import { answerPage, csrfField, problem } from "./frame.ts";

interface Shown {
  next: string;
  email?: string;
  invite?: string;
  /** Why the last try failed. */
  refusal?: Refusal;
}

const withNext = (path: string, next: string): string =>
  next === HOME ? path : `${path}?${new URLSearchParams({ next })}`;

const credentials = (email: string | undefined, autocomplete: "current-password" | "new-password"): Html => html`
  <label for="email">E-mail address</label>
  <input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="${email ?? ""}" />
  <label for="password">Password</label>
  <input id="password" name="password" type="password" autocomplete="${autocomplete}" required maxlength="1024" />
`;

function signInPage({ exchange, parts }: Ctx, { next, email, refusal }: Shown): Response {
  const body = html`<h1>Sign in</h1>
    ${problem(refusal?.message)}
    <form method="post" action="/signin">
      ${credentials(email, "current-password")}
      <input type="hidden" name="next" value="${next}" />
      <button>Sign in</button>
    </form>
    ${parts.config.signup === "open" && html`<p>New here? <a href="${withNext("/signup", next)}">Make an account</a>.</p>`}`;
  return answerPage({ title: "Sign in", body, status: refusal?.status }, exchange);
}

function signUpPage({ exchange, parts }: Ctx, { next, email, invite, refusal }: Shown): Response {
  const signIn = html`<p>You have an account? <a href="${withNext("/signin", next)}">Sign in</a>.</p>`;
  const mode = parts.config.signup;
  const shut =
    mode === "closed"
      ? "This server takes no new accounts."
      : mode === "invite" && !invite
        ? "This server makes accounts by invitation: open the link that its operator sent you."
        : null;
  const form = html`<form method="post" action="/signup">
    ${credentials(email, "new-password")}
    <p class="dim">At least 10 characters.</p>
    <input type="hidden" name="next" value="${next}" />
    ${invite && html`<input type="hidden" name="invite" value="${invite}" />`}
    <button>Make the account</button>
  </form>`;
  const body = html`<h1>Make an account</h1>
    ${problem(refusal?.message)} ${shut ? html`<p>${shut}</p>` : form} ${signIn}`;
  return answerPage({ title: "Make an account", body, status: refusal?.status }, exchange);
}

async function signedInPage({ caller, exchange, parts }: Ctx & { caller: { kind: "account" } }): Promise<Response> {
  const account = await parts.store.accounts.byId(caller.account_id);
  const body = html`<h1>You are signed in</h1>
    <p>${account?.email}</p>
    <p><a href="/device">Approve a device</a></p>
    <form method="post" action="/auth/logout">
      ${csrfField(csrfToken(parts.secrets.csrf, caller.session_id))}
      <input type="hidden" name="next" value="/signin" />
      <button class="second">Sign out</button>
    </form>`;
  return answerPage({ title: "Signed in", body }, exchange);
}

/** `GET /signin`, `GET /signup`: whoever is signed in already goes on. */
const show = (page: (ctx: Ctx, shown: Shown) => Response) => async (ctx: Ctx) => {
  const { caller, query, exchange } = ctx;
  const next = nextPath(query.get("next"));
  if (caller.kind !== "account") return page(ctx, { next, invite: query.get("invite") ?? undefined });
  return next === HOME ? signedInPage({ ...ctx, caller }) : answerRedirect(next, exchange);
};

/** The form again with what was wrong; the password is typed anew. */
const submit =
  (send: (ctx: Ctx) => Promise<unknown>, page: (ctx: Ctx, shown: Shown) => Response) => async (ctx: Ctx) => {
    try {
      return await send(ctx);
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === "cross_origin") throw error;
      Object.assign(ctx.headers, error.headers);
      const { next, email, invite } = await readForm(ctx.request);
      return page(ctx, { next: nextPath(next), email, invite, refusal: error });
    }
  };

export const showSignIn = show(signInPage);
export const submitSignIn = submit(login, signInPage);
export const showSignUp = show(signUpPage);
export const submitSignUp = submit(signup, signUpPage);
