/** What whoever deployed may do next (CONTRACT 4.3). */
import type { Deployed } from "../../deploy/job.ts";
import type { NextAction } from "../../base/errors.ts";
import type { Site } from "../../base/types.ts";

export function nextActions(
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

/** What this deploy did to passages that visitors commented on. */
export function reviewComments(url: string, { site, review }: Deployed): NextAction[] {
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
