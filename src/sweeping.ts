/** The sweep, every SVC_GC_INTERVAL, in a thread of its own: its transactions never wait in front of a page. */
import type { Config } from "./config.ts";
import { createLog } from "./log.ts";
import type { Swept } from "./store/sweep.ts";

/** What the thread answers to each number (epoch milliseconds) that it is sent. */
export type SweepReply = { swept: Swept } | { error: string };

/** Where the thread's code is: a second entry of the binary, a file beside this one in the source (BUN.md 1). */
const threadUrl = (): string | URL =>
  Bun.isStandaloneExecutable ? "./src/sweep-thread.ts" : new URL("./sweep-thread.ts", import.meta.url);

export function startSweeping(config: Config, now: () => number): { stop(): Promise<void> } {
  const log = createLog(config.log);
  const thread = new Worker(threadUrl(), { workerData: config.data_dir } as WorkerOptions);
  let busy = false;
  thread.onmessage = ({ data }: MessageEvent<SweepReply>) => {
    busy = false;
    if ("error" in data) log.event(`sweep: ${data.error}`);
    else if (data.swept.sites + data.swept.blobs > 0) {
      log.event(`swept ${data.swept.sites} expired sites and ${data.swept.blobs} orphaned files`);
    }
  };
  thread.onerror = (event) => {
    busy = false;
    log.event(`sweep: ${event.message}`);
  };
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    thread.postMessage(now());
  }, config.gc_interval);
  return {
    async stop() {
      clearInterval(timer);
      thread.terminate(); // inside a transaction it rolls back
      await log.close();
    },
  };
}
