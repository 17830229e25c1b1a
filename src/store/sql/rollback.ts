/** Moving the live pointer to a stored version: no version is deleted, and one can roll forward again. */
import type { Database } from "bun:sqlite";
import { Refusal } from "../../errors.ts";
import type { Site } from "../../types.ts";
import { diskRefusal } from "../disk/failures.ts";
import type { Generation } from "../index.ts";
import { mayStillWrite, type WriteBy } from "./permission.ts";
import { tokenWriter } from "./sites.ts";

export interface Rollback {
  site_id: string;
  by: WriteBy;
  version_id: string;
}

export interface RolledBack {
  site: Site;
  previous_version_id: string;
}

export function rollbacker(db: Database, generation: Pick<Generation, "advance">, now: () => number) {
  const permitted = mayStillWrite(db);
  const tokens = tokenWriter(db);
  const known = db.prepare<unknown, [string, string]>("select 1 from versions where site_id = ? and version_id = ?");
  const move = db.prepare<Site, [string, string]>("update sites set live_version_id = ? where site_id = ? returning *");
  const commit = db.transaction(({ site_id, by, version_id }: Rollback): RolledBack => {
    const { live_version_id } = permitted({ site_id, by }, now());
    if (known.get(site_id, version_id) === null) throw new Refusal("unknown_version", "Unknown version");
    if ("token_hash" in by) tokens.used(by.token_hash, new Date(now()).toISOString());
    return { site: move.get(version_id, site_id)!, previous_version_id: live_version_id };
  });
  return async (rollback: Rollback): Promise<RolledBack> => {
    try {
      const done = commit.immediate(rollback);
      generation.advance();
      return done;
    } catch (error) {
      throw diskRefusal(error);
    }
  };
}
