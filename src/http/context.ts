/** What every handler may ask of a request, whatever it is for: who sends it, to which origin, with which query. Made here
 *  alone, once a request; pages of sites are answered without it (server/app.ts). */
import type { Config } from "../config/index.ts";
import { askedOrigin, clientAddress } from "./client-address.ts";
import { type SessionCookie, sessionCookie } from "./cookies.ts";
import { type Exchange, queryOf } from "./exchange.ts";

export interface RequestContext {
  request: Request;
  exchange: Exchange;
  /** The client's address, behind trusted proxies too. */
  client_address(): string;
  /** The origin that the client asked: the API's, or the site's. */
  origin: string;
  /** The session cookie of that origin. */
  cookie: SessionCookie;
  query: URLSearchParams;
}

/** Reads requests by the settings of the proxies before the server. */
export interface RequestReader {
  /** The address alone, for the log. */
  clientAddressOf(request: Request, exchange: Exchange): string;
  contextOf(request: Request, exchange: Exchange): RequestContext;
}

export function requestReader({ trust_proxy, base_url }: Pick<Config, "trust_proxy" | "base_url">): RequestReader {
  const addressOf = clientAddress(trust_proxy);
  const originOf = askedOrigin(trust_proxy, base_url);
  const clientAddressOf = (request: Request, exchange: Exchange): string =>
    addressOf(exchange.address(), () => request.headers.get("x-forwarded-for"));
  return {
    clientAddressOf,
    contextOf(request, exchange) {
      const origin = originOf(request, () => exchange.address());
      return {
        request,
        exchange,
        client_address: () => clientAddressOf(request, exchange),
        origin,
        cookie: sessionCookie(origin),
        query: new URLSearchParams(queryOf(request.url)),
      };
    },
  };
}
