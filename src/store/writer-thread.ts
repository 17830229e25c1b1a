/** The thread of writer.ts: the store's writes and the counts of the rate limits, each on a connection of its own. While
 *  one waits for the lock of its database the others go on. */
import { workerData } from "node:worker_threads";
import { answerCalls } from "../run/thread.ts";
import { PATIENCE_MS, type Store, storeOn } from "./groups.ts";
import { diskRefusal } from "./refusals.ts";
import { openDataDir } from "./sqlite/data-dir.ts";
import { openRateCounts } from "./sqlite/rates.ts";
import type { WriteOrder, WriterData } from "./writer.ts";

/** A count that does not get the lock for so long is refused. */
const COUNTS_PATIENCE_MS = 1000;

const { data_dir, announces } = workerData as WriterData;
/** The service's clock at the time of the last order. */
let clock = 0;
let store: Store | undefined;
let rates: ReturnType<typeof openRateCounts> | undefined;

/** Operations by their names, opened by the first write that needs them; a failure to open is that write's alone. */
function opened(group: string): object {
  if (group === "rates") return (rates ??= openRateCounts(data_dir, COUNTS_PATIENCE_MS));
  store ??= storeOn(
    openDataDir(data_dir, () => clock, { patience_ms: PATIENCE_MS }),
    { announces },
  );
  return group === "store" ? store : (store as Store & Record<string, object>)[group]!;
}

type Operations = Record<string, (...args: readonly unknown[]) => Promise<unknown>>;

async function write({ group, name, args, now }: WriteOrder): Promise<unknown> {
  clock = now;
  try {
    return await (opened(group) as Operations)[name]!(...args);
  } catch (error) {
    throw diskRefusal(error);
  }
}

answerCalls(write, async () => {
  rates?.close();
  await store?.close();
});
