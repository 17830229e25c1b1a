/** Names and addresses that lead to the visitor's own machine or network, and so to nobody who could be phishing. */
import { isIPv4 } from "node:net";

const PRIVATE_4 = /^(?:0|10|127)\.|^169\.254\.|^172\.(?:1[6-9]|2\d|3[01])\.|^192\.168\./;
const PRIVATE_6 = /^\[(?:::1?|f[cd][0-9a-f]{2}:.*|fe[89ab][0-9a-f]:.*)\]$/;
/** An IPv4 address in IPv6, as `URL` writes it. */
const MAPPED = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/;

function mapped(hostname: string): string | null {
  const [, high, low] = MAPPED.exec(hostname) ?? [];
  if (!high || !low) return null;
  const [a, b] = [parseInt(high, 16), parseInt(low, 16)];
  return `${a >> 8}.${a & 255}.${b >> 8}.${b & 255}`;
}

/** `hostname` as `URL` has it: lower case, numbers as dotted addresses, IPv6 in brackets. */
export function isOwnNetwork(hostname: string): boolean {
  const name = hostname.replace(/\.$/, "");
  const address = mapped(name) ?? name;
  if (isIPv4(address)) return PRIVATE_4.test(address);
  return /(?:^|\.)localhost$|\.local$/.test(name) || PRIVATE_6.test(name);
}
