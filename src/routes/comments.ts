/** `/sites/:id/comments/…`: its keepers read and decide a site's comments, and agents speak MCP (COMMENTS 2 and 6). */
import { limitOwner, type OwnerHandler } from "../comments/index.ts";
import { answerAgent } from "../comments/mcp/index.ts";
import { answerEmpty, answerJson } from "../http/answers.ts";
import type { ApiHandler, Handler } from "./context.ts";

/** `status`: of an answer with a body. */
export const ofComments =
  (handle: OwnerHandler, status: 200 | 201 = 200): ApiHandler<{ site: null }> =>
  async ({ request, exchange, caller, site, by, params, query, headers, parts: { comments: parts } }) => {
    if (request.method !== "GET" && request.method !== "HEAD")
      Object.assign(headers, await limitOwner({ site, parts }));
    const session = caller.kind === "account";
    const done = await handle({ request, exchange, site, by, session, params, query, parts });
    if (done instanceof Response) return done;
    return done === null ? answerEmpty(exchange) : answerJson(done, exchange, status);
  };

/** A token of its own opens it. */
export const speakMcp: Handler = ({ params, parts, ...call }) =>
  answerAgent({ ...parts.comments, store: parts.store }, { ...call, site_id: params.id! });
