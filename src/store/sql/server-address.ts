/** Where the server is reached, remembered for programs that have its data and not its settings. */
import type { ServerAddress } from "../upkeep.ts";
import { type Db, statement } from "./db.ts";

const stored = statement<ServerAddress>("select base_url, sites_domain from address");
const put = statement(
  `insert into address (only_row, base_url, sites_domain) values (1, ?, ?)
   on conflict (only_row) do update set base_url = excluded.base_url, sites_domain = excluded.sites_domain`,
);

/** Null where no server ever started. */
export const readServerAddress = (db: Db): Promise<ServerAddress | null> => db.read(stored.get());

/** Writes only what is new: on a full disk a server starts all the same. */
export async function rememberServerAddress(db: Db, { base_url, sites_domain }: ServerAddress): Promise<void> {
  const known = await readServerAddress(db);
  if (known?.base_url === base_url && known.sites_domain === sites_domain) return;
  await db.write(() => put.do(base_url, sites_domain));
}
