/** Which world a request is for, by its Host alone (CONTRACT 2): the path is looked at afterwards. */

import { BETWEEN, isPreviewName } from "../base/preview-names.ts";
import { isVersionId } from "../base/tokens.ts";
import type { Config } from "../config/index.ts";

type HostMeaning =
  | { kind: "api" }
  /** `preview` is the name of a preview; then neither a version nor the live site is asked for. */
  | { kind: "site"; slug: string; version_id: string | null; preview?: string }
  /** Any other name with a dot: it may be a site's own domain (BEYOND 10). */
  | { kind: "domain"; domain: string }
  | { kind: "unknown" }
  /** No host name at all: 400 `invalid_host`. */
  | { kind: "invalid" };

const UNKNOWN: HostMeaning = { kind: "unknown" };
const INVALID: HostMeaning = { kind: "invalid" };
const API: HostMeaning = { kind: "api" };

/** A name or an address in brackets, then a port: nothing that could smuggle a path, a user or a second host. */
const HOST = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?)(?::(\d{1,5}))?$/;
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const LONGEST_NAME = 254;

/** Hosts are few and come with every request; strangers' are many and must not fill memory. */
const REMEMBERED = 2_000;

function splitHost(host: string): { name: string; port: string | undefined } | null {
  const parts = HOST.exec(host.trim().toLowerCase());
  if (!parts || Number(parts[2] ?? 0) > 65_535) return null;
  const name = parts[1]!.replace(/\.$/, "");
  return name.length > LONGEST_NAME ? null : { name, port: parts[2] };
}

/** `<slug>`, `<version_id>--<slug>` or `<preview>--<slug>`: neither a slug nor a name holds a double hyphen. */
function siteOf(label: string): HostMeaning {
  if (!SLUG.test(label)) return UNKNOWN;
  const parting = label.indexOf(BETWEEN);
  if (parting === -1) return { kind: "site", slug: label, version_id: null };
  const name = label.slice(0, parting);
  const slug = label.slice(parting + BETWEEN.length);
  if (slug.includes(BETWEEN)) return UNKNOWN;
  if (isVersionId(name)) return { kind: "site", slug, version_id: name };
  return isPreviewName(name) ? { kind: "site", slug, version_id: null, preview: name } : UNKNOWN;
}

/** True for a name that a domain can have: no address, and more than one label. */
const isDomain = (name: string): boolean =>
  /\.(?!\d+$)[a-z0-9-]+$/.test(name) && !name.includes("_") && name.length <= 253;

export function hostParser({ base_url, sites_domain }: Pick<Config, "base_url" | "sites_domain">) {
  const base = new URL(base_url);
  const [sitesName = "", sitesPort] = sites_domain.split(":");
  const suffix = `.${sitesName}`;
  const defaultPort = base.protocol === "https:" ? "443" : "80";
  const basePort = base.port || defaultPort;
  const apiNames = new Set(base.hostname === "localhost" ? ["localhost", "127.0.0.1", "[::1]"] : [base.hostname]);
  // The port is needed only if a site could have the API's own name.
  const portDecides = base.hostname.endsWith(suffix) && basePort !== (sitesPort ?? defaultPort);

  function parse(host: string): HostMeaning {
    const parts = splitHost(host);
    if (!parts) return INVALID;
    const { name, port = defaultPort } = parts;
    if (apiNames.has(name) && (!portDecides || port === basePort)) return API;
    if (name === sitesName) return UNKNOWN;
    if (!name.endsWith(suffix)) return isDomain(name) ? { kind: "domain", domain: name } : UNKNOWN;
    return siteOf(name.slice(0, -suffix.length));
  }

  const remembered = new Map<string, HostMeaning>();
  /** `host` is the Host header; null if there is none (HTTP/1.0). */
  return (host: string | null): HostMeaning => {
    if (host === null) return UNKNOWN;
    let kind = remembered.get(host);
    if (kind) return kind;
    kind = parse(host);
    if (remembered.size >= REMEMBERED) remembered.clear();
    if (host.length <= LONGEST_NAME + 6) remembered.set(host, kind);
    return kind;
  };
}

type Hosting = Pick<Config, "base_url" | "sites_domain">;

/** The address of a version, or of a preview by its name. */
export const urlBeside = (config: Hosting, name: string, slug: string): string =>
  siteUrl(config, `${name}${BETWEEN}${slug}`);

export const siteUrl = ({ base_url, sites_domain }: Hosting, slug: string): string =>
  `${new URL(base_url).protocol}//${slug}.${sites_domain}`;

/** The address of a site at a domain of its own: the port is that of all sites. */
export function domainUrl({ base_url, sites_domain }: Hosting, domain: string): string {
  const [, port] = sites_domain.split(":");
  return `${new URL(base_url).protocol}//${domain}${port === undefined ? "" : `:${port}`}`;
}

/** Under https, and on names that browsers trust as much: elsewhere they complain of what only such origins may ask. */
export function isTrustworthy(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === "https:" || /(?:^|\.)localhost$|^127\.|^\[::1\]$/.test(hostname);
}
