/** The thread of sweeping.ts. */
import { workerData } from "node:worker_threads";
import { slotOf } from "../run/metrics.ts";
import { openStore, type Store, turnKeys } from "../store/index.ts";
import { isCommitUnknown } from "../store/refusals.ts";
import type { SweepFailure, SweepOrder, SweepReply } from "./sweep-order.ts";

declare const self: Worker;

/** The time of the last order, by the service's clock, which may differ from this machine's; and when that was by ours. */
let told = { now: 0, at: 0 };
const clock = (): number => told.now + Math.round(performance.now() - told.at);
let opened: Promise<Store> | undefined;
/** A store that could not be opened (too many open files, a failing disk) is tried again with the next order. */
const store = (): Promise<Store> =>
  (opened ??= openStore({ data_dir: workerData as string, now: clock }).catch((error) => {
    opened = undefined;
    throw error;
  }));
const MISSING = slotOf("svc_blobs_missing");

/** For the log: what happened, where the store put it into words for a caller. */
function failed(thrown: unknown): SweepFailure {
  const error = thrown instanceof Error && thrown.cause ? thrown.cause : thrown;
  return { error: error instanceof Error ? error.message : String(error), fatal: isCommitUnknown(thrown) };
}

async function sweep({ sure }: SweepOrder): Promise<SweepReply> {
  const swept = await (await store()).sweep(sure);
  turnKeys(workerData as string, clock()); // a server that runs for months does it, too
  return { swept };
}

async function verify({ interval }: SweepOrder): Promise<SweepReply> {
  const { figures, verifyTurn, missingBlobs } = await store();
  // Whoever found blobs missing (this thread, the start, an operator): until they are there again, each order looks.
  const incomplete = figures.get(MISSING) > 0;
  const damages = await verifyTurn(interval);
  if (damages.length === 0 && !incomplete) return { damages, missing: null };
  return { damages, missing: (await missingBlobs()).length };
}

self.onmessage = async ({ data }: MessageEvent<SweepOrder>) => {
  told = { now: data.now, at: performance.now() };
  const swept = await sweep(data).catch(failed);
  const ends = "fatal" in swept && swept.fatal;
  self.postMessage({ ...swept, ...(ends && { done: true }) } satisfies SweepReply);
  if (ends) return;
  self.postMessage({ ...(await verify(data).catch(failed)), done: true });
};
