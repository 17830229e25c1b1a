/** Comments, row by row in the order of COMMENTS 2: what is answered on a site's host, and what on the API's. */
import { matcher, type Method } from "../http/match.ts";
import type { Ctx } from "./context.ts";
import { ACTIONS, moderation, queue } from "./moderate.ts";
import { edit, erase, remove, rename } from "./site/change.ts";
import { owner, passcode, report } from "./site/enter.ts";
import { companion, container, containerOptions, feed, feedOptions } from "./site/feeds.ts";
import { post } from "./site/post.ts";
import { comment, commentOptions, exported, me, threads } from "./site/read.ts";
import { postView, view } from "./site/view.ts";
import { renewIdentity } from "./visitor/who.ts";
export { deciding, listThreads, readHistory, readQueue, removeComment } from "./moderate.ts";
export { endToken, listTokens, makeOwnerCode, makeToken } from "./owner-access.ts";
export { changeSettings, readSettings } from "./owner-settings.ts";
export type { CommentParts, Ctx, LivePages, Located, OwnerHandler } from "./context.ts";
export { ownerCode } from "./owner-access.ts";
export { applySettings } from "./owner-settings.ts";
export { limitOwner } from "./visitor/limits.ts";
export { decideAsOwner, removeAsOwner } from "./moderate.ts";

type SiteRow = readonly [method: Method, path: string, handler: (ctx: Ctx) => Promise<Response>];

export const ON_SITE: readonly SiteRow[] = [
  ["GET", "/_svc/comments/", container],
  ["POST", "/_svc/comments/", post],
  ["OPTIONS", "/_svc/comments/", containerOptions],
  ["GET", "/_svc/comments/threads", threads],
  ["GET", "/_svc/comments/c_:id", comment],
  ["PUT", "/_svc/comments/c_:id", edit],
  ["DELETE", "/_svc/comments/c_:id", remove],
  ["OPTIONS", "/_svc/comments/c_:id", commentOptions],
  ["GET", "/_svc/comments/me", me],
  ["PATCH", "/_svc/comments/me", rename],
  ["DELETE", "/_svc/comments/me", erase],
  ["GET", "/_svc/comments/me/export", exported],
  ["POST", "/_svc/comments/passcode", passcode],
  ["POST", "/_svc/comments/owner", owner],
  ["GET", "/_svc/comments/queue", queue],
  ...ACTIONS.map((action): SiteRow => ["POST", `/_svc/comments/c_:id/${action}`, moderation(action)]),
  ["POST", "/_svc/comments/c_:id/report", report],
  ["GET", "/_svc/comments/view", view],
  ["POST", "/_svc/comments/view", postView],
  ["GET", "/_svc/comments/feed.json", feed],
  ["OPTIONS", "/_svc/comments/feed.json", feedOptions],
];

/** A report reads no cookie (ruling 12). */
const renewing = (row: SiteRow): SiteRow => {
  const [method, path, handle] = row;
  if (handle === report) return row;
  return [method, path, async (ctx) => renewIdentity(ctx).then(() => handle(ctx))];
};
export const matchOnSite = matcher(ON_SITE.map(renewing));

/** Beside a page, where no file of the site has that name: their path is any. */
const COMPANION: readonly SiteRow[] = [
  ["GET", "/", companion],
  ["OPTIONS", "/", feedOptions],
];
export const matchCompanion = matcher(COMPANION)("/")!;
