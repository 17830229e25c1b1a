/** Which addresses the server may call on somebody's behalf (COMMENTS 2, RELIABILITY A20): those of the internet. What a
 *  stranger names must not make it ask its own machine, its network, or a cloud's metadata. */
import { BlockList, isIP } from "node:net";
import { familyOf, networkList } from "../config/setting.ts";

/** Not of the internet (the special-purpose registries of RFC 6890), or answered by the cloud around the machine. */
const IPV4_ELSEWHERE = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
];
/** The block that holds all public addresses of IPv6; mapped, translated, local and site addresses are outside. */
const IPV6_INTERNET = ["2000::/3"];
/** Ranges whose addresses carry another address inside, and ranges for documents and tests. */
const IPV6_ELSEWHERE = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

const [ipv4Elsewhere, ipv6Internet, ipv6Elsewhere] = [IPV4_ELSEWHERE, IPV6_INTERNET, IPV6_ELSEWHERE].map(networkList);

function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !ipv4Elsewhere!.check(address, "ipv4");
  return ipv6Internet!.check(address, "ipv6") && !ipv6Elsewhere!.check(address, "ipv6");
}

/** Whether an address (IPv6 without brackets) may be called. `allowed`: networks of the operator's own that may be. */
export function callable(allowed: readonly string[] | null): (address: string) => boolean {
  const own = allowed === null ? new BlockList() : networkList(allowed);
  return (address) => isIP(address) !== 0 && (own.check(address, familyOf(address)) || isPublic(address));
}
