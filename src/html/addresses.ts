/** Resolves an address in a page, a stylesheet or a script as a browser resolves it there. Other files judge what the
 *  result means. */
import { decodePath, encodePath } from "../base/percent.ts";
import { attributesOf } from "./attributes.ts";
import { type HostKind, hostKind } from "./host-kind.ts";
import { partsOf } from "./page.ts";

/** Stands for the site's own host wherever a page does not name it. Judged as if it were served over https. */
const OWN_HOST = "site.invalid";
export const ROOT = `https://${OWN_HOST}/`;

/** A new site's own name is drawn after its files were read, so that no file can name it: relative addresses alone are
 *  its own. */
export interface OwnHost {
  slug: string | null;
  sites_domain: string;
}

export type Address =
  /** `path` begins with a slash and is still percent-encoded; query and fragment are gone. */
  | { kind: "own"; path: string }
  | { kind: HostKind; url: URL }
  /** The author's own disk. */
  | { kind: "disk" }
  | { kind: "mail" }
  /** `javascript:` in the place of an address. */
  | { kind: "script"; code: string }
  /** Nothing that is asked of a server (`data:` and the like); or null, nothing that our parser can read. */
  | { kind: "none"; url: URL | null };

/** The address against which addresses in the file at `path` are resolved. */
export const baseOf = (path: string): string => ROOT + encodePath(path);

const VERSION_LABEL = /^[0-9a-f]{16}--/;

/** The label before the sites domain; null for a host that is no site's. */
function labelOf(hostname: string, { sites_domain }: OwnHost): string | null {
  const [name, domain] = [hostname.replace(/\.$/, ""), `.${sites_domain.replace(/:\d+$/, "")}`];
  return name.endsWith(domain) ? name.slice(0, -domain.length) : null;
}

function ofHost(url: URL, own: OwnHost | null): Address {
  if (url.hostname === OWN_HOST) return { kind: "own", path: url.pathname };
  const label = own && labelOf(url.hostname, own);
  if (label === null) return { kind: hostKind(url.hostname), url };
  if (own!.slug !== null && label.replace(VERSION_LABEL, "") === own!.slug) return { kind: "own", path: url.pathname };
  // An address below localhost is another site too, for sites can have such names.
  return { kind: "public", url };
}

/** Addresses that a parser would leave as they are: most of them, at a tenth of its cost. */
const PLAIN = /^\/(?![/.])[\w~-]+(?:[/.][\w~-]+)*\/?$/;
/** A drive letter would be a scheme of one letter. */
const ON_DISK = /^[\s\0]*(?:file|[a-z]):/i;
const OF_SERVERS = /^(?:https?|wss?|ftp):$/;

/** `own` is the host of the site, if the site's own name may be in its pages. */
export function addressOf(address: string, base: string, own: OwnHost | null = null): Address {
  if (PLAIN.test(address) && base.startsWith(ROOT)) return { kind: "own", path: address };
  if (ON_DISK.test(address)) return { kind: "disk" };
  const url = URL.parse(address, base);
  if (url === null) return { kind: "none", url };
  const { protocol } = url;
  if (OF_SERVERS.test(protocol)) return ofHost(url, own);
  if (protocol === "mailto:") return { kind: "mail" };
  if (protocol === "javascript:") return { kind: "script", code: url.href.slice(protocol.length) };
  return { kind: "none", url };
}

/** The file of the site that an address names; null if it names none. */
export const fileAt = (address: Address): string | null =>
  address.kind === "own" ? (decodePath(address.path)?.slice(1) ?? null) : null;

/** The address against which addresses behind a `<base>` with this address are resolved; null if it cannot be read. */
export const movedBase = (address: string, base: string): string | null => URL.parse(address, base)?.href ?? null;

export const isOfHost = (address: Address): address is Extract<Address, { kind: HostKind }> =>
  address.kind === "public" || address.kind === "loopback" || address.kind === "private";

const LOADS: Record<string, string> = { script: "src", link: "href", img: "src" };
/** An import in a script of the page, from a path next to the page. */
const IMPORTS = /\b(?:import\s{0,9}\(?|from)\s{0,9}["']\.{1,2}\//;

/** Neither at the root nor with a scheme, and no fragment. */
const isRelative = (address: string): boolean => /^\s*(?![a-z][a-z\d+.-]*:)[^\s/#?\\]/i.test(address);

/** Whether a page must be given its own address: it loads files by relative addresses, which under another path would name
 *  other files. A `<base>` of its author's is such an address already. `html` is the page's beginning, entities not
 *  decoded. */
export function needsBase(html: string): boolean {
  let relative = false;
  for (const part of partsOf(html)) {
    if (part.kind !== "open") continue;
    const attribute = LOADS[part.name];
    if (attribute === undefined && part.name !== "base") continue;
    const found = attributesOf(part.attributes);
    if (part.name === "base" && found.has("href")) return false;
    relative ||= isRelative(found.get(attribute ?? "") ?? "") || IMPORTS.test(part.raw ?? "");
  }
  return relative;
}
