/** `?dry_run=1` on both deploy routes (CONTRACT 4.3): what a deploy would be answered, with nothing stored. */
import type { RehearsalJob } from "../../deploy/job.ts";
import { Refusal } from "../../base/errors.ts";
import { effectiveSpa } from "../../base/site-state.ts";
import type { Site } from "../../base/types.ts";
import type { ApiParts } from "../context.ts";

/** Any other value is refused: whoever writes `dry_run=true` must not get a real deploy. */
export function isDryRun(query: URLSearchParams): boolean {
  const value = query.get("dry_run");
  if (value !== null && value !== "1") {
    throw new Refusal("invalid_input", "The parameter dry_run must be 1, or be left out.", { field: "dry_run" });
  }
  return value === "1";
}

export async function dryRun({ pool }: ApiParts, job: RehearsalJob, spa_override: Site["spa_override"]) {
  const { version_id, title, spa, healed, warnings, files } = await pool.rehearse(job);
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
