/** The answer to a deploy, and to a dry run of one: what was published, what can be done next (CONTRACT 4.3). */
import { type NextAction, Refusal } from "../../base/errors.ts";
import { effectiveSpa } from "../../base/site-state.ts";
import type { Site } from "../../base/types.ts";
import type { ReceiptFigures } from "../../base/receipt-figures.ts";
import { writeFigures } from "../../base/receipt-figures.ts";
import type { Deployed, RehearsalJob } from "../../deploy/job.ts";
import { siteUrl } from "../../http/hosts.ts";
import type { Ctx } from "../context.ts";
import { renderOf } from "../renders.ts";

/** Puts the header `Svc-Receipt` on the answer (BEYOND 15): bodies stay as they were. */
export function addFigures({ headers, exchange }: Ctx, figures: Omit<ReceiptFigures, "ms">): void {
  headers["svc-receipt"] = writeFigures({ ...figures, ms: exchange.elapsed_ms() });
}

export async function deployResult(
  ctx: Ctx,
  deployed: Deployed,
  { manage_token, claim_token }: { manage_token: string | undefined; claim_token?: string | undefined },
) {
  const { parts } = ctx;
  const { site, version_id, healed, warnings } = deployed;
  addFigures(ctx, deployed);
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

function nextActions(
  base_url: string,
  { site_id, comments_mode }: Pick<Site, "site_id" | "comments_mode">,
  claim_url: string | undefined,
): NextAction[] {
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
  return [...(claim ? [claim] : []), update, rollback, ...(comments_mode === "off" ? [enable(base_url, site_id)] : [])];
}

const enable = (base_url: string, site_id: string): NextAction => ({
  action: "enable_comments",
  description: "Let visitors pin comments to passages of the pages.",
  command: `svc comments enable --site ${site_id}`,
  method: "PATCH",
  url: `${base_url}/sites/${site_id}/comments/settings`,
});

const MOST_REVIEWED = 50;

/** The threads whose passages this deploy changed or took away. */
function reviewComments(url: string, { site, review }: Deployed): NextAction[] {
  if (review.length === 0) return [];
  const threads = review
    .toSorted((a, b) => Number(b.carried === "lost") - Number(a.carried === "lost"))
    .slice(0, MOST_REVIEWED)
    .map((thread) => ({ ...thread, url: `${url}${thread.page}#svc-${thread.id}` }));
  const passages = review.length === 1 ? "The passage of 1 comment" : `The passages of ${review.length} comments`;
  return [
    {
      action: "review_comments",
      description: `${passages} changed or went with this deploy. See whether they are settled.`,
      command: `svc comments list --site ${site.site_id}`,
      threads,
    },
  ];
}

/** Whether `?dry_run=1` is asked for. Any other value is refused: `dry_run=true` must not make a real deploy. */
export function isDryRun(query: URLSearchParams): boolean {
  const value = query.get("dry_run");
  if (value !== null && value !== "1") {
    throw new Refusal("invalid_input", "The parameter dry_run must be 1, or be left out.", { field: "dry_run" });
  }
  return value === "1";
}

/** The answer that a deploy would get, with nothing stored. */
export async function dryRun(ctx: Ctx, job: RehearsalJob, spa_override: Site["spa_override"]) {
  const rehearsed = await ctx.parts.pool.rehearse(job);
  const { version_id, title, spa, healed, warnings, files, size, checked, changes } = rehearsed;
  addFigures(ctx, { ...size, checked, changes });
  const detected = { spa_enabled: spa.enabled ? 1 : 0, spa_rule: spa.rule } as const;
  return {
    dry_run: true,
    version_id,
    title,
    spa: effectiveSpa({ spa_override }, detected),
    healed,
    warnings,
    files,
  };
}
