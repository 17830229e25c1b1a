/** The sweep, every SVC_GC_INTERVAL, and after it a slice of the slow turn that re-hashes every blob. Both run in a
 *  thread of their own: its transactions never wait in front of a page. */
import type { Config } from "../config/index.ts";
import { every, loggedBy } from "../run/every.ts";
import { createLog, type Log } from "../run/log.ts";
import { type Figure, slotOf } from "../run/metrics.ts";
import { databaseWatch, openFigures } from "../store/index.ts";
import type { Figures } from "../store/upkeep.ts";
import { threadUrl } from "../run/runtime.ts";
import { type SideThread, sideThread } from "./side-thread.ts";
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

/** How soon it is said that the database is gone. */
const LOOK_MS = 10_000;
/** How often it is said again. */
const REMIND_MS = 10 * 60_000;

/** Deploys are refused from the moment on in which the file is gone; here it is told, and told again. */
function watchingDatabase(data_dir: string, log: Log, figures: Figures): () => void {
  const lost = databaseWatch(data_dir);
  let told = -Infinity;
  return () => {
    const why = lost();
    figures.set(slotOf("svc_database_missing"), why === null ? 0 : 1);
    if (why === null || performance.now() - told < REMIND_MS) return;
    log.error("database", why);
    told = performance.now();
  };
}

/** An order that is not taken leaves the time of the one before. */
function ordering(thread: Pick<SideThread<SweepOrder>, "order">, now: () => number, interval: number): () => void {
  let before = 0;
  return () => {
    const time = now();
    if (thread.order({ now: time, sure: Math.min(before, time), interval })) before = time;
  };
}

/** `fatal` ends the process, which must write nothing more: no further order is given. */
export function startSweeping(
  config: Config,
  now: () => number,
  fatal: (error: unknown) => void,
): { stop(): Promise<void> } {
  const log = createLog(config.log, now);
  const figures = openFigures(config.data_dir);
  const broke = (error: string) => note({ error, fatal: false }, log, figures, now());
  const workerData = config.data_dir;
  const thread = sideThread<SweepOrder, SweepReply>({
    make: () => new Worker(threadUrl("./src/server/sweep-thread.ts"), { workerData } as WorkerOptions),
    heard(reply) {
      note(reply, log, figures, now());
      if (!("fatal" in reply) || !reply.fatal) return;
      sweeps.stop();
      fatal(new Error(reply.error));
    },
    broke,
  });
  const order = ordering(thread, now, config.gc_interval);
  const sweeps = every(config.gc_interval, order, (error) => broke(`no thread was started: ${String(error)}`));
  const look = watchingDatabase(config.data_dir, log, figures);
  const looks = every(LOOK_MS, look, loggedBy(log, "looking for the database"));
  return {
    async stop() {
      sweeps.stop();
      looks.stop();
      thread.end(); // inside a transaction it rolls back
      await log.close();
    },
  };
}
