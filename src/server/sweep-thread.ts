/** The thread of sweeping.ts. */
import { workerData } from "node:worker_threads";
import { slotOf } from "../metrics/index.ts";
import { openStore } from "../store/index.ts";
import { isCommitUnknown } from "../store/refusals.ts";
import type { SweepFailure, SweepOrder, SweepReply } from "./sweep-order.ts";

declare const self: Worker;

/** The time of the last order, by the service's clock: it may differ from this machine's. */
let clock = 0;
const opened = openStore({ data_dir: workerData as string, now: () => clock });
const MISSING = slotOf("svc_blobs_missing");

/** For the log: what happened, where the store put it into words for a caller. */
function failed(thrown: unknown): SweepFailure {
  const error = thrown instanceof Error && thrown.cause ? thrown.cause : thrown;
  return { error: error instanceof Error ? error.message : String(error), fatal: isCommitUnknown(thrown) };
}

async function sweep({ now }: SweepOrder): Promise<SweepReply> {
  return { swept: await (await opened).sweep(now) };
}

async function verify({ interval }: SweepOrder): Promise<SweepReply> {
  const store = await opened;
  // Whoever found blobs missing (this thread, the start, an operator): until they are there again, each order looks.
  const incomplete = store.figures.get(MISSING) > 0;
  const damages = await store.verifyTurn(interval);
  if (damages.length === 0 && !incomplete) return { damages, missing: null };
  return { damages, missing: (await store.missingBlobs()).length };
}

self.onmessage = async ({ data }: MessageEvent<SweepOrder>) => {
  clock = data.now;
  const swept = await sweep(data).catch(failed);
  const ends = "fatal" in swept && swept.fatal;
  self.postMessage({ ...swept, ...(ends && { done: true }) } satisfies SweepReply);
  if (ends) return;
  self.postMessage({ ...(await verify(data).catch(failed)), done: true });
};
