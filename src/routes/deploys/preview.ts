/** `POST /sites/:id/previews?name=`: a deploy that does not go live (BEYOND 7). It is judged, counted and charged like any other. */
import type { Deployed } from "../../deploy/job.ts";
import { Refusal } from "../../base/errors.ts";
import { fitsPreview } from "../../base/preview-names.ts";
import { siteUrl, urlBeside } from "../../http/hosts.ts";
import type { Ctx, SiteCtx } from "../context.ts";
import { siteToUpdate, uploadFor } from "./deploy.ts";
import { addFigures, dryRun, isDryRun } from "./result.ts";
import { noteDeployed } from "./facts.ts";
import { readUpload } from "./request.ts";

const invalid = (field: string, sentence: string): Refusal => new Refusal("invalid_input", sentence, { field });

/** The preview's name in the query; null if there is none. */
function nameFor(slug: string, query: URLSearchParams): string | null {
  const name = query.get("name");
  if (name === null || fitsPreview(name, slug)) return name;
  throw invalid(
    "name",
    "A preview's name has lower-case letters, digits and single hyphens between them, is no version's id (16 hex digits) " +
      `and not xn, and is at most ${61 - slug.length} characters long on this site.`,
  );
}

function refuseSpa(query: URLSearchParams): void {
  if (!query.has("spa")) return;
  throw invalid("spa", "The parameter spa is the site's setting and would change what is live: leave it out here.");
}

export async function makePreview(ctx: SiteCtx) {
  const { query, parts } = ctx;
  const update = await siteToUpdate(ctx);
  const { site, by, owned } = update;
  const name = nameFor(site.slug, query);
  refuseSpa(query);
  const rehearsal = isDryRun(query);
  const upload = uploadFor(ctx, update, await readUpload(ctx, owned, site.site_id));
  if (rehearsal) {
    const against = { site_id: site.site_id, version_id: site.live_version_id };
    return dryRun(ctx, { ...upload, against, charged: site }, site.spa_override);
  }
  const ttl = parts.config.preview_ttl;
  const target = { kind: "preview", site_id: site.site_id, by, name, ttl } as const;
  const deployed = await parts.pool.deploy({ ...upload, tokens: [], target });
  noteDeployed(ctx.exchange, deployed);
  return previewResult(ctx, name, deployed);
}

function previewResult(ctx: Ctx, name: string | null, deployed: Deployed) {
  addFigures(ctx, deployed);
  const { config } = ctx.parts;
  const { site, version_id, shown_until, changed, compared, healed, warnings } = deployed;
  const { site_id, slug } = site;
  const version_url = urlBeside(config, version_id, slug);
  return {
    url: name === null ? version_url : urlBeside(config, name, slug),
    version_url,
    name,
    site_id,
    slug,
    version_id,
    live_url: siteUrl(config, slug),
    expires_at: shown_until,
    changed,
    files: compared,
    healed,
    warnings,
  };
}
