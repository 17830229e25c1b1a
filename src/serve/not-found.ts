/** A 404 with the site's own 404.html as its body: no validator, never cached, but with the same codings and tags. */
import { API_DATE, type Exchange } from "../http.ts";
import type { ManifestFile } from "../types.ts";
import type { Bodies } from "./bodies.ts";
import type { LoadedVersion } from "./manifests.ts";
import { acceptedCodings, IDENTITY_ONLY } from "./negotiate.ts";
import { type Policy, robotsHeader } from "./policy.ts";

export async function ownNotFound(
  bodies: Bodies,
  request: Request,
  version: LoadedVersion,
  page: ManifestFile,
  policy: Policy,
  exchange: Exchange,
): Promise<Response> {
  const body = bodies.of(version, page);
  const accepted = body.coded ? acceptedCodings(request.headers.get("accept-encoding")) : IDENTITY_ONLY;
  const form = bodies.ready(body, accepted) ?? (await bodies.best(body, accepted));
  const blob = form.blob ?? new Blob([await body.read()]);
  if (request.method === "GET") exchange.bytes = blob.size;
  return new Response(blob, {
    status: 404,
    headers: {
      "content-type": page.media_type,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-request-id": exchange.request_id,
      "svc-version": API_DATE,
      ...(form.coding === "identity" ? {} : { "content-encoding": form.coding }),
      ...(body.coded ? { vary: "Accept-Encoding" } : {}),
      ...robotsHeader(policy),
    },
  });
}
