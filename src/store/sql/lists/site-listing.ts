/** All sites at a glance, for the operator and for `/metrics`. */
import type { Census, ListedSite } from "../../upkeep.ts";
import { type Db, statement } from "../db.ts";

const all = statement<ListedSite>(
  `select sites.*, count(listed_no) as versions, sum(bytes) as bytes,
     (select email from accounts where account_id = owner_account_id) as owner_email
   from sites join versions on versions.site_id = sites.site_id group by sites.site_id order by sites.created_at`,
);

/** Newest last. */
export const siteListing = (db: Db) => (): Promise<ListedSite[]> => db.read(all.all());

const census = statement<Census>(
  `select count(*) filter (where state = 'live') as live, count(*) filter (where state = 'frozen') as frozen,
     count(*) filter (where state = 'disabled') as disabled, count(*) filter (where state = 'expired') as expired,
     coalesce(sum(stored_versions), 0) as versions
   from (select stored_versions, case when owner_account_id is null and expires_at <= ? then 'expired'
     when disabled_reason is not null then 'disabled' when frozen = 1 then 'frozen' else 'live' end as state
     from sites) as states`,
);

export const siteCensus =
  (db: Db) =>
  async (now: number): Promise<Census> =>
    (await db.read(census.get(now)))!;
