/** The thread of writer.ts: the store's writes and the counts of the rate limits, each on a connection of its own. While
 *  one waits for the lock of its database the others go on. */
import { workerData } from "node:worker_threads";
import { plainFailure } from "../base/errors.ts";
import { PATIENCE_MS, type Store, storeOn } from "./embedded.ts";
import { diskRefusal } from "./refusals.ts";
import { openDataDir } from "./sqlite/data-dir.ts";
import { openRateCounts } from "./sqlite/rates.ts";
import type { FromWriter, Room, ToWriter, WriteOrder, WriterData } from "./writer-order.ts";

declare const self: Worker;

/** A count that does not get the lock for so long is refused. */
const COUNTS_PATIENCE_MS = 1000;

const { data_dir, announces } = workerData as WriterData;
/** What the service's clock showed when it last asked. */
let clock = 0;
let store: Store | undefined;
let rates: ReturnType<typeof openRateCounts> | undefined;

/** Opened by the first write that needs it; a failure to open is that write's alone. */
function opened(room: Room): unknown {
  if (room === "rates") return (rates ??= openRateCounts(data_dir, COUNTS_PATIENCE_MS));
  store ??= storeOn(
    openDataDir(data_dir, () => clock, { patience_ms: PATIENCE_MS }),
    { announces },
  );
  return room === "store" ? store : store[room];
}

async function write({ room, method, args }: WriteOrder): Promise<unknown> {
  try {
    return await (opened(room) as Record<string, (...args: readonly unknown[]) => Promise<unknown>>)[method]!(...args);
  } catch (error) {
    throw diskRefusal(error);
  }
}

async function close(): Promise<void> {
  rates?.close();
  await store?.close();
  process.exit(); // ends this thread alone
}

const send = (message: FromWriter): void => self.postMessage(message);

self.onmessage = async ({ data }: MessageEvent<ToWriter>) => {
  if (data === "close") return close();
  const { id, now } = data;
  clock = now;
  send({ id, ...(await write(data).then((value) => ({ value }), plainFailure)) });
};
send("ready");
