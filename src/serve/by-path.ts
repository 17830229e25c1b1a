/** From a path to its answer, worked out once for each path of a version that somebody asks for. */
import { resolve } from "../resolve.ts";
import { fallbackPath } from "../site-state.ts";
import type { StoredFile } from "../store/serving.ts";
import type { Bodies } from "./bodies.ts";
import type { Budget } from "./budget.ts";
import type { Answer, FileAnswer, LoadedVersion } from "./kept.ts";

const ANSWER_COST = 1500;
/** The path stands in the key, the entity tag and its headers. */
const COST_PER_CHARACTER = 8;

export type AnswerFor = (version: LoadedVersion, path: string) => Answer;

/** `path` is percent-encoded. Throws `invalid_path`. */
export function createAnswers(bodies: Bodies, budget: Budget): AnswerFor {
  return (version, path) => {
    const known = version.answers.get(path);
    if (known !== undefined) {
      known.used = true;
      return known;
    }
    const answer = workOut(bodies, version, path);
    version.answers.set(path, answer);
    budget.keep(answer);
    return answer;
  };
}

function workOut(bodies: Bodies, version: LoadedVersion, path: string): Answer {
  const resolution = resolve(version.manifest, path);
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
    return { kind: "file", body, etag, vary: varyOf(body.coded, shell), unchanged: [], ...kept };
  };
  if (resolution.kind === "file") return fileAnswer(resolution.file, false);
  if (resolution.kind === "redirect") return { ...resolution, ...kept };
  const shell = resolution.fallback ? fallbackDocument(version) : undefined;
  const page = resolution.page && bodies.of(version, resolution.page);
  return { kind: "unmatched", page, shell: shell ? fileAnswer(shell, true) : null, ...kept };
}

const fallbackDocument = ({ version, manifest }: LoadedVersion): StoredFile | undefined =>
  manifest.get(fallbackPath(version.spa_rule, (path) => manifest.has(path)));

function varyOf(coded: boolean, shell: boolean): string | null {
  // A script tag and a navigation to the same address get different answers.
  if (shell) return coded ? "Accept-Encoding, Sec-Fetch-Dest" : "Sec-Fetch-Dest";
  return coded ? "Accept-Encoding" : null;
}
