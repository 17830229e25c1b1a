/** The parts of a serving process put together: store, deploys, sites, API, listener; and its end, the drain. */
import { type App, createApp } from "./app.ts";
import { type Config, withAddresses } from "../config/index.ts";
import { availableParallelism } from "node:os";
import { createCoders } from "../coding/coders.ts";
import { createPool, type DeployPool } from "../deploy/pool.ts";
import type { Code } from "../http/codings.ts";
import { createLog, type Log } from "../run/log.ts";
import { createMetrics, keepCounting, type Figure, type Metrics, slotOf } from "../run/metrics.ts";
import type { ApiParts } from "../routes/context.ts";
import { createApi } from "../routes/index.ts";
import { apiRoutes } from "../routes/table.ts";
import { createMetricsAnswer } from "../routes/metrics.ts";
import { requestReader } from "../http/context.ts";
import { createTakeReport } from "../routes/abuse-report.ts";
import { limiter } from "../http/rate-limit.ts";
import { inFlight } from "../routes/deploys/uploads.ts";
import { createSiteServer, type SiteServer } from "../serve/site.ts";
import type { Rates } from "../base/rates.ts";
import { isCommitUnknown } from "../store/refusals.ts";
import { openServing, readSecrets, type Store } from "../store/index.ts";
import { type Listener, openListener } from "./listening/listener.ts";
import { type Locating, startLocating } from "./locating.ts";
import { buildInfo, processFigures, watchedPool } from "./process-figures.ts";
import { commentParts, createCommentPaths } from "./comments.ts";
import { createOwnPaths } from "./own-paths.ts";
import { prepareData } from "./prepare-data.ts";
import { listenPatiently } from "./listening/port.ts";
import { logStart } from "./start-line.ts";
import { startUpkeep } from "../upkeep/index.ts";
import type { Site } from "../base/types.ts";
import { cacheBytes } from "../config/machine.ts";
import { readTls } from "../config/tls.ts";
import { createErrorPage } from "../web/error-page.ts";
import { WEB } from "../web/index.ts";

/** Clients leave between two requests while every answer says `Connection: close` (BUN 2: no request lost). */
const GOODBYE_MS = 500;
const DRAIN_MS = 10_000;

export interface Service {
  /** With the port that was really bound. */
  config: Config;
  store: Store;
  /** Reads certificate and key again, for whoever connects from now on. What came of it stands in the log. */
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
  locating: Locating;
}

function appFor(
  config: Config,
  { store, rates, pool, code, log, metrics, locating }: Running,
  state: { draining: boolean; read_only: boolean },
  { now, fatal }: Pick<ServiceOptions, "now"> & Pick<Serving, "fatal">,
): App {
  const shown = { base_url: config.base_url, sites_domain: config.sites_domain, contact: config.contact };
  const ending = () => state.draining;
  const cache_bytes = cacheBytes(config.workers);
  const beside = { skew: config.skew, skewed: () => metrics.count("svc_skew_answers_total") };
  const sites: SiteServer = createSiteServer({ ...shown, store, now, ending, code, cache_bytes, ...beside });
  const published = (site: Site, version_id: string) => {
    metrics.count("svc_deploys_total");
    sites.warm(site, version_id).catch((error) => log.error(`coding ${site.site_id} ${version_id}`, error));
  };
  const limit = limiter(rates, config);
  const secrets = readSecrets(config.data_dir);
  const spendOnce = async (secret: string, window_ms: number) =>
    (await rates.take("spent", secret, [{ count: 1, window_ms }])).allowed;
  const flights = { uploads: inFlight("uploads", config.max_zip_bytes), writes: inFlight("requests") };
  const comments = commentParts({ config, store, sites, rates, limit, secrets, now, locating });
  const taken = () => metrics.count("svc_abuse_reports_total");
  const takeReport = createTakeReport({ store, limit, now, taken });
  const requests = requestReader(config);
  const own = createOwnPaths({ requests, takeReport, code, comments: createCommentPaths(comments), sites });
  const explain = explaining(sites, own);
  const parts = { config, store, pool, code, ...flights, limit, secrets, spendOnce, now, published, comments, explain };
  return createApp({
    config,
    requests,
    api: createApi(parts, [...apiRoutes(config), ...WEB]),
    apiErrorPage: createErrorPage(parts),
    sites,
    ownPaths: own.answer,
    metricsAnswer: createMetricsAnswer({ config, metrics, store, now, build: buildInfo }),
    metrics,
    log,
    draining: ending,
    fatal,
    readOnly: () => state.read_only,
  });
}

const explaining =
  (sites: Pick<SiteServer, "explain">, { find }: ReturnType<typeof createOwnPaths>): ApiParts["explain"] =>
  (request, host) =>
    sites.explain(request, host, (exchange) => find(request, host, exchange));

/** The signal handlers of server.ts know the exit code. */
export const endForRecovery = (): void => void process.kill(process.pid, "SIGUSR2");

function startPool(config: Config, now: () => number, log: Log, metrics: () => Metrics) {
  const { data_dir, max_files, max_bytes, max_zip_bytes } = config;
  const limits = { max_files, max_bytes, max_zip_bytes };
  return watchedPool(createPool({ data_dir, limits, now, log }), metrics);
}

interface Serving extends Service {
  /** Takes no write any more, and ends the process. */
  fatal(error: unknown): void;
}

/** What ends the process, and what asks whether it must. */
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

/** What SIGHUP is for. The old pair stays where the new one cannot be used. */
function renewCertificate(config: Config, listener: Listener, log: Log): void {
  try {
    const fresh = readTls(config);
    if (fresh === null) return log.event("SIGHUP: there is no certificate to read again");
    listener.renew(fresh);
    log.event("SIGHUP: the certificate was read again, and new connections get it");
  } catch (error) {
    log.error("SIGHUP: the certificate stays as it was", (error as Error).message);
  }
}

/** Serves until `stop`. The data directory must be prepared already. */
async function serve(config: Config, options: ServiceOptions): Promise<Serving> {
  const { now, goodbye_ms = GOODBYE_MS, drain_ms = DRAIN_MS } = options;
  const tls = readTls(config);
  const log = createLog(config.log, now);
  const state = { draining: false, read_only: false };
  const { fatal, lost } = endings(state, log, options.fatal);
  const { data_dir, webhooks } = config;
  const { store, rates } = await openServing({ data_dir, announces: webhooks === "on", now, lost });
  const pool = startPool(config, now, log, () => metrics);
  const coders = createCoders({ log });
  let app: App;
  const { worker = false } = options;
  const count = (figure: Figure) => metrics.count(figure);
  const listener = await listenPatiently(config, () =>
    openListener({ config, tls, app: () => app, worker, log, count }),
  );
  const bound = withAddresses(config, listener.port);
  const figures = processFigures({ listener, pool, now });
  const metrics: Metrics = createMetrics(store.figures, figures);
  const counting = keepCounting(metrics, log);
  const locating = startLocating(config.data_dir);
  app = appFor(bound, { store, rates, pool, code: coders.code, log, metrics, locating }, state, { now, fatal });
  if (!worker) logStart(log, bound);
  checkBlobs(store, log);
  store.rememberServerAddress(bound).catch(lost);

  async function stop(): Promise<void> {
    state.draining = true;
    await Bun.sleep(goodbye_ms);
    await listener.stop(drain_ms - goodbye_ms);
    await pool.stop();
    await coders.stop();
    locating.stop();
    counting.stop();
    rates.close();
    await store.close();
    await log.close();
  }
  return { config: bound, store, reload: () => renewCertificate(config, listener, log), stop, fatal };
}

/** In the background: serving does not wait for it. */
function checkBlobs(store: Store, log: Log): void {
  store.missingBlobs().then(
    (missing) => {
      store.figures.set(slotOf("svc_blobs_missing"), missing.length);
      for (const sha256 of missing) log.error("blob missing", `${sha256} is named by a live version`);
    },
    (error) => log.error("checking blobs", error),
  );
}

/** A whole server in this process. Throws `DataDirInUse` where another one has the data directory. */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const data = prepareData(config, options.now());
  try {
    const service = await serve(config, options);
    const upkeep = startUpkeep(service.config, options.now, service.fatal);
    return {
      ...service,
      async stop() {
        await upkeep.stop();
        await service.stop();
        data.close();
      },
    };
  } catch (error) {
    data.close();
    throw error;
  }
}

/** One of several processes on a shared port: the supervisor has prepared the data directory and sweeps it. */
export const startWorker = (config: Config, now: () => number): Promise<Service> =>
  serve(config, { now, worker: true });
