/** `<site>`: a site_id, a slug, or the URL of a page. */
import { hostParser } from "../http/hosts.ts";
import type { Operations } from "../store/operations.ts";
import type { ServerAddress } from "../store/upkeep.ts";
import { isSiteId } from "../base/tokens.ts";
import type { Site } from "../base/types.ts";

/** Refuses a host of another server: its first label could be the slug of another site here. */
function slugOfHost(host: string, address: ServerAddress | null): string {
  if (address === null) return host.split(".", 1)[0]!.split("--").at(-1)!;
  const found = hostParser(address)(host);
  if (found.kind === "site") return found.slug;
  throw new Error(`${host} is no site of this server: its sites are at *.${address.sites_domain}.`);
}

function slugOf(text: string, address: ServerAddress | null): string {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (url) return slugOfHost(url.host, address);
  const host = text.toLowerCase().split("/", 1)[0]!;
  return host.includes(".") ? slugOfHost(host, address) : host.split("--").at(-1)!;
}

/** Throws a sentence where there is no such site (any more). */
export async function siteNamed(text: string, operations: Operations): Promise<Site> {
  const { sites } = operations;
  const slug = isSiteId(text) ? null : slugOf(text, await operations.serverAddress());
  const site = slug === null ? await sites.byId(text) : await sites.bySlug(slug);
  if (site) return site;
  const gone = slug === null ? null : await sites.tombstone(slug);
  throw new Error(
    gone
      ? `The site ${gone.slug} is gone: ${gone.reason} at ${gone.gone_at}.`
      : `There is no site ${JSON.stringify(text)}: give its site_id, slug or URL (svc-server sites lists them).`,
  );
}
