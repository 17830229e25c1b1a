/** `/sites/:id/comments/…`: whoever may manage a site reads and decides its comments (COMMENTS 2 and ruling 6). */
import { limitOwner, ON_API, type OwnerRow } from "../comments/index.ts";
import { answerEmpty, answerJson } from "../http/answers.ts";
import { managedSite } from "./caller.ts";
import type { Ctx, Handler, Route } from "./context.ts";

const handlerOf =
  ([method, , handle, status]: OwnerRow): Handler =>
  async (ctx: Ctx) => {
    const {
      request,
      exchange,
      caller,
      params,
      query,
      headers,
      parts: { comments: parts },
    } = ctx;
    const { site, by } = await managedSite(ctx, null);
    if (method !== "GET") Object.assign(headers, await limitOwner({ site, parts }));
    const session = caller.kind === "account";
    const done = await handle({ request, exchange, site, by, session, params, query, parts });
    if (done instanceof Response) return done;
    return done === null ? answerEmpty(exchange) : answerJson(done, exchange, status ?? 200);
  };

export const COMMENTS: readonly Route[] = ON_API.map((row): Route => {
  const [method, path] = row;
  return [method, `/sites/:id/comments/${path}`, handlerOf(row)];
});
