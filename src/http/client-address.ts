/** Who is asking, as an address: proxies that are trusted, and they alone, may speak for somebody else. */
import { isIP } from "node:net";
import { familyOf, networkList } from "../config/networks.ts";

/** `::ffff:1.2.3.4` is 1.2.3.4: a server bound to both families sees IPv4 clients so. */
const plain = (address: string): string =>
  address.includes(":") ? address.replace(/^::ffff:(?=\d+\.)/i, "").toLowerCase() : address;

/** One hop of X-Forwarded-For: an address, perhaps with a port. Null where it is none. */
function hop(text: string): string | null {
  const bare = text
    .trim()
    .replace(/^\[(.+)\](?::\d+)?$/, "$1")
    .replace(/^(\d+(?:\.\d+){3}):\d+$/, "$1");
  return isIP(bare) === 0 ? null : plain(bare);
}

/** Whether it is a proxy that may speak for others. */
function proxyTest(trusted: readonly string[] | null): (address: string) => boolean {
  const list = trusted && networkList(trusted);
  return (address) => list !== null && isIP(address) !== 0 && list.check(address, familyOf(address));
}

/**
 * The origin that the client asked: its own word for the host; https where the base URL says so or a trusted proxy
 * does, for it may be the proxy that speaks TLS.
 */
export function askedOrigin(trusted: readonly string[] | null, base_url: string) {
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

/** What counts as one client: an IPv4 address or an IPv6 /64, which is one household. */
export const networkOf = (address: string): string => (isIP(address) === 6 ? `${prefix(address, 4)}::/64` : address);

/** What one customer of a provider may have: an IPv4 address, or an IPv6 /48 with its 65,536 networks. */
export const customerOf = (address: string): string => (isIP(address) === 6 ? `${prefix(address, 3)}::/48` : address);
