/** The parts of a serving process put together: store, deploys, sites, API, listener; and its end, the drain. */
import { type App, createApp } from "./app.ts";
import { type Config, withAddresses } from "../config/index.ts";
import { createPool, type DeployPool } from "../deploy/pool.ts";
import { createLog, type Log } from "../log.ts";
import { createMetrics, keepCounting, type Metrics, slotOf } from "../metrics.ts";
import { createApi } from "../routes/index.ts";
import { createMetricsAnswer } from "../routes/metrics.ts";
import { createTakeReport } from "../routes/abuse-report.ts";
import { limiter } from "../http/rate-limit.ts";
import { TABLE } from "../routes/table.ts";
import { uploadsInFlight } from "../routes/uploads.ts";
import { createSiteServer, type SiteServer } from "../serve/site.ts";
import type { Rates } from "../rates.ts";
import { isCommitUnknown } from "../store/refusals.ts";
import { openRates, openStore, prepareDataDir, readSecrets, type Store } from "../store/index.ts";
import { createOwnPaths } from "./own-paths.ts";
import { startSweeping } from "./sweeping.ts";
import { readTls } from "../config/tls.ts";
import { WEB } from "../web/index.ts";

/** Clients leave between two requests while every answer says `Connection: close` (BUN 2: no request lost). */
const GOODBYE_MS = 500;
const DRAIN_MS = 10_000;
/** Seconds. At Bun's default of 10 a reader at 100 KB/s loses half of 10 MB. */
const IDLE_TIMEOUT_S = 120;
const CACHE_BYTES = 112 * 1024 * 1024;

export interface Service {
  /** With the port that was really bound. */
  config: Config;
  store: Store;
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
  log: Log;
  metrics: Metrics;
}

function appFor(
  config: Config,
  { store, rates, pool, log, metrics }: Running,
  state: { draining: boolean; read_only: boolean },
  { now, fatal }: Pick<ServiceOptions, "now"> & Pick<Serving, "fatal">,
): App {
  const { base_url, contact } = config;
  const ending = () => state.draining;
  const sites: SiteServer = createSiteServer({ store, now, base_url, contact, ending, cache_bytes: CACHE_BYTES });
  const published = (site_id: string, version_id: string) => {
    metrics.count("svc_deploys_total");
    sites.warm(site_id, version_id).catch((error) => log.error(`coding ${site_id} ${version_id}`, error));
  };
  const limit = limiter(rates, config);
  const secrets = readSecrets(config.data_dir);
  const spendOnce = async (secret: string, window_ms: number) =>
    (await rates.take("spent", secret, [{ count: 1, window_ms }])).allowed;
  const uploads = uploadsInFlight();
  const api = createApi({ config, store, pool, uploads, limit, secrets, spendOnce, now, published }, [
    ...TABLE,
    ...WEB,
  ]);
  const taken = () => metrics.count("svc_abuse_reports_total");
  const takeReport = createTakeReport({ config, store, limit, now, taken });
  return createApp({
    config,
    api,
    sites,
    ownPaths: createOwnPaths({ takeReport }, sites.shown),
    metricsAnswer: createMetricsAnswer({ config, metrics, store, now }),
    metrics,
    log,
    draining: ending,
    fatal,
    readOnly: () => state.read_only,
  });
}

const listener = (config: Config, tls: ReturnType<typeof readTls>, app: () => App, worker: boolean) =>
  Bun.serve({
    hostname: config.host,
    port: config.port,
    reusePort: worker,
    development: false,
    idleTimeout: IDLE_TIMEOUT_S,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER, // our own limits answer in JSON; Bun's would be an empty 413
    ...(tls && { tls, http2: true }),
    fetch: (request, server) =>
      app()(request, {
        address: () => server.requestIP(request)?.address ?? null,
        extendTimeout: (seconds) => server.timeout(request, seconds),
      }),
    error: () => new Response("Internal error", { status: 500 }),
  });

/** The signal handlers of server.ts know the exit code. */
export const endForRecovery = (): void => void process.kill(process.pid, "SIGUSR2");

interface Serving extends Service {
  /** Takes no write any more, and ends the process. */
  fatal(error: unknown): void;
}

/** Serves until `stop`. The data directory must be prepared already. */
async function serve(config: Config, options: ServiceOptions): Promise<Serving> {
  const { now, goodbye_ms = GOODBYE_MS, drain_ms = DRAIN_MS } = options;
  const tls = readTls(config);
  const log = createLog(config.log, now);
  const { data_dir, max_files, max_bytes, max_zip_bytes } = config;
  const store = await openStore({ data_dir, now, watch: true });
  const rates = openRates(data_dir, now);
  const pool = createPool({ data_dir, limits: { max_files, max_bytes, max_zip_bytes }, now });
  const state = { draining: false, read_only: false };
  const fatal = (error: unknown): void => {
    if (state.read_only) return;
    state.read_only = true;
    (options.fatal ?? endForRecovery)(error);
  };
  let app: App;
  const server = listener(config, tls, () => app, options.worker ?? false);
  const bound = withAddresses(config, server.port!);
  const metrics = createMetrics(store.figures);
  const counting = keepCounting(metrics, log);
  app = appFor(bound, { store, rates, pool, log, metrics }, state, { now, fatal });
  checkBlobs(store, log);
  store.rememberServerAddress(bound).catch((error) => {
    log.error("remembering the address", error);
    if (isCommitUnknown(error)) fatal(error);
  });

  async function stop(): Promise<void> {
    state.draining = true;
    await Bun.sleep(goodbye_ms);
    await Promise.race([server.stop(), lastAnswer(server), Bun.sleep(drain_ms - goodbye_ms)]);
    await server.stop(true);
    await pool.stop();
    counting.stop();
    rates.close();
    store.close();
    await log.close();
  }
  return { config: bound, store, stop, fatal };
}

/** Resolves when nothing has been in flight for a moment. `stop()` alone waits for a browser's connections, too, that
 *  it opened ahead of requests it never made: up to nine seconds. */
async function lastAnswer(server: Bun.Server<undefined>): Promise<void> {
  for (let quiet = 0; quiet < 5; quiet = server.pendingRequests === 0 ? quiet + 1 : 0) await Bun.sleep(20);
}

/** In the background: serving does not wait for it. */
function checkBlobs(store: Store, log: Log): void {
  store.missingBlobs().then(
    (missing) => {
      store.figures.set(slotOf("svc_blobs_missing"), missing.length);
      for (const sha256 of missing) log.event(`blob missing: ${sha256} is named by a live version`);
    },
    (error) => log.error("checking blobs", error),
  );
}

/** A whole server in this process. Throws `DataDirInUse` where another one has the data directory. */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const data = prepareDataDir(config.data_dir);
  try {
    const service = await serve(config, options);
    const sweeping = startSweeping(config, options.now, service.fatal);
    return {
      ...service,
      async stop() {
        await sweeping.stop();
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
