/** The parts of a serving process put together: store, deploys, sites, API, listener; and its end, the drain. */

import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { Refusal } from "../base/errors.ts";
import type { Rates } from "../base/rates.ts";
import type { Site } from "../base/types.ts";
import { type Coders, createCoders } from "../coding/coders.ts";
import { type Config, isSecure, storeAddress, withAddresses } from "../config/index.ts";
import { allowedDescriptors, cacheBytes } from "../config/machine.ts";
import { createPool, type DeployPool } from "../deploy/pool.ts";
import { createDomains } from "../domains/index.ts";
import { openCertificates } from "../domains/served.ts";
import type { Code } from "../http/codings.ts";
import { requestReader } from "../http/context.ts";
import { limiter } from "../http/rate-limit.ts";
import { createTakeReport } from "../routes/abuse-report.ts";
import type { ApiParts } from "../routes/context.ts";
import { inFlight } from "../routes/deploys/request.ts";
import { createApi } from "../routes/index.ts";
import { createMetricsAnswer, createTlsAsk } from "../routes/metrics.ts";
import { apiRoutes } from "../routes/table.ts";
import { bulletinBoard, createTraffic, type Traffic } from "../run/bulletin.ts";
import { createLog, createLogAtOnce, type Log } from "../run/log.ts";
import {
  createMetrics,
  type Figure,
  keepCounting,
  type Metrics,
  type ProcessFigures,
  type Sample,
  slotOf,
} from "../run/metrics.ts";
import { createSiteServer, type SiteServer } from "../serve/site.ts";
import { openServing, prepareStore, SCHEMA, secretFiles, type Store } from "../store/index.ts";
import { type Counts, createCounts } from "../statistics/counts.ts";
import { createNoteVisit } from "../statistics/visits.ts";
import { isCommitUnknown } from "../store/refusals.ts";
import { boxOf, startUpkeep } from "../upkeep/index.ts";
import { createErrorPage } from "../web/error-page.ts";
import { WEB } from "../web/index.ts";
import { type App, createApp } from "./app.ts";
import { createDoor } from "./door.ts";
import { commentParts, createCommentPaths, createOwnPaths } from "./own-paths.ts";
import { openDescriptors } from "./connection-limit.ts";
import { type Listener, listenPatiently, openListener, openPlainListener } from "./listener.ts";
import { type QuoteSearch, startQuoteSearch } from "./quote-search.ts";

/** Clients leave between two requests while every answer says `Connection: close` (BUN 2: no request lost). */
const GOODBYE_MS = 500;
const DRAIN_MS = 10_000;

export interface Service {
  /** With the port that was really bound. */
  config: Config;
  store: Store;
  /** Reads certificate and key again, for new connections. The log says how it went. */
  reload(): void;
  /** Drains: answers what is in flight (at most 10 s), then closes everything. */
  stop(): Promise<void>;
}

interface ServiceOptions {
  now: () => number;
  /** One of several processes on the port: the supervisor holds the data directory and sweeps. */
  worker?: boolean;
  /** Called when only a restart into recovery can help; by default the process ends with 70 after the drain. */
  fatal?: (error: unknown) => void;
  /** How long answers say goodbye before the listener closes; with 0 it closes at once. */
  goodbye_ms?: number;
  /** How long what is in flight may take, goodbye included. */
  drain_ms?: number;
}

interface Running {
  store: Store;
  rates: Rates;
  pool: DeployPool;
  code: Code;
  log: Log;
  metrics: Metrics;
  trafficOf: Traffic["of"];
  quote_search: QuoteSearch;
  counts: Counts;
}

function appFor(
  config: Config,
  { store, rates, pool, code, log, metrics, trafficOf, quote_search, counts: statistics }: Running,
  state: { draining: boolean; read_only: boolean },
  { now, fatal }: Pick<ServiceOptions, "now"> & Pick<ServingProcess, "fatal">,
): { app: App; isThere: IsThere } {
  const shown = { base_url: config.base_url, sites_domain: config.sites_domain, contact: config.contact };
  const ending = () => state.draining;
  const cache_bytes = cacheBytes(config.workers);
  const counts = { skewed: () => metrics.count("svc_skew_answers_total"), refused: metrics.refused, trafficOf };
  const sites: SiteServer = createSiteServer({
    ...shown,
    ...counts,
    store,
    now,
    ending,
    code,
    cache_bytes,
    skew: config.skew,
  });
  const published = (site: Site, version_id: string) => {
    metrics.count("svc_deploys_total");
    sites.warm(site, version_id).catch((error) => log.error(`coding ${site.site_id} ${version_id}`, error));
  };
  const limit = limiter(rates, config);
  const secrets = secretFiles.read(config.data_dir);
  const spendOnce = async (secret: string, window_ms: number) =>
    (await rates.take("spent", secret, [{ count: 1, window_ms }])).allowed;
  const flights = { uploads: inFlight("uploads", config.max_zip_bytes), writes: inFlight("requests") };
  const comments = commentParts({ config, store, sites, rates, limit, secrets, now, quote_search });
  const taken = () => metrics.count("svc_abuse_reports_total");
  const takeReport = createTakeReport({ store, limit, now, taken });
  const requests = requestReader(config);
  const own = createOwnPaths({ requests, takeReport, code, comments: createCommentPaths(comments), sites });
  const explain = explaining(sites, own);
  const domains = createDomains({ config, store, secret: secrets.domains });
  const door = createDoor({ config, store, comments, secret: secrets.access, now });
  const shared = { config, store, limit, secrets, now, comments, domains, explain, statistics };
  const parts = { ...shared, pool, code, ...flights, spendOnce, published };
  const isThere = isThereIn(sites);
  const app = createApp({
    config,
    requests,
    api: createApi(parts, [...apiRoutes(config), ...WEB]),
    apiErrorPage: createErrorPage(parts),
    sites,
    ownPaths: own.answer,
    door,
    metricsAnswer: createMetricsAnswer({ config, metrics, store, now, build: buildInfo }),
    tlsAsk: createTlsAsk({ config, isThere }),
    metrics,
    noteVisit: config.stats === "on" ? createNoteVisit({ requests, now, take: statistics.take }) : null,
    trafficOf,
    log,
    draining: ending,
    fatal,
    readOnly: () => state.read_only,
  });
  return { app, isThere };
}

const explaining =
  (sites: Pick<SiteServer, "explain">, { find }: ReturnType<typeof createOwnPaths>): ApiParts["explain"] =>
  (request, host) =>
    sites.explain(request, host, (exchange) => find(request, host, exchange));

type IsThere = Parameters<typeof createTlsAsk>[0]["isThere"];

/** A site that the operator took down is there: its page says so. */
const isThereIn =
  ({ domainAt, shown }: Pick<SiteServer, "domainAt" | "shown">): IsThere =>
  async (host) => {
    if ("domain" in host) return (await domainAt(host.domain)) !== null;
    try {
      await shown(host);
      return true;
    } catch (error) {
      if (error instanceof Refusal) return error.code === "site_disabled";
      throw error;
    }
  };

/** The signal handlers of server.ts know the exit code. */
export const endForRecovery = (): void => void process.kill(process.pid, "SIGUSR2");

interface ServingProcess extends Service {
  /** Takes no write any more, and ends the process. */
  fatal(error: unknown): void;
}

/** `fatal` ends the process; `lost` hears of a failed write, and ends it when it must. */
function endings(state: { read_only: boolean }, log: Log, end: (error: unknown) => void = endForRecovery) {
  const fatal = (error: unknown): void => {
    if (state.read_only) return;
    state.read_only = true;
    end(error);
  };
  const lost = (error: unknown): void => {
    log.error("a write that nobody waited for", error);
    if (isCommitUnknown(error)) fatal(error);
  };
  return { fatal, lost };
}

/** The plain port beside https; null where there is none. */
async function openPlain(
  config: Config,
  parts: Omit<Parameters<typeof openPlainListener>[0], "config" | "port">,
): Promise<ReturnType<typeof openPlainListener> | null> {
  const { host, http_port: port } = config;
  return port === null ? null : listenPatiently({ host, port }, () => openPlainListener({ config, port, ...parts }));
}

/** Serves until `stop`. The data directory must be prepared already. */
async function serve(config: Config, options: ServiceOptions): Promise<ServingProcess> {
  const { now, goodbye_ms = GOODBYE_MS, drain_ms = DRAIN_MS } = options;
  const log = createLog(config.log, now);
  const certificates = isSecure(config) ? await openCertificates({ config, now, log }) : null;
  const tls = certificates && (await certificates.all());
  const state = { draining: false, read_only: false };
  const { fatal, lost } = endings(state, log, options.fatal);
  const { webhooks, max_files, max_bytes, max_zip_bytes } = config;
  const { store, rates } = await openServing({ ...storeAddress(config), announces: webhooks === "on", now, lost });
  const limits = { max_files, max_bytes, max_zip_bytes };
  const pool = createPool({ ...storeAddress(config), limits, now, log });
  const coders = createCoders({ log });
  let app: App;
  const { worker = false } = options;
  const count = (figure: Figure) => metrics.count(figure);
  const listener = await listenPatiently(config, () =>
    openListener({ config, tls, app: () => app, worker, log, count }),
  );
  const watching = worker ? undefined : certificates?.watch(listener.renew); // the supervisor replaces workers
  const bound = withAddresses(config, listener.port);
  const certificateEnd = certificates?.firstEnd ?? (() => null);
  const figures = processFigures({ listener, pool, coders, now, certificateEnd });
  const metrics: Metrics = createMetrics(store.figures, figures);
  const traffic = createTraffic();
  const tell = bulletinBoard(store.figures.putText, log.errors, () => traffic.hours(now()));
  const counting = keepCounting(metrics, log, tell);
  const quote_search = startQuoteSearch(storeAddress(config));
  const flush_ms = config.stats === "on" ? config.stats_flush : null;
  const counts = createCounts({ ...storeAddress(config), sites_domain: bound.sites_domain, flush_ms, now, log });
  const running = { store, rates, pool, code: coders.code, log, metrics, trafficOf: traffic.of, quote_search, counts };
  const { isThere, ...served } = appFor(bound, running, state, { now: store.now, fatal });
  app = served.app;
  const plain = await openPlain(bound, { worker, log, isThere, challenge: store.certificates.challenge });
  if (!worker) {
    logStart(log, bound);
    void checkBlobs(store, log);
  }
  store.rememberServerAddress(bound).catch(lost);

  async function stop(): Promise<void> {
    state.draining = true;
    watching?.stop();
    await Bun.sleep(goodbye_ms);
    await plain?.stop();
    await listener.stop(drain_ms - goodbye_ms);
    await pool.stop();
    await coders.stop();
    quote_search.stop();
    await counts.stop();
    counting.stop();
    rates.close();
    await store.close();
    await log.close();
  }
  const reload = (): void => {
    if (certificates === null) log.event("SIGHUP: there is no certificate to read again");
    else void certificates.reload(listener.renew);
  };
  return { config: bound, store, reload, stop, fatal };
}

/** Looks whether the files of live versions are there. No start waits for it. */
export function checkBlobs(store: Pick<Store, "missingBlobs" | "figures">, log: Log): Promise<void> {
  return store.missingBlobs().then(
    (missing) => {
      store.figures.set(slotOf("svc_blobs_missing"), missing.length);
      for (const sha256 of missing) log.error("blob missing", `${sha256} is named by a live version`);
    },
    (error) => log.error("checking blobs", error),
  );
}

/** Starts a whole server in this process. Throws `DataDirInUse` when another one has the data directory. */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const data = await prepareData(config, options.now);
  try {
    const service = await serve(config, options);
    const upkeep = startUpkeep(service.config, options.now, service.fatal);
    return {
      ...service,
      async stop() {
        await upkeep.stop();
        await service.stop();
        await data.close();
      },
    };
  } catch (error) {
    await data.close();
    throw error;
  }
}

/** Starts one of several processes on a shared port: the supervisor has prepared the data directory and keeps it up. */
export const startWorker = (config: Config, now: () => number): Promise<Service> =>
  serve(config, { now, worker: true });

/** The log's line of a start: the first questions of a night. */

export const logStart = (log: Pick<Log, "record">, config: Config): void =>
  log.record("start", {
    version: packageJson.version,
    schema: SCHEMA,
    data_dir: resolve(config.data_dir),
    address: config.base_url,
    listens_on: `${config.host}:${config.port}`,
    workers: config.workers,
    max_connections: config.max_connections,
  });

/** Readies the data directory before anything listens. Throws `DataDirInUse` when another server has it. With webhooks turned
 *  off, what waits is not sent later either: to an owner it would be news of long ago. */
export async function prepareData(config: Config, now: () => number): Promise<{ close(): void | Promise<void> }> {
  const { webhooks, notify, stats, log: format } = config;
  const log = createLogAtOnce(format, now);
  const tell = (sentence: string) => log.event(`upgrade of the database: ${sentence}`);
  const letters = { drops_deliveries: webhooks === "off", notices: notify !== null };
  const preparing = { now: now(), ...letters, counts_visits: stats === "on", tell };
  const box = boxOf(config, createLog(format, now), { now, machine: Date.now });
  return prepareStore(storeAddress(config), box, preparing);
}

/** The figures of a serving process itself in `/metrics`. Nothing here throws: it runs in a timer, and without a free descriptor
 *  the runtime cannot even read how much memory it has. */

/** The last value that could be read. */
function lastKnown(read: () => number | null): () => number {
  let last = 0;
  return () => {
    try {
      last = read() ?? last;
    } catch {
      // The next turn may be able to.
    }
    return last;
  };
}

const slotsOf = ({ slots, busy, waiting, oldest_ms }: ReturnType<DeployPool["load"]>) => ({
  deploy_slots: slots,
  busy_slots: busy,
  waiting_deploys: waiting,
  oldest_deploy_ms: oldest_ms,
});

const codingsOf = ({ waiting, oldest_ms }: ReturnType<Coders["load"]>) => ({
  waiting_codings: waiting,
  oldest_coding_ms: oldest_ms,
});

interface Watched {
  listener: Pick<Listener, "connections" | "max_connections">;
  pool: Pick<DeployPool, "load">;
  coders: Pick<Coders, "load">;
  now: () => number;
  /** Epoch milliseconds; null without a certificate. */
  certificateEnd: () => number | null;
}

function processFigures({ listener, pool, coders, now, certificateEnd }: Watched): () => ProcessFigures {
  const started_at = now();
  const max_fds = allowedDescriptors() ?? 0;
  const resident = lastKnown(() => process.memoryUsage.rss());
  const open = lastKnown(openDescriptors);
  const cpu = lastKnown(() => process.cpuUsage().user + process.cpuUsage().system);
  return () => ({
    ...slotsOf(pool.load()),
    ...codingsOf(coders.load()),
    certificate_s: ((certificateEnd() ?? now()) - now()) / 1000,
    resident_bytes: resident(),
    open_fds: open(),
    max_fds,
    cpu_us: cpu(),
    started_at,
    connections: listener.connections(),
    max_connections: listener.max_connections,
  });
}

const buildInfo: Sample = {
  name: "svc_build_info",
  type: "gauge",
  help: "Always 1: which program it is, and the schema of its database.",
  label: `version="${packageJson.version}",schema="${SCHEMA}",bun="${Bun.version}"`,
  value: 1,
};
