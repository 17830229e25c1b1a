/** The API: path → row → caller → handler → JSON. Refusals are thrown, and caught in app.ts. */
import { askedOrigin, clientAddress } from "../http/client-address.ts";
import { Refusal } from "../errors.ts";
import { type Exchange, queryOf } from "../http/exchange.ts";
import { answerJson } from "../http/answers.ts";
import { callerOf } from "./caller.ts";
import { sessionCookie } from "../http/cookies.ts";
import { refuseForged } from "../http/csrf.ts";
import type { Caller } from "../types.ts";
import { matcher } from "../http/match.ts";
import type { ApiParts, Ctx, Route } from "./context.ts";
import { TABLE } from "./table.ts";

/** Refusals carry what a handler wanted to say in headers, too. */
function withHeaders(error: unknown, headers: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof Refusal) || Object.keys(headers).length === 0) return error;
  return new Refusal(error.code, error.message, error.details, { ...headers, ...error.headers });
}

const nothingHere = (): Refusal => new Refusal("not_found", "There is nothing at this address of the API.");

const ANONYMOUS: Caller = { kind: "anonymous" };

export function createApi(parts: ApiParts, table: readonly Route[] = TABLE) {
  const match = matcher(table);
  const addressOf = clientAddress(parts.config.trust_proxy);
  const originOf = askedOrigin(parts.config.trust_proxy, parts.config.base_url);
  const secret = parts.secrets.csrf;

  /** Who asks. A browser that is signed in proves that a page of ours makes its writes. */
  async function admit({ request, origin, cookie }: Pick<Ctx, "request" | "origin" | "cookie">): Promise<Caller> {
    const caller = await callerOf(request, parts.store, cookie);
    const writes = request.method !== "GET" && request.method !== "HEAD";
    if (writes && caller.kind === "account" && caller.by === "cookie") {
      await refuseForged(request, caller.session_id, { origin, secret });
    }
    return caller;
  }

  async function run(
    request: Request,
    path: string,
    exchange: Exchange,
    { headers, after }: Pick<Ctx, "headers" | "after">,
  ) {
    const atPath = match(path);
    if (atPath === null) throw nothingHere();
    const { row, params } = atPath(request.method);
    const [, , handler, opens] = row;
    const origin = originOf(request, () => exchange.peer.address());
    const cookie = sessionCookie(origin);
    const caller = opens === "no_session" ? ANONYMOUS : await admit({ request, origin, cookie });
    // A cookie that opens nothing any more would stand in the way of an anonymous deploy for 90 days.
    if (caller.kind === "unknown" && !request.headers.has("authorization")) headers["set-cookie"] = cookie.cleared;
    return handler({
      request,
      exchange,
      params,
      query: new URLSearchParams(queryOf(request.url)),
      caller,
      token: request.headers.get("authorization")?.replace(/^bearer +/i, "") ?? null,
      client_address: () => addressOf(exchange.peer.address(), () => request.headers.get("x-forwarded-for")),
      headers,
      after,
      cookie,
      origin,
      parts,
    });
  }

  return async (request: Request, path: string, exchange: Exchange): Promise<Response> => {
    const headers: Record<string, string> = {};
    const endings: (() => void)[] = [];
    try {
      const body = await run(request, path, exchange, { headers, after: (end) => void endings.push(end) });
      if (!(body instanceof Response)) return answerJson(body, exchange, 200, headers);
      for (const [name, value] of Object.entries(headers)) body.headers.set(name, value);
      return body;
    } catch (error) {
      throw withHeaders(error, headers);
    } finally {
      for (const end of endings) end();
    }
  };
}
