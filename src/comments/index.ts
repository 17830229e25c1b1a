/** Comments, row by row in the order
 *  of COMMENTS 2: what is answered on a site's host, and what on the API's. */
import { SITE_HOST } from "../api/site-host.ts";
import { matcher, type Method } from "../http/match.ts";
import type { Ctx } from "./context.ts";
import { MODERATING_HANDLERS, OWNER_MODERATION } from "./moderate.ts";
import { OWNER_ACCESS } from "./owner-access.ts";
import { OWNER_SETTINGS } from "./owner-settings.ts";
import { CHANGING_HANDLERS } from "./site/change.ts";
import { ENTERING_HANDLERS } from "./site/enter.ts";
import { companion, FEEDS_HANDLERS } from "./site/feeds.ts";
import { POSTING_HANDLERS } from "./site/post.ts";
import { READING_HANDLERS } from "./site/read.ts";
import { VIEWING_HANDLERS } from "./site/view.ts";
import { admitHere, renewIdentity, type SiteHandlers } from "./visitor.ts";

type CommentRow = readonly [method: Method, path: string, handler: (ctx: Ctx) => Promise<Response>];

const HANDLERS: SiteHandlers = {
  ...FEEDS_HANDLERS,
  ...POSTING_HANDLERS,
  ...READING_HANDLERS,
  ...CHANGING_HANDLERS,
  ...ENTERING_HANDLERS,
  ...MODERATING_HANDLERS,
  ...VIEWING_HANDLERS,
};

function rowOf<Name extends keyof SiteHandlers>(name: Name): CommentRow {
  const { who } = SITE_HOST[name];
  const handle = HANDLERS[name];
  const [method, path] = name.split(" ") as [Method, string];
  const handler = async (ctx: Ctx): Promise<Response> => {
    // A report reads no cookie (ruling 12).
    if (name !== "POST /_svc/comments/c_:id/report") await renewIdentity(ctx);
    return handle(Object.assign(ctx, await admitHere<(typeof SITE_HOST)[Name]["who"]>(who, ctx)));
  };
  return [method, path, handler];
}

export const matchOnSite = matcher((Object.keys(HANDLERS) as (keyof SiteHandlers)[]).map((name) => rowOf(name)));

/** The feed of a page at an address next to it, if no file of the site has that name: its path can be any. */
const COMPANION: readonly CommentRow[] = [
  ["GET", "/", (ctx) => admitHere(SITE_HOST["GET /comments.json"].who, ctx).then(() => companion(ctx))],
  [
    "OPTIONS",
    "/",
    (ctx) => admitHere("no_one", ctx).then(() => FEEDS_HANDLERS["OPTIONS /_svc/comments/feed.json"](ctx)),
  ],
];
export const matchCompanion = matcher(COMPANION)("/")!;

/** The handlers of the API's rows below `/sites/:id/comments/`. */
export const OWNER_HANDLERS = { ...OWNER_SETTINGS, ...OWNER_ACCESS, ...OWNER_MODERATION };
