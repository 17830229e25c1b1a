/** A thread that looks for quotes, and the line before it. One is looked for at a time, so that what takes too long ends that
 *  one search and the thread with it, and nobody else's. */
import { createGate, type From } from "../gate.ts";
import { threadUrl } from "../thread-url.ts";
import type { LocateOrder, LocateReply } from "./locate-order.ts";

/** Nobody who posts waits longer for their turn. */
const WAIT_MS = 5000;
/** In all, then of a site, of a customer of a provider, of a network: a crowd of some sites leaves room for others. */
const MOST_WAITING = [1024, 16, 8, 4];

/** `unknown`: there was no turn for it in time, nobody wants it any more, or the thread broke. */
type Search = LocateReply["found"] | "unknown" | "too long";

interface Lane {
  /** `isWanted`: asked when its turn has come. */
  search(order: LocateOrder, from: From, isWanted: () => boolean): Promise<Search>;
  stop(): void;
}

/** `deadline_ms`: of one search. */
export function openLane(data_dir: string, deadline_ms: number): Lane {
  const gate = createGate({ width: 1, ms: WAIT_MS, most: MOST_WAITING });
  let worker: Worker | null = null;
  let settle: (found: Search) => void = () => {};

  function end(found: Search): void {
    const ending = worker;
    worker = null;
    ending?.terminate();
    settle(found);
  }
  function start(): Worker {
    const made = new Worker(threadUrl("./src/server/locate-thread.ts"), { workerData: data_dir } as WorkerOptions);
    made.onmessage = ({ data }: MessageEvent<LocateReply>) => worker === made && settle(data.found);
    made.addEventListener("close", () => worker === made && end("unknown"));
    made.unref();
    return made;
  }

  async function work(order: LocateOrder): Promise<Search> {
    const { promise, resolve } = Promise.withResolvers<Search>();
    settle = resolve;
    (worker ??= start()).postMessage(order);
    const timer = setTimeout(() => end("too long"), deadline_ms);
    return promise.finally(() => clearTimeout(timer));
  }
  return {
    search: (order, from, isWanted) =>
      gate.run(async () => (isWanted() ? work(order) : "unknown"), from).catch(() => "unknown"),
    stop() {
      gate.close();
      end("unknown");
    },
  };
}
