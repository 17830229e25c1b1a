/** What an operator does to a site. Each act is one transaction with its line in the audit log. */
import type { Database } from "bun:sqlite";
import { auditWriter } from "./audit.ts";
import type { Generation } from "../index.ts";
import { makingRoom } from "../disk/failures.ts";
import { siteRemover } from "./sweep.ts";

export type Act =
  | { action: "disable"; site_id: string; reason: string }
  | { action: "enable" | "freeze" | "unfreeze" | "clear" | "delete"; site_id: string };

interface Parts {
  db: Database;
  data_dir: string;
  generation: Pick<Generation, "advance">;
  now: () => number;
}

const statements = (db: Database) => ({
  disable: db.prepare<unknown, [string, string]>(
    "update sites set disabled_reason = ?2 where site_id = ?1 and disabled_reason is not ?2",
  ),
  enable: db.prepare<unknown, [string]>(
    "update sites set disabled_reason = null where site_id = ? and disabled_reason is not null",
  ),
  freeze: db.prepare<unknown, [string]>("update sites set frozen = 1 where site_id = ? and frozen = 0"),
  unfreeze: db.prepare<unknown, [string]>("update sites set frozen = 0 where site_id = ? and frozen = 1"),
  clear: db.prepare<unknown, [string]>(
    `update sites set quarantine = null,
       cleared_version_no = (select max(version_no) from versions where versions.site_id = sites.site_id)
     where site_id = ? and quarantine is not null`,
  ),
  exists: db.prepare<unknown, [string]>("select 1 from sites where site_id = ?"),
});

/** False where there was nothing to change: then nothing is written down either. */
export function moderator({ db, data_dir, generation, now }: Parts): (act: Act) => Promise<boolean> {
  const { disable, exists, ...updates } = statements(db);
  const remove = siteRemover(db);
  const audit = auditWriter(db);

  function changed(act: Act, at: string): boolean {
    const { action, site_id } = act;
    if (action === "disable") return disable.run(site_id, act.reason).changes > 0;
    if (action !== "delete") return updates[action].run(site_id).changes > 0;
    if (exists.get(site_id) === null) return false;
    remove(site_id, "deleted", at);
    return true;
  }
  const commit = db.transaction((act: Act): boolean => {
    const at = new Date(now()).toISOString();
    if (!changed(act, at)) return false;
    audit({ at, actor: "operator", ...act });
    return true;
  });
  return async (act) => {
    const done = makingRoom(data_dir, () => commit.immediate(act));
    if (done) generation.advance();
    return done;
  };
}
