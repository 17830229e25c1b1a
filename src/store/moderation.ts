/** Moderation of sites: an operator's listing and acts, and the quarantine of sites whose pages look suspicious (PIPELINE 3),
 *  which a deploy starts and an operator ends. */
import { quarantineOf } from "../base/site-state.ts";
import type { Site } from "../base/types.ts";
import { audit } from "./audit.ts";
import { notice } from "./notices.ts";
import { answering, change, type Op, read, statement } from "./operation.ts";
import { siteRows } from "./sites.ts";

/** A site that waits for an operator to clear it. */
export interface Quarantined {
  site_id: string;
  slug: string;
  created_at: string;
  /** One sentence each, with the file and the signal. */
  signals: string[];
}

/** An operator's act on one site. */
export type SiteAct =
  | { action: "disable"; site_id: string; reason: string }
  | { action: "enable" | "freeze" | "unfreeze" | "clear" | "delete"; site_id: string };

export interface ListedSite extends Site {
  /** The address of its account; null if it has none. */
  owner_email: string | null;
  versions: number;
  /** Uploaded bytes of all its versions; equal files are stored once. */
  bytes: number;
  /** Those of its live version. */
  live_bytes: number;
}

/** By what a site stores, by the size of what is live (the largest first), by slug, or by when it was made. */
export type SiteSort = "created" | "stored" | "live" | "name";

/** The place of a site in the operator's list. */
interface ListPlace {
  place: string | number;
  site_id: string;
}

/** Reasons that are kept for a site; more are dropped. */
const MOST = 20;

const start = statement(
  `update sites set quarantine = ?1 where site_id = ?2 and (cleared_version_no is null or cleared_version_no <
     (select version_no from versions where site_id = ?2 and version_id = ?3))`,
);

/** Inside the deploy's transaction, after the version's row is there. */
export function* quarantine(site: Site, version_id: string, suspicions: readonly string[]): Op<void> {
  // An owner can be asked: there a warning is enough.
  if (suspicions.length === 0 || site.owner_account_id !== null) return;
  const signals = [...new Set([...quarantineOf(site), ...suspicions])].slice(0, MOST);
  const { changes } = yield* start.run(JSON.stringify(signals), site.site_id, version_id);
  if (changes > 0 && site.quarantine === null) yield* notice("site.quarantined", site.site_id);
}

const quarantined = statement<Site>("select * from sites where quarantine is not null order by created_at, site_id");

function* listQuarantined(): Op<Quarantined[]> {
  return (yield* quarantined.all()).map((site) => {
    const { site_id, slug, created_at } = site;
    return { site_id, slug, created_at, signals: quarantineOf(site) };
  });
}

const LIVE_BYTES =
  "(select bytes from versions where versions.site_id = sites.site_id and version_id = live_version_id)";

/** A page of the list, and only of its rows what takes longer to find. */
const inOrder = (key: string, down = false) => {
  const order = (name: string) => (down ? `${name} desc, site_id desc` : `${name}, site_id`);
  return statement<ListedSite & ListPlace>(
    `with page as materialized (
       select site_id, ${key} as place from sites where (${key}, site_id) ${down ? "<" : ">"} (?, ?)
       order by ${order("place")} limit ?)
     select sites.*, place, stored_versions as versions, ${LIVE_BYTES} as live_bytes,
       (select sum(bytes) from versions where versions.site_id = sites.site_id) as bytes,
       (select email from accounts where account_id = owner_account_id) as owner_email
     from page join sites using (site_id) order by ${order("place")}`,
  );
};
const LISTS = {
  created: inOrder("created_at"),
  stored: inOrder("stored_bytes", true),
  live: inOrder(LIVE_BYTES, true),
  name: inOrder("slug"),
};
const FIRST: Readonly<Record<SiteSort, ListPlace>> = {
  created: { place: "", site_id: "" },
  stored: { place: Number.MAX_SAFE_INTEGER, site_id: "" },
  live: { place: Number.MAX_SAFE_INTEGER, site_id: "" },
  name: { place: "", site_id: "" },
};

function* listSites(sort: SiteSort, limit: number, after: ListPlace | null): Op<(ListedSite & ListPlace)[]> {
  const { place, site_id } = after ?? FIRST[sort];
  return yield* LISTS[sort].all(place, site_id, limit);
}

// A reason of the site's own beats its account's, and stays when that ends.
const disable = statement(
  `update sites set disabled_reason = ?2, disabled_with_account = 0
   where site_id = ?1 and (disabled_reason is distinct from ?2 or disabled_with_account = 1)`,
);
/** The reason of the account that a site belongs to. */
const ACCOUNTS_REASON = "(select disabled_reason from accounts where account_id = owner_account_id)";
const UPDATES = {
  enable: statement(
    `update sites set disabled_reason = ${ACCOUNTS_REASON}, disabled_with_account = case when ${ACCOUNTS_REASON} is null then 0 else 1 end
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
  yield* siteRows.remove(site_id, "deleted", at);
  return true;
}

/** The site as it was; null if there was nothing to change, and then nothing is written down either. */
function* carryOut(act: SiteAct, at: string): Op<Site | null> {
  const site = yield* siteRows.byId.get(act.site_id);
  if (site === null || !(yield* changed(act, at))) return null;
  yield* audit({ at, actor: "operator", ...act });
  return site;
}

export const MODERATION = {
  /** At most `limit` sites, from the first on or from the one after `after`. */
  listing: read((_, sort: SiteSort, limit: number, after: ListPlace | null) => listSites(sort, limit, after)),
  /** Sites that wait for an operator to clear them, newest last. */
  quarantined: read(listQuarantined),
  /** False if there was nothing to change. */
  actOnSite: answering(
    change(
      ({ now }, act: SiteAct) => carryOut(act, new Date(now()).toISOString()),
      (site) => (site === null ? [] : [site.slug]),
      { frees: true, uncounts: true },
    ),
    (site) => site !== null,
  ),
};
