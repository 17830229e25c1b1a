/** The access to pages, and the answers to their forms (WEB 1.4, 1.5): 303 to a page, or the form again with what was
 *  wrong. */
import { Refusal } from "../base/errors.ts";
import { html, type Html } from "../html/template.ts";
import { answerRedirect } from "../http/answers.ts";
import { readFormFields } from "../http/body.ts";
import { pathOf, queryOf } from "../http/exchange.ts";
import type { SignedInCaller } from "../routes/caller.ts";
import type { Ctx, Handler } from "../routes/context.ts";
import { isSessionEnded } from "../store/refusals.ts";
import { csrfOf } from "./frame.ts";
import { csrfField, hiddenField } from "./parts.ts";
import { isolated } from "./words.ts";

/** A request of somebody who is signed in. */
export type SignedIn = Ctx & { caller: SignedInCaller };

export const isSignedIn = (ctx: Ctx): ctx is SignedIn => ctx.caller.kind === "account";

const toSignIn = (ctx: Ctx, query: Record<string, string>): Response =>
  answerRedirect(`/signin?${new URLSearchParams(query)}`, ctx.exchange);

/** Answers a POST whose session is gone: nothing was done. `page`: the page of the form. */
export const signedOutMeanwhile = (ctx: Ctx, page: string): Response =>
  toSignIn(ctx, { next: page, why: "signed-out" });

/** A page for accounts alone; other visitors sign in first and come back to it. */
export const accountPage =
  (show: (ctx: SignedIn) => Promise<Response>): Handler =>
  async (ctx) =>
    isSignedIn(ctx) ? show(ctx) : toSignIn(ctx, { next: pathOf(ctx.request.url) + queryOf(ctx.request.url) });

/** The refusals that a form shows with its fields; every other one has an error page of its own. */
const SHOWN: ReadonlySet<number> = new Set([400, 401, 403, 409, 413, 415, 429, 451, 503, 507]);

/** Whether the form is shown again with this error. */
export const isShownAgain = (error: unknown): error is Refusal =>
  error instanceof Refusal && SHOWN.has(error.status) && error.code !== "cross_origin";

interface AccountForm {
  /** The page that has the form. */
  page(ctx: Ctx): string;
  /** Does it, and returns the path of the page to go on to. */
  act(ctx: SignedIn, fields: URLSearchParams): Promise<string>;
  /** The page once more. */
  again(ctx: SignedIn, refusal: Refusal, fields: URLSearchParams): Promise<Response>;
}

/** The POST of a form that only accounts have. Its proof (`csrf`) was judged before this is called. */
export const accountForm =
  ({ page, act, again }: AccountForm): Handler =>
  async (ctx) => {
    if (!isSignedIn(ctx)) return signedOutMeanwhile(ctx, page(ctx));
    const fields = await readFormFields(ctx.request);
    try {
      return answerRedirect(await act(ctx, fields), ctx.exchange);
    } catch (error) {
      if (isSessionEnded(error)) return signedOutMeanwhile(ctx, page(ctx));
      if (!isShownAgain(error)) throw error;
      return again(ctx, error, fields);
    }
  };

/** Another account's site, one that is gone and one that never was look alike. */
export const noSuchSite = (): Refusal =>
  new Refusal("unknown_site", "There is no such site in your account. It may be deleted, or another account has it.");

/** The line that names the signed-in account, for under plain http a hosted page can have planted a stranger's session.
 *  Its button "Use another account" signs out and comes back to `page`. */
export async function signedInAs(ctx: Ctx, { account_id }: SignedInCaller, page: string): Promise<Html> {
  const account = await ctx.parts.store.accounts.byId(account_id);
  return html`<form method="post" action="/auth/logout" class="after">
    You are signed in as ${isolated(account?.email ?? "")}. ${csrfField(csrfOf(ctx)!)} ${hiddenField("next", page)}
    <button class="textlike">Use another account</button>
  </form>`;
}
