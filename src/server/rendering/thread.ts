/** The engine's thread: the database and the processes that look at pages are none of the serving thread's. */
import { workerData } from "node:worker_threads";
import { siteUrl } from "../../http/hosts.ts";
import { createEngine, type Engine } from "../../render/engine.ts";
import { openStore, type Store } from "../../store/index.ts";
import { isCommitUnknown } from "../../store/refusals.ts";
import type { RenderTask } from "../../store/renders.ts";
import type { RenderData, RenderOrder, RenderReply } from "./order.ts";

declare const self: Worker;

const { data_dir, base_url, sites_domain, server, chrome } = workerData as RenderData;
/** The time of the last order, by the service's clock, which may differ from this machine's; and when that was by ours. */
let told = { now: 0, at: 0 };
const clock = (): number => told.now + Math.round(performance.now() - told.at);
const reply = (message: RenderReply): void => self.postMessage(message);
/** Of two pictures and their rows. */
const PICTURES = { bytes: 1 << 20, files: 2 };

const addressOf = ({ slug, version_id }: RenderTask) => ({
  url: `${siteUrl({ base_url, sites_domain }, slug)}/`,
  version_host: `${version_id}--${slug}.${sites_domain}`,
  server,
});

async function open(): Promise<{ store: Store; engine: Engine }> {
  const store = await openStore({ data_dir, now: clock });
  const engine = createEngine({
    data_dir,
    chrome,
    renders: store.renders,
    siteOf: store.sites.byId,
    addressOf,
    hasRoom: () => store.hasRoomFor(PICTURES.bytes, PICTURES.files),
    say: (sentence) => reply({ say: sentence }),
    clock,
  });
  return { store, engine };
}

let opened: ReturnType<typeof open> | undefined;
/** A store that could not be opened is tried again with the next order. */
const parts = (): ReturnType<typeof open> =>
  (opened ??= open().catch((error: unknown) => {
    opened = undefined;
    throw error;
  }));
let stopping = false;
/** The order that is under way. */
let working: Promise<void> = Promise.resolve();

async function lookAtAll(): Promise<void> {
  const { store, engine } = await parts();
  while (!stopping) {
    const looked = await engine.turn();
    if (looked === null || stopping) return;
    reply({ looked, waiting: await store.renders.waiting() });
  }
}

async function stop(): Promise<void> {
  stopping = true;
  const ready = await opened?.catch(() => undefined);
  ready?.engine.stop();
  await working;
  reply("stopped");
}

async function work(): Promise<void> {
  try {
    await lookAtAll();
    reply({ done: true, error: null });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    reply(isCommitUnknown(error) ? { fatal: message } : { done: true, error: message });
  }
}

self.onmessage = ({ data }: MessageEvent<RenderOrder>) => {
  if (data === "stop") return stop();
  told = { now: data.now, at: performance.now() };
  working = work();
};
