/** The store's door: for a server, whose writes go to a thread of their own, and for what may wait for its writes. */
import type { Rates } from "../base/rates.ts";
import { type Store, storeOn } from "./embedded.ts";
import { isCommitUnknown } from "./refusals.ts";
import { openDataDir } from "./sqlite/data-dir.ts";
import { openRates } from "./sqlite/rates.ts";
import { type Rooms, startWriter, type Writer } from "./writer.ts";
import type { Room } from "./writer-order.ts";

export { readBlobs } from "./disk/blobs.ts";
export { readBrands } from "./disk/brands.ts";
export { openFigures } from "./disk/figures.ts";
export { openKeyring } from "./disk/keyring.ts";
export { readSecrets, type Secrets, turnKeys } from "./disk/secrets.ts";
export { openStore, type Store } from "./embedded.ts";
export { databaseWatch, SCHEMA } from "./sqlite/database.ts";
export { prepareDataDir } from "./sqlite/prepare.ts";

const NOTE_WRITES = [
  "configure",
  "start",
  "reply",
  "edit",
  "remove",
  "rename",
  "erase",
  "decide",
  "report",
  "addOwnerCode",
  "spendOwnerCode",
  "addToken",
  "removeToken",
  "noteTokenUse",
  "carry",
] as const;

/** Everything of it that writes is asked of the thread, by name. What is forgotten here throws: the connection of the
 *  thread that serves takes no write. */
function writingElsewhere(store: Store, { methods }: Writer): Store {
  const instead = <R extends Room, Name extends keyof Rooms[R] & string>(
    room: R,
    part: Rooms[R],
    names: readonly Name[],
  ): Rooms[R] => ({ ...part, ...methods(room, names) });
  return {
    ...instead("store", store, ["publish", "rollback", "sweep", "verifyTurn", "rememberServerAddress"]),
    accounts: instead("accounts", store.accounts, ["create", "remove", "changePassword"]),
    sessions: instead("sessions", store.sessions, ["start", "used", "confirm", "end", "endOthers"]),
    deploy_tokens: instead("deploy_tokens", store.deploy_tokens, ["used", "add", "revoke"]),
    device_logins: instead("device_logins", store.device_logins, ["start", "decide", "poll"]),
    ownership: instead("ownership", store.ownership, [
      "claim",
      "attach",
      "change",
      "changeSettings",
      "remove",
      "revokeTokens",
    ]),
    notes: instead("notes", store.notes, NOTE_WRITES),
    previews: instead("previews", store.previews, ["promote", "end"]),
    reports: instead("reports", store.reports, ["add"]),
  };
}

/** Nobody waits until the last use of a credential is written down. */
function usesNoted(writer: Writer, lost: Serving["lost"]) {
  const noted = new Set<string>();
  const noting = (used: (id: string) => Promise<void>) => (id: string) => {
    if (noted.has(id) || writer.isBusy()) return; // its next use is noted down again
    noted.add(id);
    used(id)
      .catch((error: unknown) => isCommitUnknown(error) && lost(error))
      .finally(() => noted.delete(id));
  };
  return {
    noteUse: noting(writer.methods("sessions", ["used"]).used),
    noteTokenUse: noting(writer.methods("deploy_tokens", ["used"]).used),
  };
}

interface Serving {
  data_dir: string;
  /** What happens in comments goes into the outbox. */
  announces?: boolean;
  now: () => number;
  /** Hears of a write that nobody waited for and whose outcome nobody knows. */
  lost(error: unknown): void;
}

/** Opens a data directory that `prepareDataDir` has readied, for a thread that answers requests: it reads here, and never
 *  waits for the lock. */
export async function openServing({
  data_dir,
  announces = false,
  now,
  lost,
}: Serving): Promise<{ store: Store; rates: Rates }> {
  const parts = openDataDir(data_dir, now, { watch: true, reads_only: true });
  const writer = startWriter({ data_dir, announces }, now);
  const store = writingElsewhere(storeOn(parts, usesNoted(writer, lost)), writer);
  return {
    rates: openRates(data_dir, now, writer.methods("rates", ["count", "forget"])),
    store: {
      ...store,
      async close() {
        await writer.close();
        parts.close();
      },
    },
  };
}
