/** From a path to its answer, worked out once for each path of a version that somebody asks for. */
import { resolve } from "../resolve.ts";
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
    const body = bodies.of(version, file);
    const etag = `"${version.version.version_id}:${path}"`;
    return { kind: "file", body, etag, vary: varyOf(body.coded, shell), unchanged: [], whole: [], ...kept };
  };
  if (resolution.kind === "file") return fileAnswer(resolution.file, false);
  if (resolution.kind === "redirect") return { ...resolution, ...kept };
  const shell = resolution.fallback ? fallbackDocument(version, manifest) : undefined;
  const page = resolution.page && bodies.of(version, resolution.page);
  return { kind: "unmatched", page, shell: shell ? fileAnswer(shell, true) : null, ...kept };
}

const fallbackDocument = ({ version }: LoadedVersion, manifest: StoredManifest): StoredFile | undefined =>
  manifest.get(fallbackPath(version.spa_rule, (path) => manifest.has(path)));

function varyOf(coded: boolean, shell: boolean): string | null {
  // A script tag and a navigation to the same address get different answers.
  if (shell) return coded ? "Accept-Encoding, Sec-Fetch-Dest" : "Sec-Fetch-Dest";
  return coded ? "Accept-Encoding" : null;
}
