/** What is shown beside the live version of a site: its list, its end, and how it goes live (BEYOND 7). Previews are made in
 *  deploys/preview.ts. */
import { siteUrl, urlBeside } from "../http/hosts.ts";
import type { ListedPreview, NamedPreview, PromotedPreview } from "../store/previews.ts";
import { refuseUnlessWritable } from "../store/refusals.ts";
import type { Ctx, SiteCtx } from "./context.ts";
import { carryComments } from "./sites.ts";

/** `GET /sites/:id/previews`: newest first. */
export async function listPreviews({ parts, site }: SiteCtx) {
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
export async function endPreview({ params, parts, site, by }: SiteCtx) {
  refuseUnlessWritable(site, parts.now());
  await parts.store.previews.end({ site_id: site.site_id, by, preview: params.name! });
  return { ok: true };
}

/** Exactly its bytes are live, and the passages of comments go along as with a rollback. */
export async function makePreviewLive({ parts, client_address }: Ctx, preview: NamedPreview): Promise<PromotedPreview> {
  const { keep_versions, render } = parts.config;
  const promoted = await parts.store.previews.promote({ ...preview, keep_versions, renders: render !== "off" });
  const { site, version_id, previous_version_id } = promoted;
  if (previous_version_id !== version_id) await carryComments(parts, site, client_address());
  return promoted;
}

/** `POST /sites/:id/previews/:name/promote`. */
export async function promotePreview(ctx: SiteCtx) {
  const { params, parts, site, by } = ctx;
  refuseUnlessWritable(site, parts.now());
  const { site_id, slug } = site;
  const { version_id, previous_version_id } = await makePreviewLive(ctx, { site_id, by, preview: params.name! });
  return { ok: true, site_id, url: siteUrl(parts.config, slug), version_id, previous_version_id };
}
