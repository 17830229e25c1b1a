/** What an upload would be, and what of it the site lacks (BEYOND 6). Nothing is stored or held for it. */
import { planUpload } from "../pipeline/index.ts";
import type { Store } from "../store/index.ts";
import { refuseCollision, unknownSite } from "../store/refusals.ts";
import type { Limits } from "../base/types.ts";
import type { Planned } from "./job.ts";

interface Around {
  limits: Limits;
  store: Pick<Store, "sites" | "versions">;
}

export async function plan(list: Uint8Array, site_id: string, { limits, store }: Around): Promise<Planned> {
  const { version_id, digest, hashes } = planUpload(list, limits);
  const site = await store.sites.byId(site_id);
  if (site === null) throw unknownSite();
  const version = await store.versions.stored(site_id, version_id);
  refuseCollision(version?.digest, { version_id, digest });
  const stored = version !== null;
  const possessed = await store.versions.possessed(site_id, hashes);
  const need = hashes.filter((sha256) => !possessed.has(sha256));
  return { version_id, live: stored && site.live_version_id === version_id, stored, need };
}
