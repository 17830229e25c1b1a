/** `POST /sites` and `POST /sites/:id/deploys`: bytes in, a live version out (CONTRACT 4.3). Who may deploy and what
 *  is answered is decided here; the work itself is that of src/deploy/, and src/cli/commands/deploy.ts is one who asks. */
import type { Deployed } from "../deploy/job.ts";
import type { NextAction } from "../errors.ts";
import { refuseUnlessWritable } from "../store/refusals.ts";
import { hashToken, newSiteId, newToken } from "../tokens.ts";
import { newSlugs } from "../slugs.ts";
import type { SiteContext } from "../types.ts";
import { networkOf } from "../http/client-address.ts";
import { managedSite, ownerToBe } from "./caller.ts";
import { refuseUnproved } from "./challenge.ts";
import { noteDeployed, noteSite } from "./deploy-facts.ts";
import { idempotencyKey, readUpload, spaSetting } from "./deploy-request.ts";
import { dryRun, isDryRun } from "./dry-run.ts";
import { limitClient } from "../http/rate-limit.ts";
import { siteUrl } from "../http/hosts.ts";
import type { Ctx } from "./context.ts";

/** A new site: the account's, or an anonymous one that expires. */
export async function createSite(ctx: Ctx) {
  const { request, query, caller, parts, client_address } = ctx;
  const owner = ownerToBe(caller);
  if (!owner) {
    await limitClient(ctx, "rate_deploy");
    await refuseUnproved(ctx);
  }
  const spa_override = spaSetting(query);
  const rehearsal = isDryRun(query);
  const key_hash = owner ? null : idempotencyKey(request);
  const zip = await readUpload(ctx);
  const site = siteContext(parts, { slug: null, anonymous: !owner });
  if (rehearsal) return dryRun(parts, { zip, site, against: null }, spa_override ?? null);
  const manage_token = newToken("svc_manage_");
  const claim_token = owner ? undefined : newToken("svc_claim_");
  const deployed = await parts.pool.deploy({
    zip,
    site,
    spa_override,
    tokens: [
      { hash: hashToken(manage_token), kind: "manage" },
      ...(claim_token ? [{ hash: hashToken(claim_token), kind: "claim" as const }] : []),
    ],
    target: {
      kind: "new",
      site_id: newSiteId(),
      slugs: newSlugs(),
      owner,
      expires_at: owner ? null : parts.now() + parts.config.anonymous_ttl,
      idempotency: key_hash === null ? null : { key_hash, address: networkOf(client_address()) },
    },
  });
  parts.published(deployed.site.site_id, deployed.version_id);
  return deployResult(ctx, deployed, { manage_token, ...(claim_token && { claim_token }) });
}

/** A new version of a site, or one of its versions again, or no change at all. */
export async function redeploy(ctx: Ctx) {
  const { query, caller, parts, params, token } = ctx;
  const { site, by } = await managedSite(caller, params.id!, parts.store, parts.now());
  noteSite(ctx.exchange, site);
  refuseUnlessWritable(site, parts.now());
  const spa_override = spaSetting(query);
  const rehearsal = isDryRun(query);
  const zip = await readUpload(ctx);
  const { site_id, slug, live_version_id } = site;
  const context = siteContext(parts, { slug, anonymous: site.owner_account_id === null });
  if (rehearsal) {
    const against = { site_id, version_id: live_version_id };
    const setting = spa_override === undefined ? site.spa_override : spa_override;
    return dryRun(parts, { zip, site: context, against }, setting);
  }
  // A session has no manage_token to give back: it gets a fresh one, and the site keeps its newest twenty.
  const fresh = caller.kind === "account" ? newToken("svc_manage_") : null;
  const deployed = await parts.pool.deploy({
    zip,
    site: context,
    spa_override,
    tokens: fresh ? [{ hash: hashToken(fresh), kind: "manage" }] : [],
    target: { kind: "existing", site_id, by },
  });
  parts.published(site_id, deployed.version_id);
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
