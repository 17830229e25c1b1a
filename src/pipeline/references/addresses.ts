/** Where an address leads, as a browser would resolve it on a page of this site. */

import { isOwnNetwork } from "./own-network.ts";

/** Sites are judged as if they were served over https, whatever this server does. */
const SITE = "https://site.invalid/";

export type Address =
  /** `path` begins with a slash and is still percent-encoded; query and fragment are gone. */
  | { kind: "own"; path: string }
  | { kind: "loopback" | "private" | "public"; plain: boolean }
  /** The author's own disk. */
  | { kind: "disk" }
  /** Nothing that is asked of a server: data, mail, a script. */
  | { kind: "none" };

/** What addresses in the file at `path` are resolved against. */
export const baseOf = (path: string): string => SITE + path.split("/").map(encodeURIComponent).join("/");
export const ROOT = SITE;

const LOOPBACK = /^(?:127|0)(?:\.\d{1,3}){3}$|^\[::1?\]$|^\[::ffff:7f[\da-f]{2}:|(?:^|\.)localhost$/;
/** Names that offices and homes give out; a name without a dot is one too. */
const PRIVATE_NAME = /^[^.:]+$|\.(?:internal|intranet|lan|home|corp|home\.arpa)$/;

/** URLs come normalised: `0x7f.1` is `127.0.0.1` by now. */
export function hostKind(hostname: string): "loopback" | "private" | "public" {
  const name = hostname.replace(/\.$/, "");
  if (LOOPBACK.test(name)) return "loopback";
  return isOwnNetwork(name) || PRIVATE_NAME.test(name) ? "private" : "public";
}

/** Addresses that a parser would leave as they are: most of them, at a tenth of its cost. */
const PLAIN = /^\/(?![/.])[\w~-]+(?:[/.][\w~-]+)*\/?$/;

export function addressOf(url: string, base: string): Address {
  if (PLAIN.test(url) && base.startsWith(SITE)) return { kind: "own", path: url };
  // A drive letter would be a scheme of one letter.
  if (/^[\s\0]*(?:file|[a-z]):/i.test(url)) return { kind: "disk" };
  const found = URL.parse(url, base);
  if (!found) return { kind: "none" };
  const { protocol, hostname, pathname, href } = found;
  if (href.startsWith(SITE)) return { kind: "own", path: pathname };
  if (!/^(?:https?|wss?):$/.test(protocol)) return { kind: "none" };
  return { kind: hostKind(hostname), plain: protocol === "http:" || protocol === "ws:" };
}
