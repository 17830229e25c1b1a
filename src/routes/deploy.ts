/** `POST /sites` and `POST /sites/:id/deploys`: bytes in, a live version out (CONTRACT 4.3). Who may deploy and what
 *  is answered is decided here; the work itself is that of src/deploy/, and src/cli/commands/deploy.ts is one who asks. */
import type { Deployed } from "../deploy/job.ts";
import type { NextAction } from "../errors.ts";
import { refuseUnlessWritable } from "../store/refusals.ts";
import { hashToken, newSiteId, newToken } from "../tokens.ts";
import { newSlugs } from "../slugs.ts";
import type { NewToken } from "../store/changes.ts";
import type { SiteContext, TokenKind } from "../types.ts";
import { customerOf, networkOf } from "../http/client-address.ts";
import { managedSite, ownerToBe, type SignedInCaller } from "./caller.ts";
import { refuseUnproved } from "./challenge.ts";
import { noteDeployed, noteSite } from "./deploy-facts.ts";
import { boundsOf, idempotencyKey, networkKey, readUpload, spaSetting } from "./deploy-request.ts";
import { dryRun, isDryRun } from "./dry-run.ts";
import { limitAccount, limitClient } from "../http/rate-limit.ts";
import { siteUrl } from "../http/hosts.ts";
import type { Ctx } from "./context.ts";

async function countNewSite(ctx: Ctx, owner: SignedInCaller | null): Promise<void> {
  if (owner !== null) return limitAccount(ctx, owner.account_id);
  await limitClient(ctx, "rate_deploy");
  await refuseUnproved(ctx);
}

const tokenOf = (kind: TokenKind, token: string): NewToken => ({ hash: hashToken(token), kind });

/** What a dry run of a new site is counted for. */
const newSiteOf = (owner: SignedInCaller | null, network: string | null) => ({
  site_id: "",
  site_no: 0,
  owner_account_id: owner?.account_id ?? null,
  network,
});

/** Who takes turns at the slots. */
const whereFrom = (address: string) => ({ customer: customerOf(address), network: networkOf(address) });

/** A new site: the account's, or an anonymous one that expires. */
export async function createSite(ctx: Ctx) {
  const { request, query, caller, parts, client_address } = ctx;
  const owner = ownerToBe(caller);
  await countNewSite(ctx, owner);
  const spa_override = spaSetting(query);
  const rehearsal = isDryRun(query);
  const key_hash = owner ? null : idempotencyKey(request);
  const zip = await readUpload(ctx, owner !== null);
  const from = whereFrom(client_address());
  const site = siteContext(parts, { slug: null, anonymous: !owner });
  const bounds = boundsOf(parts.config);
  const counted_for = owner ? null : networkKey(ctx);
  if (rehearsal) {
    const charged = newSiteOf(owner, counted_for);
    return dryRun(parts, { zip, ...from, site, against: null, charged, bounds }, spa_override ?? null);
  }
  const manage_token = newToken("svc_manage_");
  const claim_token = owner ? undefined : newToken("svc_claim_");
  const deployed = await parts.pool.deploy({
    zip,
    ...from,
    site,
    spa_override,
    tokens: [tokenOf("manage", manage_token), ...(claim_token ? [tokenOf("claim", claim_token)] : [])],
    bounds,
    target: {
      kind: "new",
      site_id: newSiteId(),
      slugs: newSlugs(),
      owner,
      expires_at: owner ? null : parts.now() + parts.config.anonymous_ttl,
      network: counted_for,
      idempotency: key_hash === null ? null : { key_hash, address: from.network },
    },
  });
  parts.published(deployed.site, deployed.version_id);
  return deployResult(ctx, deployed, { manage_token, ...(claim_token && { claim_token }) });
}

/** A new version of a site, or one of its versions again, or no change at all. */
export async function redeploy(ctx: Ctx) {
  const { query, caller, parts, params, token, client_address } = ctx;
  const { site, by } = await managedSite(caller, params.id!, parts.store, parts.now());
  noteSite(ctx.exchange, site);
  const owner_account_id = site.owner_account_id;
  if (owner_account_id === null) await limitClient(ctx, "rate_redeploy");
  else await limitAccount(ctx, owner_account_id);
  refuseUnlessWritable(site, parts.now());
  const spa_override = spaSetting(query);
  const rehearsal = isDryRun(query);
  const zip = await readUpload(ctx, owner_account_id !== null);
  const { site_id, slug, live_version_id } = site;
  const context = siteContext(parts, { slug, anonymous: owner_account_id === null });
  const from = whereFrom(client_address());
  if (rehearsal) {
    const against = { site_id, version_id: live_version_id };
    const bounds = boundsOf(parts.config);
    const setting = spa_override === undefined ? site.spa_override : spa_override;
    return dryRun(parts, { zip, ...from, site: context, against, charged: site, bounds }, setting);
  }
  // A session has no manage_token to give back: it gets a fresh one, and the site keeps its newest twenty.
  const fresh = caller.kind === "account" ? newToken("svc_manage_") : null;
  const deployed = await parts.pool.deploy({
    zip,
    ...from,
    site: context,
    spa_override,
    tokens: fresh ? [tokenOf("manage", fresh)] : [],
    bounds: boundsOf(parts.config),
    target: { kind: "existing", site_id, by },
  });
  parts.published(deployed.site, deployed.version_id);
  return deployResult(ctx, deployed, { manage_token: fresh ?? token! });
}

/** What the upload is judged with beside its files. */
const siteContext = ({ config }: Ctx["parts"], site: Pick<SiteContext, "slug" | "anonymous">) => ({
  sites_domain: config.sites_domain,
  contact: config.contact,
  ...site,
});

function deployResult(
  { parts, exchange }: Ctx,
  deployed: Deployed,
  tokens: { manage_token: string; claim_token?: string },
) {
  noteDeployed(exchange, deployed);
  const { site, version_id, healed, warnings } = deployed;
  const { base_url } = parts.config;
  const { site_id, slug, expires_at, owner_account_id } = site;
  const claim_url = tokens.claim_token && `${base_url}/claim/${site_id}#${tokens.claim_token}`;
  return {
    url: siteUrl(parts.config, slug),
    site_id,
    slug,
    version_id,
    expires_at,
    ...tokens,
    ...(claim_url && { claim_url }),
    ...(owner_account_id !== null && { owner_account_id }),
    next_actions: nextActions(base_url, site_id, claim_url),
    healed,
    warnings,
    render: { status: "pending", console: [], failed_requests: [], dom_summary: null },
  };
}

function nextActions(base_url: string, site_id: string, claim_url: string | undefined): NextAction[] {
  const update = {
    action: "update",
    description: "Change files and deploy again: the URL stays, the old version is kept.",
    command: `svc update --site ${site_id}`,
    method: "POST",
    url: `${base_url}/sites/${site_id}/deploys`,
  };
  const rollback = {
    action: "rollback",
    description: "Make an earlier version live again.",
    command: `svc rollback --site ${site_id}`,
    method: "POST",
    url: `${base_url}/sites/${site_id}/rollback`,
    when: "the site has more than one version",
  };
  const claim = claim_url && {
    action: "claim",
    description: "Attach the site to an account, so that it does not expire.",
    url: claim_url,
    when: "before expires_at",
  };
  return claim ? [claim, update, rollback] : [update, rollback];
}
