/** What is shown beside the live version of a site: its list, its end, and how it goes live (BEYOND 7). Previews are made in
 *  deploys/preview.ts. */
import { siteUrl, urlBeside } from "../http/hosts.ts";
import type { ListedPreview } from "../store/previews.ts";
import { refuseUnlessWritable } from "../store/refusals.ts";
import { accountHolder, managedSite } from "./caller.ts";
import type { Ctx } from "./context.ts";
import { carryComments } from "./sites.ts";

/** `GET /sites/:id/previews`: newest first. */
export async function listPreviews(ctx: Ctx) {
  const { parts } = ctx;
  const { site } = await managedSite(ctx, "read");
  const previews = await parts.store.previews.list(site.site_id);
  const shown = ({ name, version_id, title, created_at, expires_at }: ListedPreview) => {
    const version_url = urlBeside(parts.config, version_id, site.slug);
    const url = name === null ? version_url : urlBeside(parts.config, name, site.slug);
    return { name, url, version_url, version_id, title, created_at, expires_at };
  };
  return { previews: previews.map(shown) };
}

/** `DELETE /sites/:id/previews/:name`, or its version_id. A manage_token ends none: whoever may only deploy takes no page
 *  away from those who look at it. */
export async function endPreview(ctx: Ctx) {
  const { caller, params, parts } = ctx;
  if (caller.kind === "site") accountHolder(caller);
  const { site, by } = await managedSite(ctx, "preview");
  refuseUnlessWritable(site, parts.now());
  await parts.store.previews.end({ site_id: site.site_id, by, preview: params.name! });
  return { ok: true };
}

/** `POST /sites/:id/previews/:name/promote`: exactly those bytes are live. */
export async function promotePreview(ctx: Ctx) {
  const { params, parts, client_address } = ctx;
  const { config, store, now } = parts;
  const { site, by } = await managedSite(ctx, "deploy");
  refuseUnlessWritable(site, now());
  const { site_id } = site;
  const promoted = await store.previews.promote({
    site_id,
    by,
    preview: params.name!,
    keep_versions: config.keep_versions,
    renders: config.render !== "off",
  });
  const { version_id, previous_version_id } = promoted;
  if (previous_version_id !== version_id) await carryComments(parts, promoted.site, client_address());
  return { ok: true, site_id, url: siteUrl(config, site.slug), version_id, previous_version_id };
}
