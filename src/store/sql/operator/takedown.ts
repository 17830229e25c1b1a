/** What an operator does to a site. Each act is one transaction with its line in the audit log. */
import type { Site } from "../../../base/types.ts";
import type { SiteAct } from "../../upkeep.ts";
import { audit } from "../audit.ts";
import { type Op, statement } from "../db.ts";
import { makingRoom } from "../frame.ts";
import type { Parts } from "../parts.ts";
import { removeSite, siteById } from "../sites.ts";

// The reason of its own beats its account's, and stays when that ends.
const disable = statement(
  `update sites set disabled_reason = ?2, disabled_with_account = 0
   where site_id = ?1 and (disabled_reason is distinct from ?2 or disabled_with_account = 1)`,
);
/** Of the account that a site belongs to. */
const ACCOUNTS_REASON = "(select disabled_reason from accounts where account_id = owner_account_id)";
const UPDATES = {
  enable: statement(
    `update sites set disabled_reason = ${ACCOUNTS_REASON}, disabled_with_account = ${ACCOUNTS_REASON} is not null
     where site_id = ? and disabled_reason is not null and disabled_with_account = 0`,
  ),
  freeze: statement("update sites set frozen = 1 where site_id = ? and frozen = 0"),
  unfreeze: statement("update sites set frozen = 0 where site_id = ? and frozen = 1"),
  clear: statement(
    `update sites set quarantine = null,
       cleared_version_no = (select max(version_no) from versions where versions.site_id = sites.site_id)
     where site_id = ? and quarantine is not null`,
  ),
};

function* changed(act: SiteAct, at: string): Op<boolean> {
  const { action, site_id } = act;
  if (action === "disable") return (yield* disable.run(site_id, act.reason)).changes > 0;
  if (action !== "delete") return (yield* UPDATES[action].run(site_id)).changes > 0;
  yield* removeSite(site_id, "deleted", at);
  return true;
}

/** The site as it was; null where there was nothing to change, and then nothing is written down either. */
function* carryOut(act: SiteAct, at: string): Op<Site | null> {
  const site = yield* siteById.get(act.site_id);
  if (site === null || !(yield* changed(act, at))) return null;
  yield* audit({ at, actor: "operator", ...act });
  return site;
}

/** Says false where there was nothing to change. */
export const takedown =
  ({ db, place, now }: Parts) =>
  async (act: SiteAct): Promise<boolean> => {
    const at = new Date(now()).toISOString();
    const site = await makingRoom(place, () =>
      db.change(
        () => carryOut(act, at),
        (done) => (done === null ? [] : [done.slug]),
      ),
    );
    return site !== null;
  };
