/** The thread of sweeping.ts. */
import { workerData } from "node:worker_threads";
import { openStore } from "./store/index.ts";
import type { SweepOrder, SweepReply } from "./sweeping.ts";

declare const self: Worker;

const opened = openStore({ data_dir: workerData as string, now: Date.now });
/** Whether blobs were missing when they were last looked for: until they are there again, each order looks. */
let incomplete = false;

const failed = (error: unknown): SweepReply => ({ error: error instanceof Error ? error.message : String(error) });

async function sweep({ now }: SweepOrder): Promise<SweepReply> {
  return { swept: await (await opened).sweep(now) };
}

async function verify({ interval }: SweepOrder): Promise<SweepReply> {
  const store = await opened;
  const damages = await store.verifyTurn(interval);
  if (damages.length === 0 && !incomplete) return { damages, missing: null };
  const missing = (await store.missingBlobs()).length;
  incomplete = missing > 0;
  return { damages, missing };
}

self.onmessage = async ({ data }: MessageEvent<SweepOrder>) => {
  self.postMessage(await sweep(data).catch(failed));
  self.postMessage({ ...(await verify(data).catch(failed)), done: true });
};
