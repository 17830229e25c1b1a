/** What deploys run in: the pipeline, then the store, on a connection of its own. */
import { Refusal, toPlain } from "../errors.ts";
import { build } from "../pipeline/index.ts";
import { openStore, readBrands, type Store } from "../store/index.ts";
import { handOver } from "./hand-over.ts";
import { rehearse } from "./rehearse.ts";
import type { Outcome, ToWorker, WorkerJob } from "./job.ts";

declare const self: Worker;

let store: Promise<Store> | undefined;
/** What the service's clock showed when the last job began, and when that was by ours. */
let begun = { now: 0, at: 0 };
const now = (): number => begun.now + Math.round(performance.now() - begun.at);

/** Of this thread alone: others of the process work for others. */
function cpu(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** One connection, opened by the first job that needs it; a failure to open is that job's alone. */
async function connect(data_dir: string): Promise<Store> {
  try {
    return await (store ??= openStore({ data_dir, now }));
  } catch (error) {
    store = undefined;
    throw error;
  }
}

/** Null where the pool gave the job up: it has answered already, and is about to end this worker. */
async function run({ zip, site, limits, data_dir, hand_over, ...job }: WorkerJob): Promise<Outcome | null> {
  begun = { now: job.now, at: performance.now() };
  const { at, startPublishing } = handOver(hand_over);
  const version = build(zip, limits, at, { ...site, brands: readBrands(data_dir) }, cpu);
  const { publish, versions } = await connect(data_dir);
  if ("against" in job) return { rehearsed: await rehearse(version, job.against, versions) };
  if (!startPublishing()) return null;
  const published = await publish({ ...job, version });
  const { title, healed, warnings } = version;
  return { deployed: { ...published, title, healed, warnings } };
}

function failure(error: unknown): Outcome {
  if (error instanceof Refusal) return { refusal: toPlain(error) };
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  return { error: { name, message, stack } };
}

async function close(): Promise<void> {
  (await store)?.close();
  process.exit(); // ends this thread alone
}

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  if (data === "close") return close();
  const outcome = await run(data).catch(failure);
  if (outcome) self.postMessage(outcome);
};
