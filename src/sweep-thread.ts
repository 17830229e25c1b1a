/** The thread of sweeping.ts. */
import { workerData } from "node:worker_threads";
import { openStore } from "./store/index.ts";
import type { SweepReply } from "./sweeping.ts";

declare const self: Worker;

const store = openStore({ data_dir: workerData as string, now: Date.now });

self.onmessage = async ({ data: now }: MessageEvent<number>) => {
  let reply: SweepReply;
  try {
    reply = { swept: await (await store).sweep(now) };
  } catch (error) {
    reply = { error: error instanceof Error ? error.message : String(error) };
  }
  self.postMessage(reply);
};
