/** All sites at a glance, for the operator and for `/metrics`. */
import type { Database } from "bun:sqlite";
import type { Site } from "../../types.ts";

export interface ListedSite extends Site {
  versions: number;
  /** Uploaded bytes of all its versions; equal files are stored once. */
  bytes: number;
}

/** Newest last. */
export function siteListing(db: Database): () => Promise<ListedSite[]> {
  const all = db.prepare<ListedSite, []>(
    `select sites.*, count(*) as versions, sum(bytes) as bytes
     from sites join versions on versions.site_id = sites.site_id group by sites.site_id order by sites.created_at`,
  );
  return async () => all.all();
}

/** How many sites are in which state, as site-state.ts decides it, and how many versions there are. */
export interface Census {
  live: number;
  frozen: number;
  disabled: number;
  expired: number;
  versions: number;
}

export function siteCensus(db: Database): (now: number) => Promise<Census> {
  const census = db.prepare<Census, [number]>(
    `select coalesce(sum(state = 'live'), 0) as live, coalesce(sum(state = 'frozen'), 0) as frozen,
       coalesce(sum(state = 'disabled'), 0) as disabled, coalesce(sum(state = 'expired'), 0) as expired,
       (select count(*) from versions) as versions
     from (select case when owner_account_id is null and expires_at <= ? then 'expired'
       when disabled_reason is not null then 'disabled' when frozen then 'frozen' else 'live' end as state from sites)`,
  );
  return async (now) => census.get(now)!;
}
