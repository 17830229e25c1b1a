/** What a deploy would change, compared with what is live: uploaded files alone. */
import { refuseCollision } from "../store/refusals.ts";
import type { Store } from "../store/index.ts";
import type { Versions } from "../store/serving.ts";
import type { BuiltVersion, ManifestFile } from "../types.ts";
import type { Rehearsed, RehearsalJob } from "./job.ts";

const uploaded = (files: Iterable<ManifestFile>): Map<string, string> =>
  new Map([...files].filter(({ made }) => !made).map(({ path, sha256 }) => [path, sha256]));

export async function rehearse(
  version: BuiltVersion,
  { against, charged, bounds }: Pick<RehearsalJob, "against" | "charged" | "bounds">,
  { admit, versions }: Pick<Store, "admit"> & { versions: Pick<Versions, "get" | "manifest"> },
): Promise<Rehearsed> {
  const { version_id, title, spa, healed, warnings } = version;
  const live = against && (await versions.manifest(against.site_id, against.version_id));
  if (against) refuseCollision((await versions.get(against.site_id, version_id))?.digest, version);
  await admit(charged, version, bounds);
  const [before, after] = [uploaded(live?.values() ?? []), uploaded(version.manifest)];
  const paths = [...after.keys()].sort();
  return {
    version_id,
    title,
    spa,
    healed,
    warnings,
    files: {
      added: paths.filter((path) => !before.has(path)),
      changed: paths.filter((path) => before.has(path) && before.get(path) !== after.get(path)),
      removed: [...before.keys()].filter((path) => !after.has(path)).sort(),
    },
  };
}
