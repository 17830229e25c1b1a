/** What a deploy would change, compared with what is live: uploaded files alone. */
import { refuseCollision } from "../store/refusals.ts";
import type { Store } from "../store/index.ts";
import { type ChangedFile, compareUploads, type Versions } from "../store/serving.ts";
import type { BuiltVersion } from "../types.ts";
import type { Rehearsed, RehearsalJob } from "./job.ts";

const pathsOf = (files: readonly ChangedFile[]): string[] => files.map(({ path }) => path);

export async function rehearse(
  version: BuiltVersion,
  { against, charged, bounds }: Pick<RehearsalJob, "against" | "charged" | "bounds">,
  { admit, versions }: Pick<Store, "admit"> & { versions: Pick<Versions, "get" | "manifest"> },
): Promise<Rehearsed> {
  const { version_id, title, spa, healed, warnings } = version;
  const live = against && (await versions.manifest(against.site_id, against.version_id));
  if (against) refuseCollision((await versions.get(against.site_id, version_id))?.digest, version);
  await admit(charged, version, bounds);
  const { added, changed, removed } = compareUploads(live?.values() ?? [], version.manifest);
  return {
    version_id,
    title,
    spa,
    healed,
    warnings,
    files: { added: pathsOf(added), changed: pathsOf(changed), removed: pathsOf(removed) },
  };
}
