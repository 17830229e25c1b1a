/** A version out of a zip, top to bottom: 1 ingest the zip under its caps, 2 make pages of Markdown where there is no
 *  index, 3 make sure that `/` resolves, 4 refuse abuse, 5 read its own rules, 6 decide whether it is a single-page app, 7 lint it as that,
 *  8 describe what is to be stored.
 *  Nothing here writes or asks: no disk, no clock, no request. */
import type { BuiltVersion, Draft, Limits, Progress, SiteContext } from "../base/types.ts";
import { versionIdOf } from "../base/version-id.ts";
import { scanAbuse } from "./abuse/index.ts";
import { ensureIndex } from "./ensure-index.ts";
import { ingest } from "./archive/index.ts";
import type { Ingested } from "./archive/ingested.ts";
import { lint } from "./lint/index.ts";
import { describe } from "./manifest.ts";
import { renderMarkdownSite } from "./docs/index.ts";
import { checkRules } from "./rules/index.ts";
import { asWritten } from "./written.ts";
import { detectSpa } from "./spa/index.ts";
import { createBudget } from "./budget.ts";
import { keepPages, type Pages } from "../html/kept-pages.ts";
import { titleOf } from "../html/title.ts";
import { REDIRECTS, redirectsOf } from "../rules/redirects.ts";

export { openDelta } from "./archive/delta.ts";
export type { Ingested } from "./archive/ingested.ts";
export { planUpload } from "./archive/plan.ts";

/** A listing's own title says nothing that the upload said. */
const titleOfIndex = ({ files, healed }: Draft, pages: Pages): string | null =>
  healed.some(({ code }) => code === "index_generated") ? null : titleOf(pages(files.get("index.html")!));

/** Files and bytes as uploaded: what the service made counts towards nothing. */
function uploaded({ files, made }: Draft): { files: number; bytes: number } {
  const own = [...files].filter(([path]) => !made.has(path));
  return { files: own.length, bytes: own.reduce((sum, [, content]) => sum + content.length, 0) };
}

/** As its owner has it: links are judged by that. */
const asOwned = <Spa extends { enabled: boolean }>(spa: Spa, { spa_override }: SiteContext): Spa =>
  spa_override == null ? spa : { ...spa, enabled: spa_override === 1 };

/** `upload`: a zip, or the files that were read from one. `cpu`: milliseconds of processor time that were spent so far, for the limit of judging; without it there is none. */
export function build(
  upload: Uint8Array | Ingested,
  limits: Limits,
  progress: Progress,
  site: SiteContext,
  cpu?: () => number,
): BuiltVersion {
  const { draft: files, digest, hashes } = upload instanceof Uint8Array ? ingest(upload, limits, progress) : upload;
  const whole = ensureIndex(renderMarkdownSite(files, progress), progress, site.name);
  const pages = keepPages();
  const budget = createBudget(cpu);
  const clean = scanAbuse(asWritten(whole), site, progress, pages, budget);
  progress("reading its rules", REDIRECTS);
  const redirects = redirectsOf(clean.files);
  const draft = checkRules(clean, redirects, site);
  progress("reading the index", "index.html");
  const title = titleOfIndex(draft, pages);
  const { spa, healed } = detectSpa(draft.files, pages, budget, redirects);
  return {
    version_id: versionIdOf(digest),
    digest,
    title,
    spa,
    ...uploaded(draft),
    ...describe(whole, hashes, progress),
    healed: [...draft.healed, ...healed],
    warnings: lint(draft, asOwned(spa, site), progress, pages, budget, redirects).warnings,
    suspicions: draft.warnings.filter(({ code }) => code === "suspicious_content").map(({ message }) => message),
  };
}
