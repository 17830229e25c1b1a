/** Where the server is reached, remembered for programs that have its data directory and not its settings. */
import type { Database } from "bun:sqlite";

export interface ServerAddress {
  base_url: string;
  sites_domain: string;
}

export const readAddress = (db: Database): ServerAddress | null =>
  db.query<ServerAddress, []>("select base_url, sites_domain from address").get();

/** Writes only what is new: on a full disk a server starts all the same. */
export function rememberAddress(db: Database, { base_url, sites_domain }: ServerAddress): void {
  const known = readAddress(db);
  if (known?.base_url === base_url && known.sites_domain === sites_domain) return;
  db.run("insert or replace into address (only_row, base_url, sites_domain) values (1, ?, ?)", [
    base_url,
    sites_domain,
  ]);
}
