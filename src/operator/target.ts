/** `<site>`: a site_id, a slug, or the URL of a page. */
import type { Operations } from "../store/operations.ts";
import { isSiteId } from "../tokens.ts";
import type { Site } from "../types.ts";

/** The slug in a host name, a version's host included. */
const slugOfHost = (host: string): string => host.split(".", 1)[0]!.split("--").at(-1)!;

function slugOf(text: string): string {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (url) return slugOfHost(url.hostname);
  return slugOfHost(text.toLowerCase().split(/[/:]/, 1)[0]!);
}

/** Throws a sentence where there is no such site (any more). */
export async function siteNamed(text: string, { sites }: Operations): Promise<Site> {
  const site = isSiteId(text) ? await sites.byId(text) : await sites.bySlug(slugOf(text));
  if (site) return site;
  const gone = isSiteId(text) ? null : await sites.tombstone(slugOf(text));
  throw new Error(
    gone
      ? `The site ${gone.slug} is gone: ${gone.reason} at ${gone.gone_at}.`
      : `There is no site ${JSON.stringify(text)}: give its site_id, slug or URL (svc-server sites lists them).`,
  );
}
