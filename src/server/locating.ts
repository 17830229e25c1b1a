/** Looks for quotes in stored pages, in a thread of its own: a large page takes tens of milliseconds, and no other page may
 *  wait for that. The thread is started by the first quote, and given up where one takes too long. */
import type { Quote } from "../store/notes.ts";
import type { Stored } from "../store/serving.ts";
import { threadUrl } from "../thread-url.ts";
import type { LocateOrder, LocateReply } from "./locate-order.ts";

/** A fuzzy search in a page of 10 MB takes less. */
const DEADLINE_MS = 3000;
/** So many wait; of more it is not known where they stand. */
const MOST_WAITING = 64;

type Found = LocateReply["found"];

export interface Locating {
  /** Null where it is not found in time. */
  locate(file: Stored, quote: Quote): Promise<Found>;
  stop(): void;
}

export function startLocating(data_dir: string): Locating {
  const waiting = new Map<number, (found: Found) => void>();
  let worker: Worker | null = null;
  let last = 0;

  function end(): void {
    worker?.terminate();
    worker = null;
    for (const settle of waiting.values()) settle(null);
    waiting.clear();
  }
  function start(): Worker {
    const made = new Worker(threadUrl("./src/server/locate-thread.ts"), { workerData: data_dir } as WorkerOptions);
    made.onmessage = ({ data }: MessageEvent<LocateReply>) => {
      const settle = waiting.get(data.id);
      waiting.delete(data.id);
      settle?.(data.found);
    };
    made.addEventListener("close", () => worker === made && end());
    made.unref();
    return made;
  }

  async function locate(file: Stored, quote: Quote): Promise<Found> {
    if (waiting.size >= MOST_WAITING) return null;
    const id = ++last;
    const { promise, resolve } = Promise.withResolvers<Found>();
    waiting.set(id, resolve);
    const timer = setTimeout(end, DEADLINE_MS);
    const { sha256, bytes, blob_no } = file;
    (worker ??= start()).postMessage({ id, file: { sha256, bytes, blob_no }, quote } satisfies LocateOrder);
    return promise.finally(() => clearTimeout(timer));
  }
  return { locate, stop: end };
}
