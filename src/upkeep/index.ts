/** Work by the clock: a table of jobs (jobs.ts), and the one thread that runs them. Its transactions, its network and its
 *  files never keep a page waiting. */
import { hostname } from "node:os";
import packageJson from "../../package.json" with { type: "json" };
import { UNIT_MS } from "../base/units.ts";
import { type Config, sharedSettings } from "../config/index.ts";
import { countingFailures, every, loggedBy } from "../run/every.ts";
import { bulletinBoard, hourOf, readBulletins, trafficOf } from "../run/bulletin.ts";
import { createLog, type Log } from "../run/log.ts";
import { CERTIFICATE_MS, certificateLeft, slotOf } from "../run/metrics.ts";
import { startThread, type Thread, threadUrl } from "../run/thread.ts";
import { databaseFile, type Joining, openFigures } from "../store/index.ts";
import type { Figures } from "../store/upkeep.ts";
import { type FromUpkeep, type JobRecord, JOBS, type ToUpkeep, type UpkeepJob } from "./jobs.ts";

/** How soon the log says that the database is gone. */
const LOOK_MS = 10_000;
/** How often it says so again. */
const REMIND_MS = 10 * 60_000;
/** How often `svc-server status` gets news of this process. */
const TELL_MS = 1000;
/** The time that a stop leaves to work outside the thread, and to a statement under way in it. */
const STOP_MS = 2000;

/** Deploys are refused as soon as the file is gone; here the log hears of it, and hears it again. */
function watchingDatabase({ data_dir, shared }: Config, log: Log, figures: Figures): () => void {
  const lost = shared === null ? databaseFile.watch(data_dir) : () => null;
  let reminded = -Infinity;
  return () => {
    const why = lost();
    figures.set(slotOf("svc_database_missing"), why === null ? 0 : 1);
    if (why === null || performance.now() - reminded < REMIND_MS) return;
    log.error("database", why);
    reminded = performance.now();
  };
}

/** Serving processes turn their hour over once a second; after so many looks each of them has. */
const LOOKS_PAST_HOUR = 3;

/** Writes the record of an hour's busiest hosts, once the hour is over; none if nothing was sent in it. */
function tellingTraffic(log: Log, figures: Figures, now: () => number): () => void {
  let hour = hourOf(now());
  let looks = 0;
  return () => {
    if (hourOf(now()) === hour || ++looks < LOOKS_PAST_HOUR) return;
    const hosts = trafficOf(readBulletins(figures.texts()), hourOf(now()) - 1);
    const begin = new Date((hourOf(now()) - 1) * UNIT_MS.h).toISOString();
    if (hosts.length > 0) log.record("traffic", { hour: begin, hosts: Object.fromEntries(hosts) });
    hour = hourOf(now());
    looks = 0;
  };
}

function watchingCertificate(log: Log, figures: Figures, now: () => number): () => void {
  let reminded = -Infinity;
  return () => {
    const left_ms = certificateLeft(figures);
    if (left_ms > CERTIFICATE_MS || now() - reminded < UNIT_MS.d) return;
    reminded = now();
    const end = new Date(now() + left_ms).toISOString();
    const what = left_ms > 0 ? `new connections get one that ends at ${end}` : `it has ended at ${end}`;
    log.error("certificate", `${what}: renew it, then have it read again by SIGHUP (systemctl reload svc)`);
  };
}

interface ThreadEvents {
  heard(message: Exclude<FromUpkeep, "stopped">): void;
  died(why: string): void;
}

/** The thread, which starts with the first order, and again with the next one when it died. */
function upkeepThread(config: Config, { heard, died }: ThreadEvents) {
  const stopped = Promise.withResolvers<void>();
  let thread: Thread<ToUpkeep> | null = null;

  function start(): Thread<ToUpkeep> {
    const made = startThread<ToUpkeep, FromUpkeep>(threadUrl("./src/upkeep/thread.ts"), config, {
      message: (message) => (message === "stopped" ? stopped.resolve() : heard(message)),
      ended(why) {
        if (thread !== made) return;
        thread = null;
        died(`the thread broke: ${why}`);
      },
    });
    return made;
  }
  return {
    /** Throws when no thread can be started. */
    send: (order: ToUpkeep) => (thread ??= start()).send(order),
    /** Jobs end what they have started outside the thread. A transaction that is under way is rolled back. */
    async end(): Promise<void> {
      const ending = thread;
      thread = null;
      if (ending === null) return;
      ending.send("stop");
      await Promise.race([stopped.promise, ending.ended, Bun.sleep(STOP_MS)]);
      ending.end();
    },
  };
}

/** One job as the service sees it: whether a turn is under way, and how turns went. */
class JobRow {
  busy = false;
  readonly #count: (error: string | null) => void;
  constructor(
    readonly job: UpkeepJob,
    private readonly record: () => JobRecord,
  ) {
    this.#count = countingFailures(this.failed);
  }
  readonly failed = (error: unknown, in_a_row: number): void => {
    const { job, record } = this;
    if (job.failed) job.failed(error, record());
    else loggedBy(record().log, job.name)(error, in_a_row);
  };
  note(said: unknown): void {
    this.job.note(said, this.record());
  }
  over(error: string | null): void {
    this.busy = false;
    this.#count(error);
  }
}

/** The jobs that this server is set to do for all boxes of its service. */
const turnsOf = (config: Config): string[] =>
  JOBS.filter((job) => job.every_ms(config) !== null).map(({ name }) => name);

/** This server as the other boxes of its service see it, and what it tells of them. */
export const boxOf = (config: Config, log: Log, clocks: Pick<Joining, "now" | "machine">): Joining => ({
  ...clocks,
  host: hostname(),
  version: packageJson.version,
  base_url: config.base_url,
  sites_domain: config.sites_domain,
  settings: sharedSettings(config),
  turns: turnsOf(config),
  failed: loggedBy(log, "the database that all boxes share"),
  gone(why) {
    log.error("the database that all boxes share", why);
    process.kill(process.pid, "SIGTERM"); // it drains, and starts no more
  },
  tell: (host, names) => log.event(`${host} has other settings than this server: ${names}`),
});

/** Starts the clock of each job that is turned on. `config`: with the addresses under which the sites are reached. `fatal`
 *  ends the process, which must write nothing more: no further turn begins. `log` is the process's, if it has one. */
export function startUpkeep(
  config: Config,
  now: () => number,
  fatal: (error: unknown) => void,
  log: Log = createLog(config.log, now),
): { stop(): Promise<void> } {
  const figures = openFigures(config.data_dir);
  const rows = new Map(JOBS.map((job) => [job.name, new JobRow(job, () => ({ log, figures, now: now() }))]));
  const thread = upkeepThread(config, {
    heard(message) {
      const row = rows.get(message.job)!;
      if ("said" in message) return row.note(message.said);
      row.over(message.error);
      if (!message.fatal) return;
      stopClocks();
      void thread.end();
      fatal(new Error(message.error!));
    },
    died(why) {
      const under_way = [...rows.values()].filter(({ busy }) => busy);
      if (under_way.length === 0) log.error("upkeep", why);
      for (const row of under_way) row.over(why);
    },
  });
  function order(row: JobRow): void {
    if (row.busy) return;
    thread.send({ job: row.job.name, now: now() });
    row.busy = true;
  }
  const clocks = [...rows.values()].flatMap((row) => {
    const ms = row.job.every_ms(config);
    return ms === null ? [] : [every(ms, () => order(row), row.failed)];
  });
  if (config.acme !== null && config.http_port === null) {
    log.event("certificate: those of domains are ordered only where --http-port (SVC_HTTP_PORT) is set");
  }
  const look = watchingDatabase(config, log, figures);
  clocks.push(every(LOOK_MS, look, loggedBy(log, "looking for the database")));
  const telling = [
    bulletinBoard(figures.putText, log.errors),
    tellingTraffic(log, figures, now),
    watchingCertificate(log, figures, now),
  ];
  clocks.push(every(TELL_MS, () => telling.forEach((tell) => tell()), loggedBy(log, "telling how the server is")));
  const stopClocks = () => clocks.forEach((clock) => clock.stop());
  return {
    async stop() {
      stopClocks();
      await thread.end();
      await log.close();
    },
  };
}
