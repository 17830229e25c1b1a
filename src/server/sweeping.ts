/** The sweep, every SVC_GC_INTERVAL, and after it a slice of the slow turn that re-hashes every blob. Both run in a
 *  thread of their own: its transactions never wait in front of a page. */
import type { Config } from "../config/index.ts";
import { every, loggedBy } from "../every.ts";
import { createLog, type Log } from "../log.ts";
import { type Figure, slotOf } from "../metrics/index.ts";
import { openFigures } from "../store/index.ts";
import type { Figures } from "../store/upkeep.ts";
import { threadUrl } from "../thread-url.ts";
import type { SweepOrder, SweepReply } from "./sweep-order.ts";

function note(reply: SweepReply, log: Log, figures: Figures, now: number): void {
  const add = (figure: Figure, amount: number) => figures.add(slotOf(figure), amount);
  if ("error" in reply) {
    log.error("sweep", reply.error);
    add("svc_sweep_failures_total", 1);
  } else if ("swept" in reply) {
    const { sites, blobs } = reply.swept;
    if (sites + blobs > 0) log.event(`swept ${sites} expired sites and ${blobs} orphaned files`);
    add("svc_sweeps_total", 1);
    add("svc_swept_sites_total", sites);
    add("svc_swept_blobs_total", blobs);
    figures.set(slotOf("svc_last_sweep_timestamp_seconds"), now / 1000);
  } else {
    if (reply.missing !== null) figures.set(slotOf("svc_blobs_missing"), reply.missing);
    for (const { sha256, why, losses } of reply.damages) {
      const where = losses.map(({ slug, path }) => `${slug} ${path}`).join(", ");
      log.error(`blob ${why}`, `${sha256}, stored for ${where}`);
    }
  }
}

/** `fatal` ends the process, which must write nothing more: no further order is given. */
export function startSweeping(
  config: Config,
  now: () => number,
  fatal: (error: unknown) => void,
): { stop(): Promise<void> } {
  const log = createLog(config.log, now);
  const figures = openFigures(config.data_dir);
  const thread = new Worker(threadUrl("./src/server/sweep-thread.ts"), {
    workerData: config.data_dir,
  } as WorkerOptions);
  let busy = false;
  thread.onmessage = ({ data }: MessageEvent<SweepReply>) => {
    if (data.done) busy = false;
    note(data, log, figures, now());
    if ("fatal" in data && data.fatal) {
      timer.stop();
      fatal(new Error(data.error));
    }
  };
  thread.onerror = (event) => {
    busy = false;
    log.error("sweep", event.message);
    figures.add(slotOf("svc_sweep_failures_total"), 1);
  };
  function order(): void {
    if (busy) return;
    busy = true;
    thread.postMessage({ now: now(), interval: config.gc_interval } satisfies SweepOrder);
  }
  const timer = every(config.gc_interval, order, loggedBy(log, "ordering a sweep"));
  return {
    async stop() {
      timer.stop();
      thread.terminate(); // inside a transaction it rolls back
      await log.close();
    },
  };
}
