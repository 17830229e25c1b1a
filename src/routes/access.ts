/** `/sites/:id/access`: the password that a site's visitors need (BEYOND 8). */
import type { Site } from "../base/types.ts";
import { readJson, stringMember } from "../http/body.ts";
import { hashSitePassword } from "../http/passwords.ts";
import type { WriteBy } from "../store/permission.ts";
import { refuseUnlessThere, refuseUnlessWritable } from "../store/refusals.ts";
import type { ApiHandlers, ApiParts, SiteCtx } from "./context.ts";

const LONGEST_SENT = 1024;

const accessOf = ({ access_set_at: set_at }: Site) =>
  ({ mode: set_at === null ? "public" : "password", set_at }) as const;

/** Throws `invalid_input` for a password that is too short or too long. Used by the page of the settings, too. */
export async function setPassword({ store, now }: ApiParts, site: Site, by: WriteBy, password: string): Promise<Site> {
  refuseUnlessThere(site, now());
  const { site_id } = site;
  return store.ownership.setAccess({ site_id, by, hash: await hashSitePassword(password, site_id) });
}

export async function removePassword({ store, now }: ApiParts, site: Site, by: WriteBy): Promise<Site> {
  refuseUnlessWritable(site, now());
  return store.ownership.setAccess({ site_id: site.site_id, by, hash: null });
}

const readAccess = async ({ site }: SiteCtx) => accessOf(site);

async function putAccess({ request, parts, site, by }: SiteCtx) {
  const password = stringMember(await readJson(request), "password", LONGEST_SENT);
  return accessOf(await setPassword(parts, site, by, password));
}

async function deleteAccess({ parts, site, by }: SiteCtx) {
  await removePassword(parts, site, by);
  return { mode: "public" } as const;
}

/** The rows of the API that this file answers. */
export const ACCESS_HANDLERS = {
  "GET /sites/:id/access": readAccess,
  "PUT /sites/:id/access": putAccess,
  "DELETE /sites/:id/access": deleteAccess,
} satisfies Partial<ApiHandlers>;
