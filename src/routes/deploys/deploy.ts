/** Handlers of deploys: uploads, plans, previews, dry runs and their results. `POST /sites` and `POST
 *  /sites/:id/deploys`: bytes in, a live version out (CONTRACT 4.3). Limits, rights to the upload and the order of
 *  refusals are decided here; the work itself is done by src/deploy. */
import { newSlugs } from "../../base/slugs.ts";
import { hashToken, newSiteId, newToken } from "../../base/tokens.ts";
import type { Site, SiteContext, TokenKind } from "../../base/types.ts";
import type { Deployed, UploadBody } from "../../deploy/job.ts";
import { customerOf, networkOf } from "../../http/context.ts";
import { refuseForeignOrigin } from "../../http/csrf.ts";
import { limitAccount, limitClient } from "../../http/rate-limit.ts";
import type { NewToken } from "../../store/sites.ts";
import { refuseUnlessWritable } from "../../store/refusals.ts";
import { accountRequired, type Admitted, managedSite, ownerToBe } from "../caller.ts";
import { refuseUnproved } from "../challenge.ts";
import type { Ctx, SiteCtx, ApiHandlers } from "../context.ts";
import { noteDeployed, noteSite } from "./facts.ts";
import { deployResult, dryRun, isDryRun } from "./result.ts";
import {
  boundsOf,
  idempotencyKey,
  networkKey,
  readPlan,
  readUpload,
  readUploadForm,
  renderKey,
  spaSetting,
} from "./request.ts";

type Owner = Admitted<"anyone">["owner"];

async function countNewSite(ctx: Ctx, owner: Owner): Promise<void> {
  if (owner !== null) return limitAccount(ctx, owner.account_id);
  if (ctx.parts.config.anonymous === "off") throw accountRequired(ctx.parts.config.signup);
  // Before it is counted: else any page would use up the deploys of its visitor's network.
  refuseForeignOrigin(ctx);
  await limitClient(ctx, "rate_deploy");
  await refuseUnproved(ctx);
}

const tokenOf = (kind: TokenKind, token: string): NewToken => ({ hash: hashToken(token), kind });

/** The owner or network whose quota a dry run of a new site is measured by. */
const newSiteOf = (owner: Owner, network: string | null) => ({
  site_id: "",
  site_no: 0,
  owner_account_id: owner?.account_id ?? null,
  network,
});

/** The origin of a client: slots are given to customers and networks in turn. */
const whereFrom = (address: string) => ({ customer: customerOf(address), network: networkOf(address) });

interface NewSite extends UploadBody {
  key_hash: string | null;
  spa_override?: Site["spa_override"] | undefined;
}

/** `shown`: the tokens appear in the answer; an account that does not see them gets none. */
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
    renders: renderKey(ctx),
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

/** `POST /sites`: a new site, the account's, or an anonymous one that expires. */
async function createSite(ctx: Ctx & Admitted<"anyone">) {
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
  return dryRun(ctx, { ...upload, against: null, charged, bounds: boundsOf(parts.config) }, spa_override ?? null);
}

/** `POST /`, the form of the start page: as `createSite`, with the key in the field `key`. */
export async function createSiteByForm(ctx: Ctx) {
  refuseForeignOrigin(ctx);
  const owner = ownerToBe(ctx.caller, ctx.parts.config.anonymous);
  await countNewSite(ctx, owner);
  const { fields, zip } = await readUploadForm(ctx, owner !== null);
  return publishNew(ctx, owner, { zip, key_hash: idempotencyKey(fields.key ?? null) }, owner === null);
}

/** The site, counted for its deploy or preview; throws if it takes none now. */
export async function siteToUpdate(ctx: SiteCtx) {
  const { parts, exchange, site, by } = ctx;
  noteSite(exchange, site);
  if (site.owner_account_id === null) await limitClient(ctx, "rate_redeploy");
  else await limitAccount(ctx, site.owner_account_id);
  refuseUnlessWritable(site, parts.now());
  return { site, by, owned: site.owner_account_id !== null };
}

type Update = Awaited<ReturnType<typeof siteToUpdate>>;

/** The upload of a version, with all that it is judged by. */
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
    renders: renderKey(ctx),
    tokens: fresh ? [tokenOf("manage", fresh)] : [],
    target: { kind: "existing", site_id: update.site.site_id, by: update.by },
  });
  parts.published(deployed.site, deployed.version_id);
  noteDeployed(ctx.exchange, deployed);
  return deployed;
}

/** `POST /sites/:id/deploys`: a new version of a site, or one of its versions again, or no change at all. */
async function redeploy(ctx: SiteCtx) {
  const { query, caller, parts, token } = ctx;
  const update = await siteToUpdate(ctx);
  const { site, owned } = update;
  const spa_override = spaSetting(query);
  const rehearsal = isDryRun(query);
  const upload = { ...(await readUpload(ctx, owned, site.site_id)), spa_override };
  if (rehearsal) {
    const against = { site_id: site.site_id, version_id: site.live_version_id };
    const setting = spa_override === undefined ? site.spa_override : spa_override;
    return dryRun(ctx, { ...uploadFor(ctx, update, upload), against, charged: site }, setting);
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

/** All that an upload is judged by apart from its files. */
const siteContext = ({ config }: Ctx["parts"], site: Pick<SiteContext, "slug" | "anonymous" | "spa_override">) => ({
  sites_domain: config.sites_domain,
  contact: config.contact,
  ...site,
});

/** `POST /sites/:id/plan` (BEYOND 6): which version an upload would be, and what of it the site lacks, so that a delta can
 *  leave out the rest. The list is read and judged in a deploy's process: it may be as long as a zip. */
async function planDeploy(ctx: SiteCtx) {
  const { site_id, owner_account_id } = ctx.site;
  if (owner_account_id === null) await limitClient(ctx, "rate_redeploy", "plan");
  else await limitAccount(ctx, owner_account_id, "plan");
  const list = await readPlan(ctx);
  return ctx.parts.pool.plan({ plan: { site_id }, list, ...whereFrom(ctx.client_address()) });
}

/** The rows of the API that this file answers. */
export const DEPLOY_HANDLERS = {
  "POST /sites": createSite,
  "POST /sites/:id/deploys": redeploy,
  "POST /sites/:id/plan": planDeploy,
} satisfies Partial<ApiHandlers>;
