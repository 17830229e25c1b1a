/** `PUT /sites/:id/slug`: a site gets the name that its owner chose (BEYOND 17). */
import { brandNames } from "../base/brand-list.ts";
import { Refusal } from "../base/errors.ts";
import { faultOfName } from "../base/slugs.ts";
import type { Site } from "../base/types.ts";
import { readJson, stringMember } from "../http/body.ts";
import { readBrands } from "../store/index.ts";
import { refuseUnlessWritable } from "../store/refusals.ts";
import type { Admitted, SignedInCaller } from "./caller.ts";
import type { ApiHandlers, ApiParts, Ctx } from "./context.ts";
import { readRecord } from "./sites.ts";

function refuseUnfit(slug: string, { config }: ApiParts): void {
  const fault = faultOfName(slug, { ...config, brands: brandNames(readBrands(config.data_dir)) });
  if (fault !== null) throw new Refusal("invalid_slug", fault.message, { field: "slug", rule: fault.rule });
}

/** The site under its new name. A former name of its own is taken back whatever its form is, for the server drew the first one.
 *  A change that does not take place is not counted. Used by the page of the settings, too. */
export async function renameSite(
  { parts, headers }: Pick<Ctx, "parts" | "headers">,
  site: Site,
  slug: string,
  by: SignedInCaller,
): Promise<Site> {
  const { names } = parts.store;
  const { site_id } = site;
  refuseUnlessWritable(site, parts.now());
  const is = await names.standing(site_id, slug);
  if (is === "present") return site;
  if (is !== "own") refuseUnfit(slug, parts);
  await names.admit({ site_id, slug, by });
  const counted = await parts.limit("rate_slug", by.account_id);
  Object.assign(headers, counted.headers);
  try {
    const renamed = await names.rename({ site_id, slug, by });
    if (!renamed.changed) await counted.undo();
    return renamed.site;
  } catch (error) {
    await counted.undo();
    throw error;
  }
}

const LONGEST_SENT = 200;

async function putSlug(ctx: Ctx & Admitted<{ owner: null }>) {
  const slug = stringMember(await readJson(ctx.request), "slug", LONGEST_SENT);
  return readRecord(ctx.parts, await renameSite(ctx, ctx.site, slug, ctx.by));
}

/** The row of the API that this file answers. */
export const NAME_HANDLERS = { "PUT /sites/:id/slug": putSlug } satisfies Partial<ApiHandlers>;
