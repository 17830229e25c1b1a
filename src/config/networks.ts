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

/** `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1` or `[2001:db8::1]:53`. */
const SERVER = /^(?:\[([^\]]+)\](?::(\d{1,5}))?|([\d.]+)(?::(\d{1,5}))?|([^\]%]*:[^\]%]*:[^\]%]*))$/;

function isServer(text: string): boolean {
  const [, bracketed, port6, plain, port4, bare] = SERVER.exec(text) ?? [];
  return isIP(bracketed ?? plain ?? bare ?? "") !== 0 && Number(port6 ?? port4 ?? 53) <= 65_535;
}

/** Reads a setting's value: at most eight addresses with an optional port, as `setServers` of node:dns takes them; undefined if
 *  one of them is none. */
export function servers(text: string): string[] | undefined {
  const list = text.split(",").map((part) => part.trim());
  return list.length <= 8 && list.every(isServer) ? list : undefined;
}
