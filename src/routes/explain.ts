/** `GET /sites/:id/explain`: why an address of a site answers as it does (BEYOND 5). */
import { Refusal } from "../base/errors.ts";
import { domainUrl, hostParser, siteUrl, urlBeside } from "../http/hosts.ts";
import type { Store } from "../store/index.ts";
import type { Site } from "../base/types.ts";
import type { ApiParts, Explained, SiteCtx } from "./context.ts";

const LONGEST_URL = 4096;
/** A value for a header of the request: visible characters and blanks. */
const HEADER = /^[\x20-\x7e]{0,500}$/;
type SiteHost = Parameters<ApiParts["explain"]>[1];

/** Parameters, with the header whose value each gives. */
const HEADERS = {
  accept_encoding: "accept-encoding",
  sec_fetch_dest: "sec-fetch-dest",
  sec_fetch_site: "sec-fetch-site",
};

const invalid = (message: string): Refusal => new Refusal("invalid_input", message);

export async function explain({ query, parts, site }: Pick<SiteCtx, "query" | "parts" | "site">) {
  const { url, host } = await addressOf(query.get("url"), site, parts);
  const method = (query.get("method") ?? "GET").toUpperCase();
  if (method !== "GET" && method !== "HEAD") throw invalid("A method is GET or HEAD: only those read a page.");
  const told = await parts.explain(new Request(url, { method, headers: headersOf(query) }), host);
  const version_id = told && (told.version_id ?? (await hiddenAt(host, site, parts.store)));
  if (told === null || version_id === null) throw foreignHost(url);
  return { url, method, ...bodyOf(told, version_id, site) };
}

function headersOf(query: URLSearchParams): Headers {
  const headers = new Headers();
  for (const [member, name] of Object.entries(HEADERS)) {
    const value = query.get(member);
    if (value === null) continue;
    if (!HEADER.test(value)) throw invalid(`"${member}" is what ${name} says: at most 500 characters of ASCII.`);
    headers.set(name, value);
  }
  return headers;
}

const foreignHost = (url: string): Refusal =>
  invalid(`The site has no such host: ${new URL(url).host}. Give a path for its live address.`);

/** The address as a browser would ask for it: without its fragment, whatever the scheme. A path is one of the live host. */
async function addressOf(
  written: string | null,
  { slug }: Site,
  { config, store }: Pick<ApiParts, "config" | "store">,
) {
  if (written === null || written === "") throw invalid('Give "url": a path such as /about, or a whole address.');
  if (written.length > LONGEST_URL) throw invalid(`"url" has at most ${LONGEST_URL.toLocaleString("en")} characters.`);
  const whole = URL.parse(written.startsWith("/") ? siteUrl(config, slug) + written : written);
  if (whole === null || !/^https?:$/.test(whole.protocol)) {
    throw invalid('"url" is neither a path that begins with / nor an http or https address.');
  }
  const host = hostParser(config)(whole.host);
  if (host.kind === "domain") return ownDomain(whole, host.domain, slug, { config, store });
  if (host.kind !== "site") throw foreignHost(whole.href);
  if (host.slug !== slug && (await store.sites.movedTo(host.slug)) !== slug) throw foreignHost(whole.href);
  const beside = host.version_id ?? host.preview;
  const origin = beside === undefined ? siteUrl(config, host.slug) : urlBeside(config, beside, host.slug);
  return { url: origin + whole.pathname + whole.search, host };
}

/** An address at one of the site's own domains. */
async function ownDomain(
  whole: URL,
  domain: string,
  slug: string,
  { config, store }: Pick<ApiParts, "config" | "store">,
) {
  if ((await store.domains.at(domain))?.slug !== slug) throw foreignHost(whole.href);
  return { url: domainUrl(config, domain) + whole.pathname + whole.search, host: { slug, version_id: null, domain } };
}

/** The version that a host would show if visitors could see the site; null if the site has no such host. */
async function hiddenAt({ version_id, preview }: SiteHost, site: Site, store: Store): Promise<string | null> {
  const { site_id, live_version_id } = site;
  if (preview !== undefined) {
    const shown = await store.previews.list(site_id);
    return shown.find(({ name }) => name === preview)?.version_id ?? null;
  }
  if (version_id === null) return live_version_id;
  return (await store.versions.stored(site_id, version_id)) && version_id;
}

function bodyOf(
  { rule, file, headers, ...told }: Explained,
  version_id: string,
  { live_version_id, access_hash }: Site,
) {
  return {
    version_id,
    live: version_id === live_version_id,
    access: access_hash === null ? "public" : "password",
    status: told.status,
    by: told.by,
    file: file && wireFile(file),
    rule: rule && wireRule(rule),
    location: headers.location ?? null,
    headers,
    header_rules: told.header_rules,
    steps: told.steps,
  };
}

const wireFile = ({ path, bytes, sha256, media_type, made }: NonNullable<Explained["file"]>) => ({
  path,
  bytes,
  sha256,
  media_type,
  made,
});

const wireRule = ({ line, text, from, to, status, forced }: NonNullable<Explained["rule"]>) => ({
  path: `_redirects:${line}`,
  text,
  from,
  to,
  status,
  forced,
});
