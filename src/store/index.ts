/** The store: all SQL and all disk, asked through operations. This is its door: for a server, whose writes go to a
 *  thread of their own, and for programs that may wait for their writes. */
import type { SiteStatistics } from "../base/statistics.ts";
import type { Rates } from "../base/rates.ts";
import { threadUrl } from "../run/thread.ts";
import { type Store, storeOn } from "./groups.ts";
import { DEPLOY_TOKENS } from "./people/deploy-tokens.ts";
import { SESSIONS } from "./people/sessions.ts";
import { isCommitUnknown } from "./refusals.ts";
import { addressOf, openBackend, type StoreAddress } from "./backends.ts";
import { secretFiles, type Secrets } from "./disk/secrets.ts";
import { openRates, type RateCounts } from "./sqlite/rates.ts";
import { openStats, type RuleFor, rulesOf, siteStatistics } from "./sqlite/stats.ts";
import { startWriter, type Writer } from "./writer.ts";

export { addressOf, openBlobs, type Joining, openTurns, prepareStore, type StoreAddress } from "./backends.ts";
export { readBrands } from "./disk/alike.ts";
export { certificateFiles, type CertificatePair } from "./disk/certificate-files.ts";
export { openFigures } from "./disk/figures.ts";
export { secretFiles, type Secrets };
export { statsSalt } from "./disk/stats-salt.ts";
export { openStore, type Store } from "./groups.ts";
export { SERVER } from "./notices.ts";
export { DEVICE_INTERVAL_S, DEVICE_LIFETIME_MS } from "./people/device-logins.ts";
export { databaseFile, SCHEMA } from "./sqlite/database.ts";
export { compareUploads, countChanges } from "./versions.ts";

/** Writes the last use of a credential down by `note`, without waiting for it. */
function usesNoted(
  note: (id: string) => Promise<unknown>,
  isBusy: Writer["isBusy"],
  lost: ServingOptions["lost"],
): (id: string) => void {
  const noted = new Set<string>();
  return (id) => {
    if (noted.has(id) || isBusy()) return; // its next use is noted down again
    noted.add(id);
    note(id)
      .catch((error: unknown) => isCommitUnknown(error) && lost(error))
      .finally(() => noted.delete(id));
  };
}

interface ServingOptions extends StoreAddress {
  /** Events in comments go into the outbox. */
  announces?: boolean;
  now: () => number;
  /** Called for a write that nothing waited for, if its outcome is unknown. */
  lost(error: unknown): void;
}

/** Opens what `prepareStore` has readied, for a thread that answers requests. Of a folder it reads here, and never waits for the
 *  lock: the connection takes no write. */
export async function openServing({
  announces = false,
  now,
  lost,
  ...address
}: ServingOptions): Promise<{ store: Store; rates: Rates }> {
  const { data_dir } = address;
  const data = openBackend(address, now, { watch: true, reads_only: true });
  const writer = startWriter({ data_dir, announces }, now, threadUrl("./src/store/writer-thread.ts"));
  // A database server takes writes from everywhere: its answer stops no thread.
  const elsewhere = address.database_url === undefined ? writer.call : undefined;
  const uses = (group: "sessions" | "deploy_tokens", { used }: Pick<typeof SESSIONS, "used">) =>
    usesNoted(elsewhere ? (id) => elsewhere(group, "used", [id]) : used.on(data), writer.isBusy, lost);
  const noteUse = { session: uses("sessions", SESSIONS), deploy_token: uses("deploy_tokens", DEPLOY_TOKENS) };
  const counts: RateCounts = {
    count: (...args) => writer.call("rates", "count", args) as ReturnType<RateCounts["count"]>,
    forget: (...args) => writer.call("rates", "forget", args) as ReturnType<RateCounts["forget"]>,
  };
  return {
    rates: data.rates?.(secretFiles.read(data_dir).rates) ?? openRates(data_dir, now, counts),
    store: {
      ...storeOn(data, { noteUse, announces }, elsewhere),
      async close() {
        await writer.close();
        await data.close();
      },
    },
  };
}

/** Opens the statistics of what `prepareStore` has readied, for a thread of their own. `tell` hears of a file that is begun anew. */
export function openStatistics(address: StoreAddress, tell: (sentence: string) => void) {
  const data = openBackend(address, () => 0, { reads_only: true, connections: 1 });
  const stats = data.statistics ?? openStats(address.data_dir, data.db, tell);
  return {
    ...stats,
    read: async (site_id: string, from: number, to: number, ruleFor: RuleFor): Promise<SiteStatistics> =>
      siteStatistics(await stats.read(site_id, from, to), { from, to }, rulesOf(data.db, site_id, ruleFor)),
    async close(): Promise<void> {
      stats.close();
      await data.close();
    },
  };
}
