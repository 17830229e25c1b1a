/** Moving the live pointer to a stored version: no version is deleted, and one can roll forward again. */
import type { Rollback, RolledBack } from "../changes.ts";
import { unknownVersion } from "../refusals.ts";
import { type Op, statement } from "./db.ts";
import type { Parts } from "./parts.ts";
import { noteUse, writableSite } from "./permission.ts";
import { moveLive } from "./sites.ts";
import { LISTED } from "./versions.ts";

const known = statement(`select 1 from versions where site_id = ? and version_id = ? and ${LISTED}`);

function* rollBack({ site_id, by, version_id }: Rollback, now: number): Op<RolledBack> {
  const { live_version_id } = yield* writableSite({ site_id, by }, now);
  if ((yield* known.get(site_id, version_id)) === null) throw unknownVersion();
  yield* noteUse(by, now);
  return { site: yield* moveLive(site_id, version_id, now), previous_version_id: live_version_id };
}

export const rollbacker =
  ({ db, now }: Pick<Parts, "db" | "now">) =>
  (rollback: Rollback) =>
    db.change(
      () => rollBack(rollback, now()),
      ({ site }) => [site.slug],
    );
