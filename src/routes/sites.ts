/** Sites as their keepers read and change them: the record, what is live, settings and previews (CONTRACT 4.4, BEYOND 0 and
 *  7). Previews are made in deploys/preview.ts. */
import { Refusal } from "../base/errors.ts";
import { effectiveSpa, siteState } from "../base/site-state.ts";
import type { Site, Version } from "../base/types.ts";
import type { Config } from "../config/index.ts";
import { readJson } from "../http/body.ts";
import { siteUrl, urlBeside } from "../http/hosts.ts";
import type { SitePlace } from "../store/account-sites.ts";
import type { SiteSettingsChange } from "../store/ownership.ts";
import type { Store } from "../store/index.ts";
import type { ListedPreview, NamedPreview, PromotedPreview } from "../store/previews.ts";
import { refusals, refuseUnlessWritable } from "../store/refusals.ts";
import type { Admitted } from "./caller.ts";
import type { ApiParts, Ctx, SiteCtx, ApiHandlers } from "./context.ts";
import { renderKey } from "./deploys/request.ts";
import { noteChange } from "./deploys/facts.ts";
import { rendersOf } from "./renders.ts";
import { carryComments } from "./versions.ts";

/** `GET /sites/:id?limit=&before=`. */
async function readSite({ site, query, parts }: SiteCtx) {
  return readRecord(parts, site, { limit: limitOf(query), before: query.get("before") });
}

type VersionsPage = Parameters<Store["versions"]["list"]>[1];
type SiteRecord = ReturnType<typeof siteRecord> & { more?: true };

/** The site with a page of its versions. */
export async function readRecord(
  parts: ApiParts,
  site: Site,
  page: VersionsPage = { limit: PAGE, before: null },
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
  if (again === null) throw refusals.unknownSite();
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

/** `DELETE /sites/:id/manage-tokens`: all manage_tokens of the site end. A manage_token itself may not do this. */
async function revokeTokens({ site, by, parts }: Ctx & Admitted<{ owner: null }>) {
  return { ok: true, revoked: await parts.store.ownership.revokeTokens(site.site_id, by) };
}

/** Entries of one page of a list, newest first: the default and the most (CONTRACT 4.4). */
export const PAGE = 1000;

const invalid = (field: string, must: string): Refusal =>
  new Refusal("invalid_input", `The parameter ${field} must be ${must}.`, { field });

export function limitOf(query: URLSearchParams): number {
  const text = query.get("limit");
  if (text === null) return PAGE;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > PAGE) throw invalid("limit", `a number from 1 to ${PAGE}`);
  return limit;
}

/** A place in an account's list: it stays valid when sites come and go. */
export const cursorAt = ({ created_at, site_id }: SitePlace): string =>
  Buffer.from(`${created_at} ${site_id}`).toString("base64url");

export function cursorOf(query: URLSearchParams): SitePlace | null {
  const text = query.get("cursor");
  if (text === null) return null;
  const read = Buffer.from(text, "base64url").toString();
  const [, created_at, site_id] = /^(\d{4}-[\d:.TZ-]{1,30}) (site_[0-9a-z]{1,40})$/.exec(read) ?? [];
  if (created_at === undefined || site_id === undefined) throw invalid("cursor", "what a list's answer gave as cursor");
  return { created_at, site_id };
}

async function settingsOf({ store }: ApiParts, { site_id, skew, stats, access_hash }: Site) {
  const domains = await store.domains.list(site_id);
  const previews = await store.ownership.countPreviews(site_id);
  return {
    skew: skew === 1,
    stats: stats === 1,
    password: access_hash !== null,
    primary_domain: domains.find(({ is_primary }) => is_primary === 1)?.domain ?? null,
    domains: domains.length,
    previews,
  };
}

/** `GET /sites/:id/settings`. */
async function readSettings({ site, parts }: SiteCtx) {
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
async function changeSettings({ request, parts, site, by }: SiteCtx) {
  refuseUnlessWritable(site, parts.now());
  const body = await readJson(request);
  const change: SiteSettingsChange = Object.assign({}, ...FIELDS.map((field) => memberOf(body, field)));
  if (Object.keys(change).length === 0) {
    throw new Refusal("invalid_input", 'Send what is to change: "skew", "stats" or both.');
  }
  return settingsOf(parts, await parts.store.ownership.changeSettings(site.site_id, change, by));
}

/** `GET /sites/:id/previews`: newest first. */
async function listPreviews({ parts, site }: SiteCtx) {
  const previews = await parts.store.previews.list(site.site_id);
  const shown = ({ name, version_id, title, created_at, expires_at }: ListedPreview) => {
    const version_url = urlBeside(parts.config, version_id, site.slug);
    const url = name === null ? version_url : urlBeside(parts.config, name, site.slug);
    return { name, url, version_url, version_id, title, created_at, expires_at };
  };
  return { previews: previews.map(shown) };
}

/** `DELETE /sites/:id/previews/:name`, or its version_id. A manage_token may not do this: a credential that may only
 *  deploy takes no page away from its readers. */
async function endPreview({ params, parts, site, by }: SiteCtx) {
  refuseUnlessWritable(site, parts.now());
  await parts.store.previews.end({ site_id: site.site_id, by, preview: params.name! });
  return { ok: true };
}

/** Makes exactly its bytes live; the passages of comments go along as with a rollback. */
export async function makePreviewLive(ctx: Ctx, preview: NamedPreview): Promise<PromotedPreview> {
  const { parts, client_address } = ctx;
  const { keep_versions } = parts.config;
  const promoted = await parts.store.previews.promote({ ...preview, keep_versions, renders: renderKey(ctx) });
  const { site, version_id, previous_version_id } = promoted;
  noteChange(ctx.exchange, ctx.caller, { event: "promote", site, from: previous_version_id, version_id });
  if (previous_version_id !== version_id) await carryComments(parts, site, client_address());
  return promoted;
}

/** `POST /sites/:id/previews/:name/promote`. */
async function promotePreview(ctx: SiteCtx) {
  const { params, parts, site, by } = ctx;
  refuseUnlessWritable(site, parts.now());
  const { site_id, slug } = site;
  const { version_id, previous_version_id } = await makePreviewLive(ctx, { site_id, by, preview: params.name! });
  return { ok: true, site_id, url: siteUrl(parts.config, slug), version_id, previous_version_id };
}

/** The rows of the API that this file answers. */
export const SITE_HANDLERS = {
  "GET /sites/:id/previews": listPreviews,
  "DELETE /sites/:id/previews/:name": endPreview,
  "POST /sites/:id/previews/:name/promote": promotePreview,
  "GET /sites/:id": readSite,
  "GET /sites/:id/settings": readSettings,
  "PATCH /sites/:id/settings": changeSettings,
  "DELETE /sites/:id/manage-tokens": revokeTokens,
} satisfies Partial<ApiHandlers>;
