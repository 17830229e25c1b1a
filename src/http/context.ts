/** HTTP without a route: context of a request, bodies, cookies, CSRF, limits, codings, conditions, answers. The context
 *  of a request, for any handler: who sends it, to which origin, with which query. It is made in this file alone; a page
 *  of a site that is in the cache is answered without it (server/app.ts). */
import { isIP } from "node:net";
import { UNIT_MS } from "../base/units.ts";
import type { Config } from "../config/index.ts";
import { familyOf, networkList } from "../config/setting.ts";
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

/** Turns `::ffff:1.2.3.4` into 1.2.3.4: a server bound to both families sees IPv4 clients so. */
const plain = (address: string): string =>
  address.includes(":") ? address.replace(/^::ffff:(?=\d+\.)/i, "").toLowerCase() : address;

/** One hop of X-Forwarded-For: an address, perhaps with a port. Null if it is not one. */
function hop(text: string): string | null {
  const bare = text
    .trim()
    .replace(/^\[(.+)\](?::\d+)?$/, "$1")
    .replace(/^(\d+(?:\.\d+){3}):\d+$/, "$1");
  return isIP(bare) === 0 ? null : plain(bare);
}

/** Tells whether an address is a trusted proxy: it alone may name another address as its client's. */
function proxyTest(trusted: readonly string[] | null): (address: string) => boolean {
  const list = trusted && networkList(trusted);
  return (address) => list !== null && isIP(address) !== 0 && list.check(address, familyOf(address));
}

/**
 * The origin that the client asked: its own word for the host; https where the base URL says so or a trusted proxy
 * does, for it may be the proxy that speaks TLS.
 */
function askedOrigin(trusted: readonly string[] | null, base_url: string) {
  const isTrusted = proxyTest(trusted);
  const { protocol, origin } = new URL(base_url);
  return ({ headers }: Request, peer: () => string | null): string => {
    const said = () => headers.get("x-forwarded-proto")?.split(",").at(-1)!.trim().toLowerCase();
    const secure = protocol === "https:" || (said() === "https" && isTrusted(plain(peer() ?? "")));
    return URL.parse(`${secure ? "https:" : "http:"}//${headers.get("host")}`)?.origin ?? origin;
  };
}

/**
 * The client's address: the socket's, or, behind trusted proxies, the rightmost one of X-Forwarded-For that is not
 * itself trusted. What comes after garbage is not believed. `local` for a unix socket.
 */
export function clientAddress(trusted: readonly string[] | null) {
  const isTrusted = proxyTest(trusted);
  return (peer: string | null, forwarded: () => string | null): string => {
    let address = peer === null ? "local" : plain(peer);
    if (trusted === null || !isTrusted(address)) return address;
    const hops = (forwarded() ?? "").slice(-4096).split(",");
    while (hops.length > 0 && isTrusted(address)) {
      const next = hop(hops.pop()!);
      if (next === null) return address;
      address = next;
    }
    return address;
  };
}

/** The first groups of an IPv6 address, `::` written out. */
function prefix(address: string, groups: number): string {
  const [head = "", tail] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail ? tail.split(":") : [];
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array(Math.max(0, zeros)).fill("0"), ...right]
    .slice(0, groups)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}

/** One client for the limits: an IPv4 address or an IPv6 /64, which is one household. */
export const networkOf = (address: string): string => (isIP(address) === 6 ? `${prefix(address, 4)}::/64` : address);

/** The largest block that one customer of a provider gets: an IPv4 address, or an IPv6 /48 with its 65,536 networks. */
export const customerOf = (address: string): string => (isIP(address) === 6 ? `${prefix(address, 3)}::/48` : address);

/** The block of a customer with a few addresses to choose from: an IPv4 /24, or an IPv6 /48. What a site takes of one block in
 *  all goes by it. */
export const blockOf = (address: string): string =>
  isIP(address) === 4 ? `${address.slice(0, address.lastIndexOf("."))}.0/24` : customerOf(address);

const NINETY_DAYS_S = (90 * UNIT_MS.d) / 1000;

/** The dashboard's session cookie (CONTRACT 5). Browsers send it by themselves, so csrf.ts decides what it may do. */
export interface SessionCookie {
  /** The session tokens of the request, each once. If there are several, none of them counts: a hosted page can plant
   *  one for the parent domain if `__Host-` does not forbid it. */
  read(request: Request): string[];
  /** The value of Set-Cookie. */
  set(token: string): string;
  readonly cleared: string;
}

/** Finds every value that the header has under the name, in its order. Several header fields arrive as one, parted by `; ` as the
 *  pairs are. A comma parts nothing, and no blank but HTTP's own is cut off: a hosted page may plant `theme=x,__Host-…=…` for
 *  the parent domain, where the prefix forbids it a session of that name. */
const valuesOf = (header: string, name: string): string[] =>
  header
    .split(";")
    .map((pair) => pair.replace(/^[ \t]+/, ""))
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));

/** The values that the request's cookies have under this name, as they came: one that comes twice is there twice. */
export const cookieValues = ({ headers }: Request, name: string): string[] =>
  valuesOf(headers.get("cookie") ?? "", name);

export const sessionCookieName = (origin: string): string =>
  origin.startsWith("https:") ? "__Host-svc_session" : "svc_session";

/** The session's cookie for this origin. */
function sessionCookie(origin: string): SessionCookie {
  const secure = origin.startsWith("https:");
  const name = sessionCookieName(origin);
  const write = (value: string, maxAge: number) =>
    new Bun.Cookie(name, value, { httpOnly: true, secure, sameSite: "lax", path: "/", maxAge }).toString();
  return {
    read(request) {
      const header = request.headers.get("cookie");
      return header === null ? [] : [...new Set(valuesOf(header, name))];
    },
    set: (token) => write(token, NINETY_DAYS_S),
    cleared: write("", 0),
  };
}
