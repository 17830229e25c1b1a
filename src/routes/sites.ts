/** Reading a site and moving its live pointer (CONTRACT 4.4). */
import type { Config } from "../config/index.ts";
import { effectiveSpa, siteState } from "../site-state.ts";
import { refuseUnlessWritable } from "../store/refusals.ts";
import type { Site, Version } from "../types.ts";
import { readJson, stringMember } from "../http/body.ts";
import { siteUrl } from "../http/hosts.ts";
import { accountHolder, managedSite } from "./caller.ts";
import type { ApiParts, Ctx } from "./context.ts";

/** `GET /sites/:id`. */
export async function readSite({ caller, params, parts }: Ctx) {
  const { site } = await managedSite(caller, params.id!, parts.store, parts.now());
  return readRecord(parts, site);
}

/** Whose versions are to be read too. */
export async function readRecord({ config, store, now }: ApiParts, site: Site) {
  return siteRecord(config, site, await store.versions.list(site.site_id), now());
}

function siteRecord(config: Config, site: Site, versions: Version[], now: number) {
  const live = versions.find((version) => version.version_id === site.live_version_id)!;
  const { site_id, slug, label, expires_at, owner_account_id, created_at, live_version_id } = site;
  return {
    site_id,
    slug,
    url: siteUrl(config, slug),
    label,
    expires_at,
    ...(owner_account_id !== null && { owner_account_id }),
    created_at,
    state: siteState(site, now),
    live_version_id,
    spa: effectiveSpa(site, live),
    comments: { mode: site.comments_mode },
    versions: versions.map(({ version_id, title, created_at, files, bytes }) => ({
      version_id,
      title,
      created_at,
      files,
      bytes,
    })),
  };
}

/** `DELETE /sites/:id/manage-tokens`: whoever was given one writes to the site no longer. A manage_token ends none. */
export async function revokeTokens({ caller, params, parts }: Ctx) {
  const by = accountHolder(caller);
  const { site } = await managedSite(by, params.id!, parts.store, parts.now());
  return { ok: true, revoked: await parts.store.ownership.revokeTokens(site.site_id, by) };
}

/** `POST /sites/:id/rollback`. */
export async function rollback({ request, caller, params, parts }: Ctx) {
  const { site, by } = await managedSite(caller, params.id!, parts.store, parts.now());
  refuseUnlessWritable(site, parts.now());
  const version_id = stringMember(await readJson(request), "version_id", 200);
  const { site_id } = site;
  const moved = await parts.store.rollback({ site_id, by, version_id });
  return {
    ok: true,
    site_id,
    url: siteUrl(parts.config, site.slug),
    version_id,
    previous_version_id: moved.previous_version_id,
  };
}
