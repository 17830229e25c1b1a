/** The owner of the machine that a host names: the visitor, somebody in the visitor's network, or anybody. */
import { BlockList, isIP } from "node:net";

export type HostKind = "loopback" | "private" | "public";

type Subnet = [address: string, prefix: number, family: "ipv4" | "ipv6"];

/** IPv4 in IPv6 (`::ffff:10.0.0.1`) is looked for among the IPv4 networks. */
function networks(subnets: readonly Subnet[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) list.addSubnet(...subnet);
  return list;
}

const LOOPBACK = networks([
  ["127.0.0.0", 8, "ipv4"],
  ["0.0.0.0", 8, "ipv4"],
  ["::", 127, "ipv6"],
]);
const PRIVATE = networks([
  ["10.0.0.0", 8, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["fc00::", 7, "ipv6"],
  ["fe80::", 10, "ipv6"],
]);
const LOOPBACK_NAME = /(?:^|\.)localhost$/;
/** Names that offices and homes give out; a name without a dot is one too. */
const PRIVATE_NAME = /^[^.]+$|\.(?:local|internal|intranet|lan|home|corp|home\.arpa)$/;

/** `hostname` as `URL` has it: in lower case, `0x7f.1` as `127.0.0.1`, IPv6 in brackets. */
export function hostKind(hostname: string): HostKind {
  const name = hostname.replace(/\.$/, "").replace(/^\[(.*)\]$/, "$1");
  const version = isIP(name);
  if (version === 0) return LOOPBACK_NAME.test(name) ? "loopback" : PRIVATE_NAME.test(name) ? "private" : "public";
  const family = version === 4 ? "ipv4" : "ipv6";
  return LOOPBACK.check(name, family) ? "loopback" : PRIVATE.check(name, family) ? "private" : "public";
}
