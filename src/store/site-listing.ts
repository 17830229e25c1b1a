/** All sites at a glance, for the operator. */
import type { Database } from "bun:sqlite";
import type { Site } from "../types.ts";

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
