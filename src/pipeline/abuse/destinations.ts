/** Where an address on a page leads, read as a browser reads it: to the site itself, to another domain, or elsewhere. A
 *  site is a domain of its own: its host and its version hosts are the same, every other host is another. */
import { hostKind } from "../references/addresses.ts";
import { decodeEntities } from "../../html/entities.ts";
import { show } from "../show.ts";

export type Destination =
  /** `where`: the host, or what stands for one that cannot be known. */
  | { kind: "other"; where: string }
  /** The visitor's own machine or network. */
  | { kind: "local"; where: string; loopback: boolean }
  | { kind: "mail" }
  | { kind: "none" };

/** A new site's own name is drawn after its files were read, so that no file can name it: relative addresses alone are
 *  its own. */
export interface OwnHost {
  slug: string | null;
  sites_domain: string;
}

const NOWHERE: Destination = { kind: "none" };
/** Stands for the site's own host wherever a page does not name it. */
const SELF = "site.invalid";
const VERSION_LABEL = /^[0-9a-f]{16}--/;

export const addressOfPage = (path: string): string =>
  `http://${SELF}/${path.split("/").map(encodeURIComponent).join("/")}`;

/** The label before the sites domain; null for a host that is no site's. */
function labelOf(hostname: string, { sites_domain }: OwnHost): string | null {
  const [name, domain] = [hostname.replace(/\.$/, ""), `.${sites_domain.replace(/:\d+$/, "")}`];
  return name.endsWith(domain) ? name.slice(0, -domain.length) : null;
}

const isOwn = (hostname: string, own: OwnHost): boolean =>
  hostname === SELF || (own.slug !== null && labelOf(hostname, own)?.replace(VERSION_LABEL, "") === own.slug);

/** Strings in a script that are addresses. */
const LITERAL = /["'`]\s*((?:https?:)?(?:\/\/|\\\\)[^"'`\s]{1,2000}|[./?#][^"'`\s]{0,2000})/gi;
const MOVES = /\blocation\b|\bopen\s*\(|\bfetch\s*\(|sendBeacon|XMLHttpRequest|\.action\b|\.submit\b|\.src\b/;

/** `javascript:` in the place of an address: other where it names another domain, or moves to where nobody can tell. */
function ofScript(address: string, own: OwnHost): Destination {
  let code = address.slice(address.indexOf(":") + 1);
  try {
    code = decodeURIComponent(code);
  } catch {
    // Half-encoded code is read as it stands.
  }
  const literals = [...code.matchAll(LITERAL)].map((found) => destination(found[1]!, [addressOfPage("")], own));
  const other = literals.find(({ kind }) => kind === "other");
  if (other) return other;
  if (!MOVES.test(code) || literals.length > 0) return NOWHERE;
  return { kind: "other", where: "an address that a script makes up" };
}

function ofUrl(url: URL, own: OwnHost): Destination {
  if (url.protocol === "javascript:") return ofScript(url.href, own);
  if (url.protocol === "mailto:") return { kind: "mail" };
  if (!/^(?:https?|ftp|wss?):$/.test(url.protocol)) return NOWHERE;
  if (isOwn(url.hostname, own)) return NOWHERE;
  // A sibling is another site also where sites live below localhost.
  const kind = labelOf(url.hostname, own) === null ? hostKind(url.hostname) : "public";
  if (kind !== "public") return { kind: "local", where: url.host, loopback: kind === "loopback" };
  return { kind: "other", where: url.host };
}

/** `bases`: what the page may take as the base of its addresses; where one of them leads elsewhere, the address does. */
export function destination(address: string, bases: readonly string[], own: OwnHost): Destination {
  const found = bases.map((base): Destination => {
    const url = URL.parse(address, base);
    if (url) return ofUrl(url, own);
    // What our parser cannot read another one might.
    const absolute = /^[\s\0-\x1f]*(?:[a-z][\w+.-]*:|[/\\\s]{2})/i.test(address);
    return absolute ? { kind: "other", where: show(address) } : NOWHERE;
  });
  const named = (kind: Destination["kind"]) => found.find((one) => one.kind === kind);
  return named("other") ?? named("mail") ?? named("local") ?? NOWHERE;
}

/** The same for an attribute as it is written in the page. */
export const destinationOf = (written: string, bases: readonly string[], own: OwnHost): Destination =>
  destination(decodeEntities(written), bases, own);

/** What the bases of a page may be: its own address, and those that it names. */
export function basesOf(bases: readonly string[], path: string): string[] {
  const page = addressOfPage(path);
  return [page, ...bases.flatMap((base) => URL.parse(base, page)?.href ?? []).filter((base) => /^https?:/.test(base))];
}

/** The file of the site that an address leads to; null for another host's, or none. */
export function ownFile(address: string, base: string, own: OwnHost): string | null {
  const url = URL.parse(address, base);
  if (!url || !isOwn(url.hostname, own)) return null;
  try {
    return decodeURIComponent(url.pathname.slice(1)).normalize("NFC");
  } catch {
    return null;
  }
}

/** The host that an address names, as it is written in the page. */
export const hostOf = (address: string): string =>
  URL.parse(decodeEntities(address), addressOfPage(""))?.hostname ?? "";
