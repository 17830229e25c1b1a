/** Names of domains that a site may have beside its own (BEYOND 10): their one form, and which are refused. */

interface ServerNames {
  base_url: string;
  sites_domain: string;
}

const LONGEST = 253;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Characters of an address that is more than a name, and those that no name has. */
const NO_NAME = /[\s\u0000-\u0020\u007f/\\:@?#%[\]<>^|*_"'`{}()!$&+,;=~]/u;
/** Endings that no DNS server of the Internet answers for (RFC 6761, 6762, 7686, 9476). */
const PRIVATE_ENDINGS: readonly string[] = ["localhost", "local", "internal", "onion"];

/** As DNS has it: lower case, an IDN as its A-labels, without the last dot. Null for what is no name. */
export function domainName(written: string): string | null {
  const text = written.trim().replace(/[.。．｡]$/u, "");
  if (text.length > 4 * LONGEST || !text.isWellFormed() || NO_NAME.test(text)) return null;
  // A browser's reading of a host: an IDN becomes its A-labels, and what looks like an address becomes one.
  let host: string;
  try {
    host = new URL(`http://${text}/`).hostname;
  } catch {
    return null;
  }
  const labels = host.split(".");
  if (host.length > LONGEST || labels.length < 2 || !labels.every((label) => LABEL.test(label))) return null;
  return /^\d+$/.test(labels.at(-1)!) ? null : host;
}

export const isAtOrBelow = (domain: string, parent: string): boolean =>
  domain === parent || domain.endsWith(`.${parent}`);

/** A sentence: why no site can have a domain of this name. Null if one may. `domain` is as `domainName` made it. */
export function faultOfDomain(domain: string, { base_url, sites_domain }: ServerNames): string | null {
  const [sites = ""] = sites_domain.split(":");
  if (domain === new URL(base_url).hostname) return `${domain} is this server itself: name a domain that is yours.`;
  if (isAtOrBelow(domain, sites)) {
    return `${domain} is below ${sites}, where this server's sites are: for a name there rename the site.`;
  }
  const ending = PRIVATE_ENDINGS.find((one) => isAtOrBelow(domain, one));
  return ending === undefined
    ? null
    : `Names that end in .${ending} are in no public DNS: name a domain that is yours.`;
}
