/** Writes to the data directory of its first argument without a pause, for as long as it lives: a program of its own for
 *  held-lock.test.ts. Each write holds the lock for 2 ms, as the flush of a disk does, and counts itself in `verify_turn`. */
import { statement } from "../../src/store/operation.ts";
import { openDataDir } from "../../src/store/sqlite/data-dir.ts";

const { db } = openDataDir(process.argv[2]!, Date.now, { patience_ms: 60_000 });
const move = statement("update verify_turn set blob_no = blob_no + 1");
function* write() {
  yield* move.do();
  Bun.sleepSync(2);
}
const lane = async (): Promise<never> => {
  for (;;) await db.write(write);
};
await Promise.all(Array.from({ length: 4 }, lane));
