/** The password that a site's visitors need (BEYOND 8). */
import type { Site } from "../base/types.ts";
import { auditRepeated } from "./audit.ts";
import { change, type Op, statement } from "./operation.ts";
import { permission, type WriteBy } from "./permission.ts";
import { refusals } from "./refusals.ts";

interface AccessChange {
  site_id: string;
  by: WriteBy;
  /** argon2id; null: anybody may see the site. */
  hash: string | null;
}

const setAccess = statement<Site>(
  `update sites set access_hash = ?, access_set_at = ?, access_epoch = access_epoch + 1
   where site_id = ? returning *`,
);

/** The same password again is a new one: what was granted before has ended. A frozen site takes a password, and keeps it. */
function* changeAccess({ site_id, by, hash }: AccessChange, now: number): Op<Site> {
  const held = hash === null ? permission.writableSite : permission.settableSite;
  const site = yield* held({ site_id, by }, now);
  if ("token_hash" in by && site.owner_account_id !== null) throw refusals.ownersAlone();
  if (hash === null && site.access_hash === null) return site;
  const at = new Date(now).toISOString();
  const actor = permission.actorOf(by);
  yield* auditRepeated({ at, ...actor, action: "set-access", site_id, reason: hash === null ? "public" : "password" });
  return (yield* setAccess.get(hash, hash === null ? null : at, site_id))!;
}

export const ACCESS = {
  /** Throws as any write of a site does. Every worker hears of it before its next request. */
  set: change(
    ({ now }, wanted: AccessChange) => changeAccess(wanted, now()),
    ({ slug }) => [slug],
  ),
};
