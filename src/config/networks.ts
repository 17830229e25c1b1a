/** Networks as a setting names them: addresses, and ranges of them in CIDR notation. */
import { BlockList, isIP } from "node:net";

/** Without a zone (`fe80::1%eth0`), which no peer's address is compared with. */
const NETWORK = /^([^/%]+)(?:\/(\d{1,3}))?$/;

export const familyOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 4 ? "ipv4" : "ipv6");

/** Throws where one of them is none. */
export function networkList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [, address = "", bits] = NETWORK.exec(network) ?? [];
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  return list;
}

/** A setting's value, separated by commas; undefined where one of them is none. */
export function networks(text: string): string[] | undefined {
  const list = text.split(",").map((part) => part.trim());
  try {
    networkList(list);
    return list;
  } catch {
    return undefined;
  }
}
