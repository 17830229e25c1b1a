/** Networks as a setting names them: addresses, and ranges in CIDR notation. */
import { BlockList, isIP } from "node:net";

/** A zone (`fe80::1%eth0`) is refused: a peer's address is compared without one. */
const NETWORK = /^([^/%]+)(?:\/(\d{1,3}))?$/;

export const familyOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 4 ? "ipv4" : "ipv6");

/** Throws if one of them is no network. */
export function networkList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [, address = "", bits] = NETWORK.exec(network) ?? [];
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  return list;
}

/** Reads a setting's value, networks separated by commas; undefined if one of them is none. */
export function networks(text: string): string[] | undefined {
  const list = text.split(",").map((part) => part.trim());
  try {
    networkList(list);
    return list;
  } catch {
    return undefined;
  }
}
