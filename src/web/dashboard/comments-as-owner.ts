/** The way to a site as its owner: a one-time link to press, for a form is never answered with a redirect to a site
 *  (WEB 1.6 and 7). */
import { Refusal } from "../../base/errors.ts";
import { decideAsOwner, rejectAllAsOwner, removeAsOwner, replyAsOwner } from "../../comments/moderate.ts";
import type { OwnerCtx } from "../../comments/context.ts";
import { endAgentToken, ownerCode } from "../../comments/owner-access.ts";
import { applySettings, resendDelivery } from "../../comments/owner-settings.ts";
import { limitOwner } from "../../comments/limits.ts";
import { html } from "../../html/template.ts";
import { readForm } from "../../http/body.ts";
import { customerOf } from "../../http/context.ts";
import type { Site } from "../../base/types.ts";
import type { StoredThread } from "../../store/notes.ts";
import type { Ctx, Route } from "../../routes/context.ts";
import { isSessionEnded, refusals } from "../../store/refusals.ts";
import { answerPage } from "../frame.ts";
import { linkButton } from "../parts.ts";
import { accountForm, isShownAgain, isSignedIn, type SignedIn, signedOutMeanwhile } from "../who.ts";
import { isolated } from "../words.ts";
import { nameOf, ownSite } from "./pages.ts";
import { type Decision, DECISIONS } from "./comment.ts";
import { pageOf } from "../../comments/addresses.ts";
import { commentsPath, liveOf, placeHref, placeOf } from "./comment-lists.ts";
import { commentsPage } from "./comments.ts";

/** The thread that the link is to lead to; null for the start page, also if it is gone. */
async function threadAsked({ request, parts }: SignedIn, { site_id }: Site): Promise<StoredThread | null> {
  const { thread = "" } = await readForm(request);
  return COMMENT.test(thread) ? parts.store.notes.thread(site_id, thread, { kind: "owner" }) : null;
}

/** A thread whose page is gone leads nowhere: the code would stay in an address that has no comments. */
async function onLivePage(ctx: SignedIn, site: Site): Promise<StoredThread | null> {
  const thread = await threadAsked(ctx, site);
  const live = thread && (await liveOf(ctx, site));
  return live && pageOf(live, thread.page) !== null ? thread : null;
}

async function linkPage(ctx: SignedIn): Promise<Response> {
  const site = await ownSite(ctx);
  if (site.comments_mode === "off") {
    const refusal = new Refusal("invalid_input", "Comments are off on this site. Turn them on, then open it as owner.");
    return commentsPage(ctx, site, { refusal, sent: new URLSearchParams() });
  }
  const parts = ctx.parts.comments;
  await limitOwner({ site, parts });
  const { url } = await ownerCode({ parts, site, by: ctx.caller }, await onLivePage(ctx, site));
  const title = "Open on the site as owner";
  const body = html`<div class="stack tight">
    <div>
      <p class="small dim">${isolated(nameOf(site))}</p>
      <h1>${title}</h1>
    </div>
    <p>
      On the site you answer as Owner, approve what waits and settle threads beside the text, in this browser and for
      one hour. The link works once, within five minutes.
    </p>
    <p class="actions wraps">
      ${linkButton(url, html`<span>Go to ${new URL(url).host} as owner</span>`, {
        kind: "primary",
        attributes: html`rel="noopener"`,
      })}
      ${linkButton(commentsPath(site.site_id), "Back to the comments", { kind: "quiet" })}
    </p>
  </div>`;
  return answerPage(ctx, { title, body, current: "sites" });
}

/** `POST …/comments/owner`. */
async function openAsOwner(ctx: Ctx): Promise<Response> {
  const page = commentsPath(ctx.params.id!);
  if (!isSignedIn(ctx)) return signedOutMeanwhile(ctx, page);
  try {
    return await linkPage(ctx);
  } catch (error) {
    if (isSessionEnded(error)) return signedOutMeanwhile(ctx, page);
    if (!isShownAgain(error)) throw error;
    return commentsPage(ctx, await ownSite(ctx), { refusal: error, sent: new URLSearchParams() });
  }
}

const COMMENT = /^c_\w{1,40}$/;

/** The name of one reply, made of the key of the page that sent it; null if that is none. */
function canonicalOf(key: string): string | null {
  const hex = Buffer.from(key, "base64url").toString("hex");
  return hex.length === 32 ? `urn:uuid:${hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")}` : null;
}

/** `POST …/comments/:comment/reply`: answers a thread as its owner, and leads back to it. */
const replyToThread = accountForm({
  page: ({ params }) => commentsPath(params.id!),
  async act(ctx, fields) {
    const site = await ownSite(ctx);
    const thread_id = ctx.params.comment!;
    if (!COMMENT.test(thread_id)) throw refusals.unknownComment();
    const asked = { parts: ctx.parts.comments, site, held: ctx.caller };
    await limitOwner(asked);
    const canonical = canonicalOf(fields.get("key") ?? "");
    await replyAsOwner(asked, { thread_id, text: fields.get("text") ?? "", canonical });
    return `${placeHref(site.site_id, placeOf(fields), "replied")}#${thread_id}`;
  },
  again: async (ctx, refusal, sent) => commentsPage(ctx, await ownSite(ctx), { refusal, sent }),
});

/** The decisions on a list of comments. Each leads back to the same list (WEB 7). */
const DONE: Record<Decision, string> = {
  approve: "comment-approved",
  reject: "rejected",
  "reject-visitor": "all-rejected",
  "reject-network": "all-rejected",
  resolve: "resolved",
  reopen: "reopened",
  delete: "comment-deleted",
};

interface Pressed {
  decision: Decision;
  id: string;
}

function pressedIn(fields: URLSearchParams): Pressed {
  const decision = (Object.keys(DECISIONS) as Decision[]).find((one) => fields.has(one));
  const id = decision && fields.get(decision)!;
  if (decision === undefined) throw new Refusal("invalid_input", "Nothing was decided: no comment was named.");
  if (!COMMENT.test(id!)) throw refusals.unknownComment();
  return { decision, id: id! };
}

async function carryOut(asked: Parameters<typeof removeAsOwner>[0], decision: Decision, id: string): Promise<void> {
  if (decision === "delete") await removeAsOwner(asked, id);
  else if (decision === "reject-visitor") await rejectAllAsOwner(asked, id, "visitor", null);
  else if (decision === "reject-network") await rejectAllAsOwner(asked, id, "network", null);
  else await decideAsOwner(asked, id, decision, null);
}

/** `POST …/comments/decide`. */
const decideOnComment = accountForm({
  page: ({ params }) => commentsPath(params.id!),
  async act(ctx, fields) {
    const site = await ownSite(ctx);
    const { decision, id } = pressedIn(fields);
    const asked = { parts: ctx.parts.comments, site, held: ctx.caller };
    await limitOwner(asked);
    await carryOut(asked, decision, id);
    return placeHref(site.site_id, placeOf(fields), DONE[decision]);
  },
  again: async (ctx, refusal, sent) => commentsPage(ctx, await ownSite(ctx), { refusal, sent }),
});

/** `POST …/comments/settings`: saves who reads and writes a site's comments from now on (WEB 7). */
const saveCommentSettings = accountForm({
  page: ({ params }) => commentsPath(params.id!),
  async act(ctx, fields) {
    const site = await ownSite(ctx);
    const passcode = fields.get("passcode") ?? "";
    const wanted = { mode: fields.get("mode"), ...(passcode !== "" && { passcode }) };
    const parts = ctx.parts.comments;
    await limitOwner({ site, parts });
    await applySettings({ parts, site, by: ctx.caller, customer: customerOf(ctx.client_address()) }, wanted);
    const turned_on = site.comments_mode === "off" && wanted.mode === "anonymous";
    return placeHref(site.site_id, { ...placeOf(fields), cursor: "" }, turned_on ? "comments-on" : "saved");
  },
  again: async (ctx, refusal, sent) => commentsPage(ctx, await ownSite(ctx), { refusal, sent }),
});

/** A form that ends something which acts for the owner, counted as a setting, on a frozen site too. */
const endingForm = (end: (asked: AccessForm) => Promise<unknown>, done: string) =>
  accountForm({
    page: ({ params }) => commentsPath(params.id!),
    async act(ctx, fields) {
      const site = await ownSite(ctx);
      const parts = ctx.parts.comments;
      await limitOwner({ site, parts });
      const customer = customerOf(ctx.client_address());
      await end({ parts, site, by: ctx.caller, customer, token_id: ctx.params.token ?? "" });
      return placeHref(site.site_id, { ...placeOf(fields), cursor: "" }, done);
    },
    again: async (ctx, refusal, sent) => commentsPage(ctx, await ownSite(ctx), { refusal, sent }),
  });

interface AccessForm extends Pick<OwnerCtx, "parts" | "site" | "by" | "customer"> {
  token_id: string;
}

/** `POST …/comments/tokens/:token/revoke`. */
const revokeAgentToken = endingForm((asked) => endAgentToken(asked, asked.token_id), "agent-revoked");

/** `POST …/comments/webhook/remove`. */
const removeWebhook = endingForm((asked) => applySettings(asked, { webhook: null }), "webhook-removed");

/** `POST …/comments/resend`: sends a letter of the webhook again. */
const resendLetter = accountForm({
  page: ({ params }) => commentsPath(params.id!),
  async act(ctx, fields) {
    const site = await ownSite(ctx);
    const parts = ctx.parts.comments;
    await limitOwner({ site, parts });
    await resendDelivery({ parts, site, by: ctx.caller }, fields.get("letter") ?? "");
    return placeHref(site.site_id, placeOf(fields), "resent");
  },
  again: async (ctx, refusal, sent) => commentsPage(ctx, await ownSite(ctx), { refusal, sent }),
});

/** The forms of the page of a site's comments. */
export const COMMENT_ROWS: readonly Route[] = [
  ["POST", "/dashboard/sites/:id/comments/settings", saveCommentSettings],
  ["POST", "/dashboard/sites/:id/comments/decide", decideOnComment],
  ["POST", "/dashboard/sites/:id/comments/resend", resendLetter],
  ["POST", "/dashboard/sites/:id/comments/owner", openAsOwner],
  ["POST", "/dashboard/sites/:id/comments/:comment/reply", replyToThread],
  ["POST", "/dashboard/sites/:id/comments/tokens/:token/revoke", revokeAgentToken],
  ["POST", "/dashboard/sites/:id/comments/webhook/remove", removeWebhook],
];
