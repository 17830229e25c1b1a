/** `POST /sites` and `POST /sites/:id/deploys`: bytes in, a live version out (CONTRACT 4.3). Who may deploy and what
 *  is answered is decided here; the work itself is that of src/deploy/, and src/cli/commands/deploy.ts is one who asks. */
import type { Deployed, UploadBody } from "../../deploy/job.ts";
import { refuseUnlessWritable } from "../../store/refusals.ts";
import { hashToken, newSiteId, newSlugs, newToken } from "../../base/tokens.ts";
import type { NewToken } from "../../store/sites.ts";
import type { Site, SiteContext, TokenKind } from "../../base/types.ts";
import { customerOf, networkOf } from "../../http/context.ts";
import { refuseForeignOrigin } from "../../http/csrf.ts";
import { type Admitted, managedSite, ownerToBe } from "../caller.ts";
import { refuseUnproved } from "../challenge.ts";
import { noteDeployed, noteSite } from "./facts.ts";
import { boundsOf, idempotencyKey, networkKey, readUpload, readUploadForm, spaSetting } from "./request.ts";
import { dryRun, isDryRun } from "./dry-run.ts";
import { renderOf } from "../renders.ts";
import { nextActions, reviewComments } from "./next-actions.ts";
import { limitAccount, limitClient } from "../../http/rate-limit.ts";
import { siteUrl } from "../../http/hosts.ts";
import type { Ctx, SiteCtx } from "../context.ts";

type Owner = Admitted<"anyone">["owner"];

async function countNewSite(ctx: Ctx, owner: Owner): Promise<void> {
  if (owner !== null) return limitAccount(ctx, owner.account_id);
  // Before it is counted: else any page would use up the deploys of its visitor's network.
  refuseForeignOrigin(ctx);
  await limitClient(ctx, "rate_deploy");
  await refuseUnproved(ctx);
}

const tokenOf = (kind: TokenKind, token: string): NewToken => ({ hash: hashToken(token), kind });

/** What a dry run of a new site is counted for. */
const newSiteOf = (owner: Owner, network: string | null) => ({
  site_id: "",
  site_no: 0,
  owner_account_id: owner?.account_id ?? null,
  network,
});

/** Who takes turns at the slots. */
const whereFrom = (address: string) => ({ customer: customerOf(address), network: networkOf(address) });

interface NewSite extends UploadBody {
  key_hash: string | null;
  spa_override?: Site["spa_override"] | undefined;
}

/** `shown`: whoever asks is shown the tokens; an account that does not see them needs none. */
async function publishNew(ctx: Ctx, owner: Owner, made: NewSite, shown = true) {
  const { parts, caller, client_address } = ctx;
  const from = whereFrom(client_address());
  const fresh = shown && caller.kind !== "deploy" ? newToken("svc_manage_") : undefined;
  const claim_token = owner ? undefined : newToken("svc_claim_");
  const address = owner?.account_id ?? from.network;
  const deployed = await parts.pool.deploy({
    zip: made.zip,
    ...from,
    site: siteContext(parts, { slug: null, anonymous: !owner, spa_override: made.spa_override }),
    spa_override: made.spa_override,
    renders: parts.config.render !== "off",
    tokens: [...(fresh ? [tokenOf("manage", fresh)] : []), ...(claim_token ? [tokenOf("claim", claim_token)] : [])],
    bounds: boundsOf(parts.config),
    target: {
      kind: "new",
      site_id: newSiteId(),
      slugs: newSlugs(),
      owner,
      expires_at: owner ? null : parts.now() + parts.config.anonymous_ttl,
      network: owner ? null : networkKey(ctx),
      idempotency: made.key_hash === null ? null : { key_hash: made.key_hash, address },
    },
  });
  parts.published(deployed.site, deployed.version_id);
  noteDeployed(ctx.exchange, deployed);
  // CI never sees a token that outlives its own.
  const manage_token = caller.kind === "deploy" ? ctx.token! : fresh;
  return deployResult(ctx, deployed, { manage_token, claim_token });
}

/** A new site: the account's, or an anonymous one that expires. */
export async function createSite(ctx: Ctx & Admitted<"anyone">) {
  const { request, query, owner, parts, client_address } = ctx;
  await countNewSite(ctx, owner);
  const spa_override = spaSetting(query);
  const rehearsal = isDryRun(query);
  const key_hash = idempotencyKey(request.headers.get("idempotency-key"));
  const { zip } = await readUpload(ctx, owner !== null, null);
  if (!rehearsal) return publishNew(ctx, owner, { zip, key_hash, spa_override });
  const charged = newSiteOf(owner, owner ? null : networkKey(ctx));
  const site = siteContext(parts, { slug: null, anonymous: !owner, spa_override });
  const upload = { zip, ...whereFrom(client_address()), site };
  return dryRun(parts, { ...upload, against: null, charged, bounds: boundsOf(parts.config) }, spa_override ?? null);
}

/** `POST /`, the form of the start page: as `createSite`, the key in the field `key`. */
export async function createSiteByForm(ctx: Ctx) {
  refuseForeignOrigin(ctx);
  const owner = ownerToBe(ctx.caller);
  await countNewSite(ctx, owner);
  const { fields, zip } = await readUploadForm(ctx, owner !== null);
  return publishNew(ctx, owner, { zip, key_hash: idempotencyKey(fields.key ?? null) }, owner === null);
}

/** The site, unless it takes no deploy now: whether live or as a preview. */
export async function siteToUpdate(ctx: SiteCtx) {
  const { parts, exchange, site, by } = ctx;
  noteSite(exchange, site);
  if (site.owner_account_id === null) await limitClient(ctx, "rate_redeploy");
  else await limitAccount(ctx, site.owner_account_id);
  refuseUnlessWritable(site, parts.now());
  return { site, by, owned: site.owner_account_id !== null };
}

type Update = Awaited<ReturnType<typeof siteToUpdate>>;

/** What a version's upload is judged with and for. */
export const uploadFor = (
  { parts, client_address }: Ctx,
  { site, owned }: Update,
  { zip, joins = null, spa_override = site.spa_override }: Omit<NewSite, "key_hash">,
) => ({
  zip,
  joins,
  ...whereFrom(client_address()),
  site: siteContext(parts, { slug: site.slug, anonymous: !owned, spa_override }),
  bounds: boundsOf(parts.config),
});

async function publishVersion(
  ctx: Ctx,
  update: Update,
  upload: Omit<NewSite, "key_hash">,
  fresh: string | null,
): Promise<Deployed> {
  const { parts } = ctx;
  const deployed = await parts.pool.deploy({
    ...uploadFor(ctx, update, upload),
    spa_override: upload.spa_override,
    renders: parts.config.render !== "off",
    tokens: fresh ? [tokenOf("manage", fresh)] : [],
    target: { kind: "existing", site_id: update.site.site_id, by: update.by },
  });
  parts.published(deployed.site, deployed.version_id);
  noteDeployed(ctx.exchange, deployed);
  return deployed;
}

/** A new version of a site, or one of its versions again, or no change at all. */
export async function redeploy(ctx: SiteCtx) {
  const { query, caller, parts, token } = ctx;
  const update = await siteToUpdate(ctx);
  const { site, owned } = update;
  const spa_override = spaSetting(query);
  const rehearsal = isDryRun(query);
  const upload = { ...(await readUpload(ctx, owned, site.site_id)), spa_override };
  if (rehearsal) {
    const against = { site_id: site.site_id, version_id: site.live_version_id };
    const setting = spa_override === undefined ? site.spa_override : spa_override;
    return dryRun(parts, { ...uploadFor(ctx, update, upload), against, charged: site }, setting);
  }
  // A session has no manage_token to give back: it gets a fresh one, and the site keeps its newest twenty.
  const fresh = caller.kind === "account" ? newToken("svc_manage_") : null;
  const deployed = await publishVersion(ctx, update, upload, fresh);
  return deployResult(ctx, deployed, { manage_token: fresh ?? token! });
}

/** `POST /dashboard/sites/:id/deploys`, the form of a site's page: no token is shown there, so none is made. */
export async function redeployByForm(ctx: Ctx): Promise<Deployed> {
  const update = await siteToUpdate({ ...ctx, ...(await managedSite(ctx, "deploy")) });
  const { zip } = await readUploadForm(ctx, update.owned);
  return publishVersion(ctx, update, { zip }, null);
}

/** What the upload is judged with beside its files. */
const siteContext = ({ config }: Ctx["parts"], site: Pick<SiteContext, "slug" | "anonymous" | "spa_override">) => ({
  sites_domain: config.sites_domain,
  contact: config.contact,
  ...site,
});

async function deployResult(
  { parts }: Ctx,
  deployed: Deployed,
  { manage_token, claim_token }: { manage_token: string | undefined; claim_token?: string | undefined },
) {
  const { site, version_id, healed, warnings } = deployed;
  const { base_url } = parts.config;
  const { site_id, slug, expires_at, owner_account_id } = site;
  const claim_url = claim_token && `${base_url}/claim/${site_id}#${claim_token}`;
  return {
    url: siteUrl(parts.config, slug),
    site_id,
    slug,
    version_id,
    expires_at,
    ...(manage_token && { manage_token }),
    ...(claim_token && { claim_token }),
    ...(claim_url && { claim_url }),
    ...(owner_account_id !== null && { owner_account_id }),
    next_actions: [...nextActions(base_url, site, claim_url), ...reviewComments(siteUrl(parts.config, slug), deployed)],
    healed,
    warnings,
    render: await renderOf(parts, site, version_id),
  };
}
