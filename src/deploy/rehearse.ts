/** What a deploy would change, compared with what is live: uploaded files alone. */
import { refuseCollision } from "../store/refusals.ts";
import { type Store, compareUploads } from "../store/index.ts";
import type { ChangedFile, Versions } from "../store/versions.ts";
import type { BuiltVersion } from "../base/types.ts";
import type { Rehearsed, RehearsalJob } from "./job.ts";

type Compared = Rehearsed["files"];

const pathsOf = (files: readonly ChangedFile[]): string[] => files.map(({ path }) => path);

/** What the version has otherwise than a stored one; null: than nothing. */
export async function comparedWith(
  stored: { site_id: string; version_id: string } | null,
  { manifest }: Pick<BuiltVersion, "manifest">,
  versions: Pick<Versions, "manifest">,
): Promise<Compared> {
  const live = stored && (await versions.manifest(stored.site_id, stored.version_id));
  const { added, changed, removed } = compareUploads(live?.values() ?? [], manifest);
  return { added: pathsOf(added), changed: pathsOf(changed), removed: pathsOf(removed) };
}

export async function rehearse(
  version: BuiltVersion,
  { against, charged, bounds }: Pick<RehearsalJob, "against" | "charged" | "bounds">,
  { admit, versions }: Pick<Store, "admit"> & { versions: Pick<Versions, "stored" | "manifest"> },
): Promise<Rehearsed> {
  const { version_id, title, spa, healed, warnings } = version;
  if (against) refuseCollision((await versions.stored(against.site_id, version_id))?.digest, version);
  await admit(charged, version, bounds);
  return {
    version_id,
    title,
    spa,
    healed,
    warnings,
    files: await comparedWith(against, version, versions),
  };
}
