/** The API: path → row → caller → handler → JSON. Refusals are thrown, and caught in app.ts. */
import { clientAddress } from "../address.ts";
import { type Exchange, queryOf } from "../http.ts";
import { answerJson } from "./answers.ts";
import { callerOf } from "./caller.ts";
import { matcher } from "./match.ts";
import { type ApiParts, TABLE } from "./table.ts";

export function createApi(parts: ApiParts) {
  const match = matcher(TABLE);
  const addressOf = clientAddress(parts.config.trust_proxy);

  return async (request: Request, path: string, exchange: Exchange): Promise<Response> => {
    const { handler, params } = match(request.method, path);
    const { headers } = request;
    const body = await handler({
      request,
      exchange,
      params,
      query: new URLSearchParams(queryOf(request.url)),
      caller: await callerOf(request, parts.store),
      token: headers.get("authorization")?.replace(/^bearer +/i, "") ?? null,
      address: () => addressOf(exchange.peer.address(), () => headers.get("x-forwarded-for")),
      parts,
    });
    return answerJson(body, exchange);
  };
}
