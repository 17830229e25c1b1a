/** The settings of a site (BEYOND 0). */
import { Refusal } from "../base/errors.ts";
import { readJson } from "../http/body.ts";
import type { SiteSettingsChange } from "../store/ownership.ts";
import { refuseUnlessWritable } from "../store/refusals.ts";
import type { Site } from "../base/types.ts";
import type { ApiParts, SiteCtx } from "./context.ts";

/** What is not built yet is off. */
async function settingsOf({ store }: ApiParts, { site_id, skew, stats }: Site) {
  const previews = await store.ownership.countPreviews(site_id);
  return { skew: skew === 1, stats: stats === 1, password: false, primary_domain: null, domains: 0, previews };
}

/** `GET /sites/:id/settings`. */
export async function readSettings({ site, parts }: SiteCtx) {
  return settingsOf(parts, site);
}

type Field = keyof SiteSettingsChange;
const FIELDS: readonly Field[] = ["skew", "stats"];

function memberOf(body: Readonly<Record<string, unknown>>, field: Field): SiteSettingsChange {
  if (!Object.hasOwn(body, field)) return {};
  const value = body[field];
  if (typeof value === "boolean") return { [field]: value ? 1 : 0 };
  throw new Refusal("invalid_input", `The member "${field}" must be true or false.`, { field });
}

/** `PATCH /sites/:id/settings`. */
export async function changeSettings({ request, parts, site, by }: SiteCtx) {
  refuseUnlessWritable(site, parts.now());
  const body = await readJson(request);
  const change: SiteSettingsChange = Object.assign({}, ...FIELDS.map((field) => memberOf(body, field)));
  if (Object.keys(change).length === 0) {
    throw new Refusal("invalid_input", 'Send what is to change: "skew", "stats" or both.');
  }
  return settingsOf(parts, await parts.store.ownership.changeSettings(site.site_id, change, by));
}
