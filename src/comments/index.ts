/** Comments, row by row in the order
 *  of COMMENTS 2: what is answered on a site's host, and what on the API's. */
import { SITE_HOST } from "../api/site-host.ts";
import { matcher, type Method } from "../http/match.ts";
import type { Ctx } from "./context.ts";
import { moderation, queue } from "./moderate.ts";
import { edit, erase, remove, rename } from "./site/change.ts";
import { owner, passcode, report } from "./site/enter.ts";
import { companion, container, containerOptions, feed, feedOptions } from "./site/feeds.ts";
import { post } from "./site/post.ts";
import { comment, commentOptions, exported, me, threads } from "./site/read.ts";
import { postView, view } from "./site/view.ts";
import { admitHere, renewIdentity, type SiteHandler } from "./visitor/who.ts";
export { deciding, listThreads, readHistory, readQueue, removeComment } from "./moderate.ts";
export { endToken, listTokens, makeOwnerCode, makeToken } from "./owner-access.ts";
export { changeSettings, readSettings } from "./owner-settings.ts";
export type { CommentParts, Ctx, LivePages, Located, OwnerHandler } from "./context.ts";
export { ownerCode } from "./owner-access.ts";
export { applySettings } from "./owner-settings.ts";
export { limitOwner } from "./visitor/limits.ts";
export { decideAsOwner, removeAsOwner } from "./moderate.ts";

type CommentRow = readonly [method: Method, path: string, handler: (ctx: Ctx) => Promise<Response>];

/** Below `/_svc/comments/`: all rows of a site's own host, except reports of sites and the feeds of pages. */
type BelowComments = Exclude<keyof typeof SITE_HOST, "POST /_svc/report" | `GET /${string}comments.json`>;
type WhoOf<Name extends BelowComments> = (typeof SITE_HOST)[Name]["who"];

const HANDLERS: { readonly [Name in BelowComments]: SiteHandler<WhoOf<Name>> } = {
  "GET /_svc/comments/": container,
  "POST /_svc/comments/": post,
  "OPTIONS /_svc/comments/": containerOptions,
  "GET /_svc/comments/threads": threads,
  "GET /_svc/comments/c_:id": comment,
  "PUT /_svc/comments/c_:id": edit,
  "DELETE /_svc/comments/c_:id": remove,
  "OPTIONS /_svc/comments/c_:id": commentOptions,
  "GET /_svc/comments/me": me,
  "PATCH /_svc/comments/me": rename,
  "DELETE /_svc/comments/me": erase,
  "GET /_svc/comments/me/export": exported,
  "POST /_svc/comments/passcode": passcode,
  "POST /_svc/comments/owner": owner,
  "GET /_svc/comments/queue": queue,
  "POST /_svc/comments/c_:id/approve": moderation("approve"),
  "POST /_svc/comments/c_:id/reject": moderation("reject"),
  "POST /_svc/comments/c_:id/resolve": moderation("resolve"),
  "POST /_svc/comments/c_:id/reopen": moderation("reopen"),
  "POST /_svc/comments/c_:id/report": report,
  "GET /_svc/comments/view": view,
  "POST /_svc/comments/view": postView,
  "GET /_svc/comments/feed.json": feed,
  "OPTIONS /_svc/comments/feed.json": feedOptions,
};

function rowOf<Name extends BelowComments>(name: Name): CommentRow {
  const { who } = SITE_HOST[name];
  const handle = HANDLERS[name];
  const [method, path] = name.split(" ") as [Method, string];
  const handler = async (ctx: Ctx): Promise<Response> => {
    // A report reads no cookie (ruling 12).
    if (name !== "POST /_svc/comments/c_:id/report") await renewIdentity(ctx);
    return handle(Object.assign(ctx, await admitHere<WhoOf<Name>>(who, ctx)));
  };
  return [method, path, handler];
}

export const matchOnSite = matcher((Object.keys(HANDLERS) as BelowComments[]).map((name) => rowOf(name)));

/** The feed of a page at an address next to it, if no file of the site has that name: its path can be any. */
const COMPANION: readonly CommentRow[] = [
  ["GET", "/", (ctx) => admitHere(SITE_HOST["GET /comments.json"].who, ctx).then(() => companion(ctx))],
  ["OPTIONS", "/", (ctx) => admitHere("no_one", ctx).then(() => feedOptions(ctx))],
];
export const matchCompanion = matcher(COMPANION)("/")!;
