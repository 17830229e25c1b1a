/** Several serving processes on one port. The first process only supervises: it holds the data directory, starts the
 *  workers, replaces one that dies, and on SIGHUP replaces them one by one (RELIABILITY 2, Start). */
import { type Config, type Env, isSecure, storeAddress, withAddresses, withoutSecrets } from "../config/index.ts";
import { createLog, type Log } from "../run/log.ts";
import { ASKS, IS_READY, type ServerChild, startServerChild } from "../run/child.ts";
import { every, loggedBy } from "../run/every.ts";
import { WORKER_COMMAND } from "../run/program.ts";
import { listenPatiently } from "./listener.ts";
import { checkBlobs, endForRecovery, logStart, prepareData, startWorker } from "./service.ts";
import { certificateFiles, openStore } from "../store/index.ts";
import { startUpkeep } from "../upkeep/index.ts";

/** A worker that dies at once must not make the supervisor spin. */
const RESTART_MS = 500;
/** Changes of certificates are gathered for so long. */
const CERTIFICATES_MS = 1000;

/** Starts a worker; resolves when it serves, rejects when it ends before. */
const spawnWorker = (config: Config, env: Env): Promise<ServerChild> =>
  startServerChild(WORKER_COMMAND, withoutSecrets(env), config);

/** The port that all workers share: with 0, one that is free right now. Throws where another server has it, which the
 *  workers' listeners would share it with: each of the two would get some of the requests. */
async function choosePort(config: Config): Promise<Config> {
  const probe = await listenPatiently(config, () =>
    Bun.serve({ hostname: config.host, port: config.port, fetch: () => new Response() }),
  );
  const { port } = probe;
  probe.stop(true);
  return withAddresses(config, port!);
}

/** Lets it answer what is in flight; resolves when it has ended. */
function end(child: ServerChild): Promise<number> {
  child.kill("SIGTERM");
  return child.exited;
}

/** The workers that serve. One that dies is replaced. */
function createCrew(config: Config, env: Env, log: Log) {
  const workers = new Set<ServerChild>();
  let stopping = false;

  async function add(): Promise<void> {
    const child = await spawnWorker(config, env);
    workers.add(child);
    void child.exited.then((code) => {
      if (!workers.delete(child) || stopping) return;
      log.event(`worker ${child.pid} ended with ${child.signalCode ?? code}: starting another`);
      void keepTrying();
    });
  }
  async function keepTrying(): Promise<void> {
    await Bun.sleep(RESTART_MS);
    if (stopping) return;
    await add().catch((error: unknown) => {
      log.error("starting a worker", error);
      void keepTrying();
    });
  }
  return {
    start: () => Promise.all(Array.from({ length: config.workers }, add)),
    /** Each new one serves before the old one drains. */
    async replaceAll(): Promise<void> {
      for (const old of [...workers]) {
        if (stopping) return;
        await add();
        workers.delete(old);
        await end(old);
      }
    },
    async stop(): Promise<void> {
      stopping = true;
      await Promise.all([...workers].map(end));
    },
  };
}

/** Once for all workers. */
async function checkAll(config: Config, now: () => number, log: Log): Promise<void> {
  try {
    const store = await openStore({ ...storeAddress(config), now });
    await checkBlobs(store, log);
    await store.close();
  } catch (error) {
    log.error("checking blobs", error);
  }
}

/** Workers share a port, of whose sockets none can steer all connections: new certificates come in with new workers, as by SIGHUP. What
 *  comes while they are replaced is gathered for the next time. */
function watchCertificates({ data_dir }: Config, log: Log, replace: () => Promise<void>): { stop(): void } {
  let seen = certificateFiles.changedAt(data_dir);
  let replacing = false;
  return every(
    CERTIFICATES_MS,
    async () => {
      const at = certificateFiles.changedAt(data_dir);
      if (at === seen || replacing) return;
      replacing = true;
      seen = at;
      await replace().finally(() => (replacing = false));
    },
    loggedBy(log, "looking for new certificates"),
  );
}

interface Supervisor {
  config: Config;
  /** Replaces all workers; one time after the other, however often it is asked for. */
  reload(): Promise<void>;
  stop(): Promise<void>;
}

export async function supervise(configured: Config, env: Env, now: () => number): Promise<Supervisor> {
  const data = await prepareData(configured, now);
  const config = await choosePort(configured).catch(async (error) => {
    await data.close();
    throw error;
  });
  const log = createLog(config.log, now);
  const upkeep = startUpkeep(config, now, endForRecovery, log);
  const crew = createCrew(config, env, log);
  async function stop(): Promise<void> {
    await crew.stop();
    await upkeep.stop();
    await log.close();
    await data.close();
  }
  try {
    await crew.start();
  } catch (error) {
    await stop();
    throw error;
  }
  logStart(log, config);
  void checkAll(config, now, log);
  const replace = () =>
    crew.replaceAll().catch((error: unknown) => {
      log.error("SIGHUP: a new worker did not start, so the ones that are left go on", error);
    });
  let replaced = Promise.resolve();
  const reload = () => (replaced = replaced.then(replace));
  const watching = isSecure(config) ? watchCertificates(config, log, reload) : null;
  return { config, reload, stop: () => (watching?.stop(), stop()) };
}

/** The process that `spawnWorker` starts. None outlives its supervisor: a closed channel ends it at once. */
export async function runWorker(now: () => number): Promise<{ stop(): Promise<void> }> {
  process.on("disconnect", () => process.exit(1));
  const orders = Promise.withResolvers<Config>();
  process.once("message", (config: Config) => orders.resolve(config));
  process.send!(ASKS);
  const service = await startWorker(await orders.promise, now);
  process.send!(IS_READY);
  return service;
}
