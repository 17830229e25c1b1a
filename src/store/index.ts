/** The store: all SQL and all disk, asked through operations. This is its door: for a server, whose writes go to a
 *  thread of their own, and for programs that may wait for their writes. */
import type { Rates } from "../base/rates.ts";
import { threadUrl } from "../run/thread.ts";
import { type Store, storeOn } from "./groups.ts";
import { isCommitUnknown } from "./refusals.ts";
import { openDataDir } from "./sqlite/data-dir.ts";
import { openRates, type RateCounts } from "./sqlite/rates.ts";
import { startWriter, type Writer } from "./writer.ts";

export { readBlobs } from "./disk/blobs.ts";
export { readBrands } from "./disk/brands.ts";
export { openFigures } from "./disk/figures.ts";
export { secretFiles, type Secrets } from "./disk/secrets.ts";
export { openStore, type Store } from "./groups.ts";
export { SERVER } from "./notices.ts";
export { DEVICE_INTERVAL_S, DEVICE_LIFETIME_MS } from "./people/device-logins.ts";
export { databaseFile, SCHEMA } from "./sqlite/database.ts";
export { prepareDataDir } from "./sqlite/prepare.ts";
export { compareUploads, countChanges } from "./versions.ts";

/** Writes the last use of a credential down without waiting for it. */
function usesNoted({ call, isBusy }: Writer, group: string, lost: ServingOptions["lost"]): (id: string) => void {
  const noted = new Set<string>();
  return (id) => {
    if (noted.has(id) || isBusy()) return; // its next use is noted down again
    noted.add(id);
    call(group, "used", [id])
      .catch((error: unknown) => isCommitUnknown(error) && lost(error))
      .finally(() => noted.delete(id));
  };
}

interface ServingOptions {
  data_dir: string;
  /** Events in comments go into the outbox. */
  announces?: boolean;
  now: () => number;
  /** Called for a write that nothing waited for, if its outcome is unknown. */
  lost(error: unknown): void;
}

/** Opens a data directory that `prepareDataDir` has readied, for a thread that answers requests: it reads here, and never
 *  waits for the lock. The connection takes no write. */
export async function openServing({
  data_dir,
  announces = false,
  now,
  lost,
}: ServingOptions): Promise<{ store: Store; rates: Rates }> {
  const data = openDataDir(data_dir, now, { watch: true, reads_only: true });
  const writer = startWriter({ data_dir, announces }, now, threadUrl("./src/store/writer-thread.ts"));
  const noteUse = {
    session: usesNoted(writer, "sessions", lost),
    deploy_token: usesNoted(writer, "deploy_tokens", lost),
  };
  const counts: RateCounts = {
    count: (...args) => writer.call("rates", "count", args) as ReturnType<RateCounts["count"]>,
    forget: (...args) => writer.call("rates", "forget", args) as ReturnType<RateCounts["forget"]>,
  };
  return {
    rates: openRates(data_dir, now, counts),
    store: {
      ...storeOn(data, { noteUse }, writer.call),
      async close() {
        await writer.close();
        data.close();
      },
    },
  };
}
