/** Stored versions as their keepers take them away: the list of files, a zip of them, how two differ (BEYOND 9). */
import { Refusal } from "../base/errors.ts";
import { inByteOrder } from "../base/version-id.ts";
import { KEPT_HEADERS } from "../http/answers.ts";
import { customerOf, networkOf } from "../http/context.ts";
import { limitAccount, limitClient } from "../http/rate-limit.ts";
import { refusals } from "../store/refusals.ts";
import type { Site } from "../base/types.ts";
import type { ApiHandlers, SiteCtx } from "./context.ts";

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
export const TAKE_AWAY_HANDLERS = {
  "GET /sites/:id/versions/:version_id/files": listFiles,
  "GET /sites/:id/versions/:version_id/zip": zipVersion,
  "GET /sites/:id/diff": diff,
} satisfies Partial<ApiHandlers>;
