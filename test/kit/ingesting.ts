/** Takes a zip in, or says why it was refused, for the tables of the archive tests. */
import { Refusal } from "../../src/base/errors.ts";
import { ingest } from "../../src/pipeline/archive/index.ts";
import type { Limits } from "../../src/base/types.ts";
import { versionIdOf } from "../../src/base/version-id.ts";

export const LIMITS: Limits = { max_files: 200, max_bytes: 10_485_760, max_zip_bytes: 5_242_880 };

/** An accepted zip, flattened to what a table can show. */
export function accept(zip: Uint8Array, limits = LIMITS) {
  const { draft, digest, hashes } = ingest(zip, limits, () => {});
  return {
    version_id: versionIdOf(digest),
    /** Uploaded paths alone, sorted. */
    paths: [...hashes.keys()].sort(),
    made: [...draft.made].sort(),
    text: (path: string) => Buffer.from(draft.files.get(path)!).toString(),
    healed: draft.healed.map(({ code }) => code),
    warnings: draft.warnings.map(({ code, path }) => `${code} ${path}`),
    draft,
  };
}

/** The refusal of a zip; a zip that is accepted, and any other error, fails the test. */
export function refusalOf(zip: Uint8Array, limits = LIMITS): Refusal {
  try {
    ingest(zip, limits, () => {});
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("the zip was accepted");
}
