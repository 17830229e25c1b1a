/** A thread that looks for quotes, and the line before it. One is looked for at a time, so that what takes too long ends that
 *  one search and the thread with it, and nobody else's. */
import { createGate, type From } from "../run/gate.ts";
import { threadUrl } from "../run/thread.ts";
import type { FromLocator, LocateOrder, LocateReply } from "./locate-order.ts";

/** Nobody who posts waits longer for their turn. */
const WAIT_MS = 5000;
/** A thread that takes longer to start, does not. */
const START_MS = 10_000;
/** In all, then of a site, of a customer of a provider, of a network: a crowd of some sites leaves room for others. */
const MOST_WAITING = [1024, 16, 8, 4];

/** `unknown`: there was no turn for it in time, nobody wants it any more, or the thread broke. */
type Search = LocateReply["found"] | "unknown" | "too long";

interface Lane {
  /** `isWanted`: asked when its turn has come. */
  search(order: LocateOrder, from: From, isWanted: () => boolean): Promise<Search>;
  stop(): void;
}

/** A thread that is started by the first order, and anew after one that ended it. `deadline_ms`: of one search, once the
 *  thread is there. */
function searcher(data_dir: string, deadline_ms: number) {
  let worker: Worker | null = null;
  /** Its first word. */
  let ready = Promise.withResolvers<void>();
  let settle: (found: Search) => void = () => {};

  function end(found: Search): void {
    const ending = worker;
    worker = null;
    ending?.terminate();
    settle(found);
    ready.resolve();
  }
  function start(): Worker {
    const made = new Worker(threadUrl("./src/server/locate-thread.ts"), { workerData: data_dir } as WorkerOptions);
    const told = (ready = Promise.withResolvers<void>());
    made.onmessage = ({ data }: MessageEvent<FromLocator>) => {
      if (data === "ready") told.resolve();
      else if (worker === made) settle(data.found);
    };
    made.addEventListener("close", () => worker === made && end("unknown"));
    made.unref();
    return made;
  }

  async function search(order: LocateOrder): Promise<Search> {
    const { promise, resolve } = Promise.withResolvers<Search>();
    settle = resolve;
    worker ??= start();
    let timer = setTimeout(() => end("unknown"), START_MS);
    await ready.promise;
    clearTimeout(timer);
    timer = setTimeout(() => end("too long"), deadline_ms);
    worker?.postMessage(order);
    return promise.finally(() => clearTimeout(timer));
  }
  return { search, end };
}

export function openLane(data_dir: string, deadline_ms: number): Lane {
  const gate = createGate({ width: 1, ms: WAIT_MS, most: MOST_WAITING });
  const thread = searcher(data_dir, deadline_ms);
  return {
    search: (order, from, isWanted) =>
      gate.run(async () => (isWanted() ? thread.search(order) : "unknown"), from).catch(() => "unknown"),
    stop() {
      gate.close();
      thread.end("unknown");
    },
  };
}
