/** From a path to its answer, worked out once for each path of a version that somebody asks for. */
import { resolve } from "../resolve.ts";
import { isHtml } from "../media-types.ts";
import { decodePath } from "../percent.ts";
import { feedAddress, type Page, pageOfFile, pageOfRoute } from "../pages.ts";
import { fallbackPath } from "../site-state.ts";
import type { StoredFile, StoredManifest } from "../store/serving.ts";
import type { Bodies } from "./bodies.ts";
import type { Budget } from "./budget.ts";
import type { Answer, FileAnswer, LoadedVersion } from "./kept.ts";
import { unknownVersion } from "./refusals.ts";
import type { Manifests } from "./manifests.ts";

/** With the shortcut that leads to it: as 150,000 of them were measured. */
const ANSWER_COST = 1900;
/** The path stands in the key, the entity tag and its headers. */
const COST_PER_CHARACTER = 8;

/** `path` is percent-encoded. At once where the answer or the manifest is here. Throws `invalid_path`. */
export type AnswerFor = (version: LoadedVersion, path: string) => Answer | Promise<Answer>;

export function createAnswers(bodies: Bodies, budget: Budget, manifests: Manifests): AnswerFor {
  function answered(version: LoadedVersion, path: string, manifest: StoredManifest | null): Answer {
    if (manifest === null) throw unknownVersion();
    const answer = workOut(bodies, version, path, manifest);
    version.answers.set(path, answer);
    budget.keep(answer);
    return answer;
  }

  return (version, path) => {
    const known = version.answers.get(path);
    if (known !== undefined) {
      known.used = true;
      return known;
    }
    const manifest = manifests.of(version);
    if (!(manifest instanceof Promise)) return answered(version, path, manifest);
    return manifest.then((read) => version.answers.get(path) ?? answered(version, path, read));
  };
}

function workOut(bodies: Bodies, version: LoadedVersion, path: string, manifest: StoredManifest): Answer {
  const resolution = resolve(manifest, path);
  const kept = {
    cost: ANSWER_COST + COST_PER_CHARACTER * path.length,
    used: false,
    drop() {
      const dropped = version.answers.get(path);
      version.answers.delete(path);
      if (dropped !== undefined && dropped.kind !== "redirect") dropped.forget?.();
    },
  };
  const fileAnswer = (file: StoredFile, shell: boolean): FileAnswer => {
    const body = bodies.of(version, file, shell && isBelowRoot(path) ? "deep" : "itself");
    const etag = etagOf(version, path);
    const link = isHtml(file.media_type)
      ? linkOf(version, manifest, shell ? pageOfRoute(path, file) : pageOfFile(file))
      : null;
    return { kind: "file", body, etag, link, vary: varyOf(body.coded, shell), unchanged: [], whole: [], ...kept };
  };
  if (resolution.kind === "file") return fileAnswer(resolution.file, false);
  if (resolution.kind === "redirect") return { ...resolution, ...kept };
  const shell = resolution.fallback ? fallbackDocument(version, manifest) : undefined;
  const page = resolution.page && bodies.of(version, resolution.page, "missing");
  return { kind: "unmatched", page, shell: shell ? fileAnswer(shell, true) : null, ...kept };
}

/** Relative addresses of a page there lead elsewhere than at the root. */
const isBelowRoot = (path: string): boolean => decodePath(path)!.includes("/", 1);

function etagOf({ version: { version_id }, dress }: LoadedVersion, path: string): string {
  return dress === "" ? `"${version_id}:${path}"` : `"${version_id}+${dress}:${path}"`;
}

/** What a page says of its comments (COMMENTS 1): the companion, and where to write. A shell goes out only where the site is
 *  a single-page app, so that its routes are pages. */
function linkOf({ dress, version }: LoadedVersion, files: StoredManifest, page: Page): string | null {
  if (dress === "") return null;
  const companion = feedAddress({ files, spa: { enabled: true }, version }, page);
  return `<${companion}>; rel="replies alternate"; type="application/ld+json"; title="Comments", </_svc/comments/>; rel="http://www.w3.org/ns/oa#annotationService"`;
}

const fallbackDocument = ({ version }: LoadedVersion, manifest: StoredManifest): StoredFile | undefined =>
  manifest.get(fallbackPath(version.spa_rule, (path) => manifest.has(path)));

function varyOf(coded: boolean, shell: boolean): string | null {
  // A script tag and a navigation to the same address get different answers.
  if (shell) return coded ? "Accept-Encoding, Sec-Fetch-Dest" : "Sec-Fetch-Dest";
  return coded ? "Accept-Encoding" : null;
}
