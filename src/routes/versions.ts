/** Stored versions as their keepers read them, take them away, make them live and delete them (CONTRACT 4.4, BEYOND 9 and 15). */
import { Refusal } from "../base/errors.ts";
import { inByteOrder } from "../base/version-id.ts";
import { KEPT_HEADERS } from "../http/answers.ts";
import { customerOf, networkOf } from "../http/context.ts";
import { limitAccount, limitClient } from "../http/rate-limit.ts";
import { quarantineOf } from "../base/site-state.ts";
import { RENDERER, type Site } from "../base/types.ts";
import { readJson, stringMember } from "../http/body.ts";
import { siteUrl } from "../http/hosts.ts";
import type { Rollback } from "../store/publish.ts";
import { refusals, refuseUnlessWritable } from "../store/refusals.ts";
import type { RolledBack } from "../store/sites.ts";
import type { Admitted } from "./caller.ts";
import type { ApiHandlers, ApiParts, Ctx, SiteCtx } from "./context.ts";
import { noteChange } from "./deploys/facts.ts";

/** A full version_id, or `live`. Throws `unknown_version` where the site has none of that id, of previews too. */
async function versionAt({ parts: { store }, site }: SiteCtx, written: string | null): Promise<string> {
  const version_id = written === "live" ? site.live_version_id : written;
  if (version_id === null || (await store.versions.stored(site.site_id, version_id)) === null)
    throw refusals.unknownVersion();
  return version_id;
}

/** `GET /sites/:id/versions/:version_id/files`: as uploaded. */
async function listFiles(ctx: SiteCtx) {
  const { params, parts, site } = ctx;
  const version_id = await versionAt(ctx, params.version_id!);
  const manifest = await parts.store.versions.manifest(site.site_id, version_id);
  if (manifest === null) throw refusals.unknownVersion();
  const uploaded = [...manifest.values()].filter(({ made }) => !made);
  const files = inByteOrder(uploaded.map(({ path }) => path)).map((path) => {
    const { sha256, bytes, media_type } = manifest.get(path)!;
    return { path, sha256, bytes, media_type };
  });
  return { version_id, live: version_id === site.live_version_id, files };
}

/** `GET /sites/:id/diff?from=&to=`. */
async function diff(ctx: SiteCtx) {
  const { query, parts, site } = ctx;
  const [from, to] = [await versionAt(ctx, query.get("from")), await versionAt(ctx, query.get("to") ?? "live")];
  const changes = await parts.store.versions.compare(site.site_id, from, to);
  if (changes === null) throw refusals.unknownVersion();
  const { added, changed, removed } = changes;
  return {
    from,
    to,
    added: added.map(({ path, after }) => ({ path, bytes: after! })),
    changed: changed.map(({ path, before, after }) => ({ path, from_bytes: before!, to_bytes: after! })),
    removed: removed.map(({ path, before }) => ({ path, bytes: before! })),
  };
}

/** `DELETE /sites/:id/versions/:version_id`: by the owner's session alone. */
async function deleteVersion({ params, parts, site, by }: Ctx & Admitted<{ owner: null }>) {
  refuseUnlessWritable(site, parts.now());
  const version_id = params.version_id!;
  const freed_bytes = await parts.store.deleteVersion({ site_id: site.site_id, by, version_id });
  return { ok: true, deleted: [version_id], freed_bytes };
}

/** `GET /sites/:id/versions/:version_id/receipt` (BEYOND 15). Of a version from before receipts all that was said is null. */
async function readReceipt({ params, parts, site }: SiteCtx) {
  const { store } = parts;
  const version = await store.versions.stored(site.site_id, params.version_id!);
  if (version === null) throw refusals.unknownVersion();
  const { version_id, created_at, files, bytes } = version;
  const receipt = await store.versions.receipt(site.site_id, version_id);
  const { checked = null, changes = null, healed = null, warnings = null, left_out = 0, renderer } = receipt ?? {};
  const has_pages = await store.versions.hasMade(site.site_id, version.version_id);
  return {
    version_id,
    created_at,
    live: version_id === site.live_version_id,
    files,
    bytes,
    checked,
    changes: changes && { ...changes, named: undefined },
    healed,
    warnings,
    pages_made_by: has_pages ? (renderer === RENDERER ? "this svc" : "an older svc") : null,
    ...(left_out > 0 && { left_out }),
  };
}

/** `GET /sites/:id/withheld`: a route of its own, for the record of a site gains no member (BEYOND 0). */
async function listWithheld({ parts, site }: SiteCtx) {
  const withheld = await parts.store.versions.withheld(site.site_id);
  return { withheld, ...(site.quarantine !== null && { quarantine: quarantineOf(site) }) };
}

/** A rollback waits no longer than this for the passages of its comments. */
const CARRY_MS = 2000;

/** `POST /sites/:id/rollback`. */
async function rollback(ctx: SiteCtx) {
  const { request, site, by, parts } = ctx;
  refuseUnlessWritable(site, parts.now());
  const version_id = stringMember(await readJson(request), "version_id", 200);
  const { site_id, slug } = site;
  const { previous_version_id } = await makeVersionLive(ctx, { site_id, by, version_id });
  return { ok: true, site_id, url: siteUrl(parts.config, slug), version_id, previous_version_id };
}

/** Moves the live pointer, and the passages of comments with it. */
export async function makeVersionLive(ctx: Ctx, rollback: Rollback): Promise<RolledBack> {
  const { parts, client_address } = ctx;
  const moved = await parts.store.rollback(rollback);
  const { site, previous_version_id: from } = moved;
  noteChange(ctx.exchange, ctx.caller, { event: "rollback", site, from, version_id: rollback.version_id });
  if (moved.previous_version_id !== rollback.version_id) await carryComments(parts, moved.site, client_address());
  return moved;
}

/** Takes the passages of comments along, in a deploy's process. If that fails or takes long, they stay at their last
 *  places until the next change: comments neither refuse a rollback nor delay it. */
export async function carryComments({ store, pool }: ApiParts, site: Site, address: string): Promise<void> {
  if ((await store.notes.settings(site)).last_mode === null) return;
  const job = { carry: { site_id: site.site_id }, customer: customerOf(address), network: networkOf(address) };
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, CARRY_MS);
  await Promise.race([pool.carry(job).catch(() => {}), late.promise]).finally(() => clearTimeout(timer));
}

/** Zips on their way at once: in all, and to one customer. */
const MOST = 64;
const MOST_OF_ONE = 4;

const on_the_way = new Map<string, number>();

/** Takes a place; the function gives it back, and may be called more than once. */
function takePlace(customer: string): () => void {
  const own = on_the_way.get(customer) ?? 0;
  const all = [...on_the_way.values()].reduce((sum, n) => sum + n, 0);
  if (own >= MOST_OF_ONE || all >= MOST) {
    const message = "The server is busy with other downloads. Try again in a moment.";
    throw new Refusal("unavailable", message, {}, { "retry-after": "5" });
  }
  on_the_way.set(customer, own + 1);
  let held = true;
  return () => {
    if (!held) return;
    held = false;
    const left = on_the_way.get(customer)! - 1;
    if (left > 0) on_the_way.set(customer, left);
    else on_the_way.delete(customer);
  };
}

async function limitZip(ctx: SiteCtx, { owner_account_id }: Site): Promise<void> {
  if (owner_account_id === null) await limitClient(ctx, "rate_redeploy", "zip");
  else await limitAccount(ctx, owner_account_id, "zip");
}

/** `GET /sites/:id/versions/:version_id/zip`. */
async function zipVersion(ctx: SiteCtx): Promise<Response> {
  const { params, parts, site, exchange, headers, client_address } = ctx;
  const { site_id, slug } = site;
  const version_id = await versionAt(ctx, params.version_id!);
  await limitZip(ctx, site);
  const [customer, network] = [customerOf(client_address()), networkOf(client_address())];
  const job = { pack: { site_id, version_id }, customer, network };
  const { bytes, body } = await parts.pool.pack(job, takePlace(customer));
  exchange.bytes = bytes;
  return new Response(body, {
    headers: {
      ...KEPT_HEADERS,
      ...headers,
      "x-request-id": exchange.request_id,
      "content-type": "application/zip",
      "content-length": String(bytes),
      "content-disposition": `attachment; filename="${slug}-${version_id}.zip"`,
    },
  });
}

/** The rows of the API that this file answers. */
export const VERSION_HANDLERS = {
  "POST /sites/:id/rollback": rollback,
  "GET /sites/:id/withheld": listWithheld,
  "GET /sites/:id/versions/:version_id/receipt": readReceipt,
  "DELETE /sites/:id/versions/:version_id": deleteVersion,
  "GET /sites/:id/versions/:version_id/files": listFiles,
  "GET /sites/:id/versions/:version_id/zip": zipVersion,
  "GET /sites/:id/diff": diff,
} satisfies Partial<ApiHandlers>;
