/** Reading a site and moving its live pointer (CONTRACT 4.4). */
import type { Config } from "../config/index.ts";
import { effectiveSpa, siteState } from "../base/site-state.ts";
import type { RolledBack } from "../store/sites.ts";
import type { Rollback } from "../store/publish.ts";
import type { Store } from "../store/index.ts";
import { refuseUnlessWritable, unknownSite } from "../store/refusals.ts";
import type { Site, Version } from "../base/types.ts";
import { readJson, stringMember } from "../http/body.ts";
import { customerOf, networkOf } from "../http/context.ts";
import { siteUrl } from "../http/hosts.ts";
import { limitOf, PAGE } from "./paging.ts";
import { rendersOf } from "./renders.ts";
import type { Admitted } from "./caller.ts";
import type { ApiParts, Ctx, SiteCtx } from "./context.ts";

/** `GET /sites/:id?limit=&before=`. */
export async function readSite({ site, query, parts }: SiteCtx) {
  return readRecord(parts, site, { limit: limitOf(query), before: query.get("before") });
}

type Page = Parameters<Store["versions"]["list"]>[1];
type SiteRecord = ReturnType<typeof siteRecord> & { more?: true };

/** Whose versions are to be read too: a page of them. */
export async function readRecord(
  parts: ApiParts,
  site: Site,
  page: Page = { limit: PAGE, before: null },
): Promise<SiteRecord> {
  const { config, store, now } = parts;
  const { versions, more } = await store.versions.list(site.site_id, page);
  const live = await store.versions.get(site.site_id, site.live_version_id);
  if (live !== null) {
    const renders = await rendersOf(parts, site, versions);
    return { ...siteRecord(config, site, { live, versions, renders }, now()), ...(more && { more }) };
  }
  // A deploy went live since the row was read, and the version that was left is removed already.
  const again = await store.sites.byId(site.site_id);
  if (again === null) throw unknownSite();
  return readRecord(parts, again, page);
}

interface Stored {
  live: Version;
  versions: Version[];
  /** Null while no engine is on. */
  renders: Awaited<ReturnType<typeof rendersOf>>;
}

function siteRecord(config: Config, site: Site, { live, versions, renders }: Stored, now: number) {
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
      ...(renders && { render: renders.ofVersion(version_id) }),
    })),
    ...(renders && { render: renders.render }),
  };
}

/** `DELETE /sites/:id/manage-tokens`: whoever was given one writes to the site no longer. A manage_token ends none. */
export async function revokeTokens({ site, by, parts }: Ctx & Admitted<{ owner: null }>) {
  return { ok: true, revoked: await parts.store.ownership.revokeTokens(site.site_id, by) };
}

/** Longer a rollback does not wait for the passages of its comments. */
const CARRY_MS = 2000;

/** `POST /sites/:id/rollback`. */
export async function rollback(ctx: SiteCtx) {
  const { request, site, by, parts } = ctx;
  refuseUnlessWritable(site, parts.now());
  const version_id = stringMember(await readJson(request), "version_id", 200);
  const { site_id, slug } = site;
  const { previous_version_id } = await makeVersionLive(ctx, { site_id, by, version_id });
  return { ok: true, site_id, url: siteUrl(parts.config, slug), version_id, previous_version_id };
}

/** One of the site's, and the passages of its comments with it. */
export async function makeVersionLive({ parts, client_address }: Ctx, rollback: Rollback): Promise<RolledBack> {
  const moved = await parts.store.rollback(rollback);
  if (moved.previous_version_id !== rollback.version_id) await carryComments(parts, moved.site, client_address());
  return moved;
}

/** The passages of comments go along, in a deploy's process. Where that cannot be, they stand where they were found last
 *  until the next change: nobody who rolls back waits for long, or is refused, on account of comments. */
export async function carryComments({ store, pool }: ApiParts, site: Site, address: string): Promise<void> {
  if ((await store.notes.settings(site)).last_mode === null) return;
  const job = { carry: { site_id: site.site_id }, customer: customerOf(address), network: networkOf(address) };
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, CARRY_MS);
  await Promise.race([pool.carry(job).catch(() => {}), late.promise]).finally(() => clearTimeout(timer));
}
