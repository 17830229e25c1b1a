/** Versions as a browser saw them (CONTRACT 9), on a server with a render engine. */
import type { RenderBrief, RenderSeen } from "../store/renders.ts";
import { refusals } from "../store/refusals.ts";
import type { Site, Version } from "../base/types.ts";
import { Refusal } from "../base/errors.ts";
import { KEPT_HEADERS } from "../http/answers.ts";
import type { ApiParts, SiteCtx } from "./context.ts";

type RenderParts = Pick<ApiParts, "config" | "store">;

const isOn = ({ config }: RenderParts): boolean => config.render !== "off";

/** The state of a deploy that was answered just now, and of each one while the engine is off. */
const PENDING = { status: "pending", console: [], failed_requests: [], dom_summary: null } as const;

/** A version that was deployed while the engine was off. */
const UNSEEN = {
  ...PENDING,
  status: "failed",
  reason: "The version was deployed while no render engine was on.",
} as const;

function shown({ version_id, status, reason, warnings, pictured, ...seen }: RenderBrief & RenderSeen) {
  const { console, failed_requests, dom_summary } = seen;
  return {
    status,
    ...(reason !== null && { reason }),
    ...(pictured && { screenshot_key: version_id }),
    console,
    failed_requests,
    dom_summary,
    warnings,
  };
}

/** `render` of a deploy's result. */
export async function renderOf(parts: RenderParts, site: Pick<Site, "site_id">, version_id: string) {
  const render = isOn(parts) ? await parts.store.renders.of(site.site_id, version_id) : null;
  return render === null ? PENDING : shown(render);
}

const briefly = (render: RenderBrief | undefined) =>
  render === undefined ? { status: UNSEEN.status, warnings: [] } : { status: render.status, warnings: render.warnings };

/** The renders in the record of a site: everything about the live version, and the warnings of the listed ones. */
export async function rendersOf(
  parts: RenderParts,
  site: Pick<Site, "site_id" | "live_version_id">,
  versions: readonly Pick<Version, "version_id">[],
) {
  if (!isOn(parts)) return null;
  const [live, all] = await Promise.all([
    parts.store.renders.of(site.site_id, site.live_version_id),
    parts.store.renders.ofVersions(
      site.site_id,
      versions.map(({ version_id }) => version_id),
    ),
  ]);
  const render = { version_id: site.live_version_id, ...(live === null ? { ...UNSEEN, warnings: [] } : shown(live)) };
  return { render, ofVersion: (version_id: string) => briefly(all.get(version_id)) };
}

/** A picture never changes under its address, but who may see it does. */
const HEADERS = {
  ...KEPT_HEADERS,
  "content-type": "image/webp",
  "cache-control": "private, max-age=3600",
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "same-origin",
};

const noPicture = (): Refusal =>
  new Refusal(
    "not_found",
    "There is no screenshot of this version: the render engine has not looked at it, or could not.",
  );

/** `GET /sites/:id/screenshots/:version_id`, `?size=phone`. */
export async function readScreenshot({ params, query, parts, exchange, site }: SiteCtx): Promise<Response> {
  const { store } = parts;
  const size = query.get("size") ?? "desktop";
  if (size !== "desktop" && size !== "phone") {
    throw new Refusal("invalid_input", "`size` must be desktop or phone.");
  }
  if ((await store.versions.get(site.site_id, params.version_id!)) === null) throw refusals.unknownVersion();
  const picture = await store.renders.picture(site.site_id, params.version_id!, size);
  if (picture === null) throw noPicture();
  const bytes = await store.blobs.read(picture);
  exchange.bytes = bytes.length;
  const { request_id } = exchange;
  return new Response(bytes, { headers: { ...HEADERS, "x-request-id": request_id, etag: `"${picture.sha256}"` } });
}
