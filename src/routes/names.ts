/** A site's names: the one that its owner chose, and domains of their own beside it (BEYOND 17 and 10). */
import { brandNames } from "../base/brand-list.ts";
import { domainName, faultOfDomain } from "../base/domain-names.ts";
import { Refusal } from "../base/errors.ts";
import { faultOfName } from "../base/slugs.ts";
import type { Site } from "../base/types.ts";
import { visible } from "../base/visible.ts";
import { answerJson } from "../http/answers.ts";
import { readJson, stringMember } from "../http/body.ts";
import type { Domain, DomainChange } from "../store/domains.ts";
import { readBrands } from "../store/index.ts";
import { refuseUnlessWritable } from "../store/refusals.ts";
import type { Admitted, SignedInCaller } from "./caller.ts";
import type { AccountCtx, ApiHandlers, ApiParts, Ctx } from "./context.ts";
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

const LONGEST_SLUG_SENT = 200;

async function putSlug(ctx: Ctx & Admitted<{ owner: null }>) {
  const slug = stringMember(await readJson(ctx.request), "slug", LONGEST_SLUG_SENT);
  return readRecord(ctx.parts, await renameSite(ctx, ctx.site, slug, ctx.by));
}

type DomainCtx = Ctx & Admitted<{ claimed: true }>;
type Counting = Pick<Ctx, "parts" | "headers">;

const LONGEST_SENT = 1024;
const MOST_LISTED = 1000;

// Domains beside it (BEYOND 10).

const domainOf = (row: Domain, records: ReturnType<ApiParts["domains"]["recordsFor"]>) => ({
  domain: row.domain,
  state: row.state,
  primary: row.is_primary === 1,
  hsts: row.hsts === 1,
  records,
  verified_at: row.verified_at,
  checked_at: row.checked_at,
  tls: { state: row.tls_state ?? ("none" as const), expires_at: row.tls_expires_at, error: row.tls_error },
});

const shown = ({ domains }: Pick<ApiParts, "domains">, site: Site, row: Domain) =>
  domainOf(row, domains.recordsFor(row.domain, site));

/** Throws `invalid_domain`. */
function nameIn(written: string, { config }: ApiParts): string {
  const domain = domainName(written);
  const fault =
    domain === null
      ? `${JSON.stringify(visible(written).slice(0, 100))} is no name of a domain: write it as in the address bar, such as www.example.org, without scheme, port or path.`
      : faultOfDomain(domain, config);
  if (domain !== null && fault === null) return domain;
  throw new Refusal("invalid_domain", fault!, { field: "domain" });
}

/** Empty for what cannot be read. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** Throws 404 for what is no name: no site has it. */
const named = ({ params }: Pick<Ctx, "params">): string => {
  const domain = domainName(decoded(params.domain!));
  if (domain !== null) return domain;
  throw new Refusal("not_found", "This site has no such domain: name it as in the list of its domains.");
};

async function counted({ parts, headers }: Counting, by: SignedInCaller): Promise<void> {
  Object.assign(headers, (await parts.limit("rate_domain", by.account_id)).headers);
}

/** One that the site has already is answered without a look at the DNS. Used by the page of the domains, too. */
export async function addDomain(ctx: Counting, site: Site, written: string, by: SignedInCaller) {
  const { parts } = ctx;
  const domain = nameIn(written, parts);
  refuseUnlessWritable(site, parts.now());
  const there = (await parts.store.domains.list(site.site_id)).find((one) => one.domain === domain);
  if (there !== undefined) return { domain: there, added: false };
  await counted(ctx, by);
  return parts.domains.add(domain, site, by);
}

export async function verifyDomain(ctx: Counting, site: Site, domain: string, by: SignedInCaller): Promise<Domain> {
  const { parts } = ctx;
  refuseUnlessWritable(site, parts.now());
  await parts.store.domains.of(site.site_id, domain);
  await counted(ctx, by);
  return parts.domains.verify(domain, site, by);
}

export const listDomains = async (parts: ApiParts, site: Site) =>
  (await parts.store.domains.list(site.site_id)).map((row) => shown(parts, site, row));

async function postDomain(ctx: DomainCtx) {
  const { request, parts, site, by, exchange } = ctx;
  const written = stringMember(await readJson(request), "domain", LONGEST_SENT);
  const { domain, added } = await addDomain(ctx, site, written, by);
  return answerJson(shown(parts, site, domain), exchange, added ? 201 : 200);
}

async function postVerify(ctx: DomainCtx) {
  const { parts, site, by } = ctx;
  return shown(parts, site, await verifyDomain(ctx, site, named(ctx), by));
}

function changeIn(body: Readonly<Record<string, unknown>>): DomainChange {
  const wanted: DomainChange = {};
  for (const field of ["primary", "hsts"] as const) {
    const value = Object.hasOwn(body, field) ? body[field] : undefined;
    if (value === undefined) continue;
    if (typeof value !== "boolean") {
      throw new Refusal("invalid_input", `The member "${field}" must be true or false.`, { field });
    }
    wanted[field] = value;
  }
  if (Object.keys(wanted).length > 0) return wanted;
  throw new Refusal("invalid_input", 'Give "primary" or "hsts", each true or false.');
}

async function patchDomain(ctx: DomainCtx) {
  const { request, parts, site, by } = ctx;
  const wanted = changeIn(await readJson(request));
  const { site_id } = site;
  const { domain } = await parts.store.domains.set({ site_id, domain: named(ctx), by }, wanted);
  return shown(parts, site, domain);
}

async function deleteDomain(ctx: DomainCtx) {
  const { parts, site, by } = ctx;
  await parts.store.domains.remove({ site_id: site.site_id, domain: named(ctx), by });
  return { ok: true } as const;
}

/** `GET /account/domains`. */
async function listOfAccount({ caller, parts }: AccountCtx) {
  const rows = await parts.store.domains.ofAccount(caller.account_id);
  const domains = rows.slice(0, MOST_LISTED).map((row) => ({
    site_id: row.site_id,
    ...domainOf(row, parts.domains.recordsFor(row.domain, row)),
  }));
  return { domains, ...(rows.length > MOST_LISTED && { more: true }) };
}

/** The rows of the API that this file answers. */
export const NAME_HANDLERS = {
  "PUT /sites/:id/slug": putSlug,
  "POST /sites/:id/domains": postDomain,
  "GET /sites/:id/domains": async ({ parts, site }: DomainCtx) => ({ domains: await listDomains(parts, site) }),
  "POST /sites/:id/domains/:domain/verify": postVerify,
  "PATCH /sites/:id/domains/:domain": patchDomain,
  "DELETE /sites/:id/domains/:domain": deleteDomain,
  "GET /account/domains": listOfAccount,
} satisfies Partial<ApiHandlers>;
