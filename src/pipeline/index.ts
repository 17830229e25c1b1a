/** Makes a version out of a zip, stage by stage. 1 archive: unpack the zip within
 *  its limits; 2 docs: make pages of Markdown if there is no index; 3 ensure-index: make sure that `/` resolves; 4
 *  abuse: refuse phishing; 5 rules: check `_redirects` and `_headers`; 6 spa: decide whether it is a single-page app; 7
 *  lint: warn of what would fail in a browser; 8 describe the files that are to be stored. The pipeline is pure: it uses
 *  no disk, no clock and no request. */

import { isMarkup, mediaType } from "../base/media-types.ts";
import {
  type BuiltVersion,
  type Bytes,
  type Draft,
  type Finding,
  type Limits,
  type ManifestFile,
  type Progress,
  RENDERER,
  type SiteContext,
  type Warning,
} from "../base/types.ts";
import { contentHash, versionIdOf } from "../base/version-id.ts";
import { keepPages, type Pages } from "../html/page.ts";
import { titleOf } from "../html/page.ts";
import { problemsOfHeaders, problemsOfRedirects } from "../rules/check.ts";
import { HEADERS, readHeaders } from "../rules/headers.ts";
import type { RuleProblem } from "../rules/lines.ts";
import { REDIRECTS, type Redirects, redirectsOf } from "../rules/redirects.ts";
import { scanAbuse } from "./abuse/index.ts";
import { ingest } from "./archive/index.ts";
import type { Ingested } from "./archive/ingested.ts";
import { createBudget } from "./budget.ts";
import { renderMarkdownSite } from "./docs/index.ts";
import { ensureIndex } from "./ensure-index.ts";
import { lint } from "./lint/index.ts";
import { detectSpa } from "./spa.ts";

export { openDelta } from "./archive/plan.ts";
export type { Ingested } from "./archive/ingested.ts";
export { packed } from "./archive/pack.ts";
export { planUpload } from "./archive/plan.ts";

/** The title of the index. A generated listing has none, because its title does not come from the upload. */
const titleOfIndex = ({ files, healed }: Draft, pages: Pages): string | null =>
  healed.some(({ code }) => code === "index_generated") ? null : titleOf(pages(files.get("index.html")!));

/** Counts the files and bytes that were uploaded. Files that the service made do not count. */
function uploaded({ files, made }: Draft): { files: number; bytes: number } {
  const own = [...files].filter(([path]) => !made.has(path));
  return { files: own.length, bytes: own.reduce((sum, [, content]) => sum + content.length, 0) };
}

/** The answer to unknown paths as the owner set it. Links are judged by that. */
const asOwned = <Spa extends { enabled: boolean }>(spa: Spa, { spa_override }: SiteContext): Spa =>
  spa_override == null ? spa : { ...spa, enabled: spa_override === 1 };

/** The recipe for a secret ends with the version that has it, which the linter does not know. */
const naming =
  (version_id: string) =>
  (warning: Warning): Warning =>
    warning.code === "possible_secret"
      ? { ...warning, fix_recipe: warning.fix_recipe.replace(/<version>\.$/, `${version_id}.`) }
      : warning;

/** A warning for each line of the upload's rules that does nothing, or not what was written: file, line and what to change. */
function checkRules(draft: Draft, { rules, problems }: Redirects, { anonymous }: SiteContext): Draft {
  const { files } = draft;
  const redirects = [...problems, ...problemsOfRedirects(rules, files, !anonymous)];
  const file = files.get(HEADERS);
  const read = file === undefined ? { blocks: [], problems: [] } : readHeaders(file);
  const isPage = (path: string) => isMarkup(mediaType(path, files.get(path)!));
  const headers = [...read.problems, ...problemsOfHeaders(read.blocks, files, isPage)];
  const findings = [...told(REDIRECTS, redirects), ...told(HEADERS, headers)];
  return findings.length === 0 ? draft : { ...draft, findings: [...(draft.findings ?? []), ...findings] };
}

const told = (file: string, problems: readonly RuleProblem[]): Finding[] =>
  problems
    .toSorted((a, b) => a.line - b.line)
    .map(({ code, line, message, fix_recipe }) => {
      const path = `${file}:${line}`;
      return { code, path, target: path, message, fix_recipe };
    });

/** `upload` is a zip, or the files that were read from one. `cpu` returns the milliseconds of processor time that were spent
 *  so far, for the limit of judging; without it there is no limit. */
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
  const clean = scanAbuse(withoutGeneratedParts(whole), site, progress, pages, budget);
  progress("reading its rules", REDIRECTS);
  const redirects = redirectsOf(clean.files);
  const draft = checkRules(clean, redirects, site);
  progress("reading the index", "index.html");
  const title = titleOfIndex(draft, pages);
  const { spa, healed } = detectSpa(draft.files, pages, budget, redirects);
  const version_id = versionIdOf(digest);
  const { warnings, checked } = lint(draft, asOwned(spa, site), progress, pages, budget, redirects);
  return {
    version_id,
    digest,
    title,
    spa,
    ...uploaded(draft),
    ...describe(whole, hashes, progress),
    healed: [...draft.healed, ...healed],
    warnings: warnings.map(naming(version_id)),
    checked,
    renderer: draft.made.size > 0 ? RENDERER : null,
    suspicions: draft.warnings.filter(({ code }) => code === "suspicious_content").map(({ message }) => message),
  };
}

/** The stored form of a version: a row for each file, and each distinct content once. `hashes` has the hashes of uploaded
 *  files, so only files that the service made are hashed here. */
export function describe(
  draft: Draft,
  hashes: ReadonlyMap<string, string>,
  progress: Progress,
): { manifest: ManifestFile[]; blobs: Map<string, Bytes> } {
  const blobs = new Map<string, Bytes>();
  const manifest = [...draft.files].map(([path, content]): ManifestFile => {
    progress("describing", path);
    const made = draft.made.has(path);
    const sha256 = (made ? undefined : hashes.get(path)) ?? contentHash(content);
    blobs.set(sha256, content);
    return { path, sha256, bytes: content.length, media_type: mediaType(path, content), made };
  });
  return { manifest, blobs };
}

/** The draft as it is judged: of pages that the service made, only the text that their author wrote. The service's own
 *  navigation on a thousand pages would cost as much time as their text, and is never wrong. */
export const withoutGeneratedParts = (draft: Draft): Draft => ({
  ...draft,
  files: new Map([...draft.files].map(([path, bytes]) => [path, draft.written?.get(path) ?? bytes])),
});
