/** Several serving processes on one port. The first process only supervises: it holds the data directory, starts the
 *  workers, replaces one that dies, and on SIGHUP replaces them one by one (RELIABILITY.md 2, Start). */
import { type Config, withAddresses } from "../config/index.ts";
import { createLog } from "../log.ts";
import { startWorker } from "./service.ts";
import { prepareDataDir } from "../store/index.ts";
import { startSweeping } from "./sweeping.ts";

/** The hidden subcommand of a worker; its configuration comes as JSON in this variable. */
export const WORKER_COMMAND = "__worker";
const CONFIG_VARIABLE = "SVC_WORKER_CONFIG";
/** A worker that dies at once must not make the supervisor spin. */
const RESTART_MS = 500;

type Child = Bun.Subprocess<"ignore", "inherit", "inherit">;

const command = (): string[] =>
  Bun.isStandaloneExecutable ? [process.execPath, WORKER_COMMAND] : [process.execPath, Bun.main, WORKER_COMMAND];

/** Starts a worker; resolves when it serves, rejects when it ends before. */
function spawnWorker(config: Config): Promise<Child> {
  const ready = Promise.withResolvers<Child>();
  const child: Child = Bun.spawn(command(), {
    env: { ...process.env, [CONFIG_VARIABLE]: JSON.stringify(config) },
    stdio: ["ignore", "inherit", "inherit"],
    ipc: () => ready.resolve(child),
    onExit: (_, code) => ready.reject(new Error(`a worker ended with ${code} before it served`)),
  });
  return ready.promise;
}

/** The port that all workers share: with 0, one that is free right now. Throws where another server has it, which the
 *  workers' listeners would share it with: each of the two would get some of the requests. */
function choosePort(config: Config): Config {
  const probe = Bun.serve({ hostname: config.host, port: config.port, fetch: () => new Response() });
  const { port } = probe;
  probe.stop(true);
  return withAddresses(config, port!);
}

export async function supervise(
  configured: Config,
): Promise<{ config: Config; stop(): Promise<void>; reload(): Promise<void> }> {
  const data = prepareDataDir(configured.data_dir);
  const config = choosePort(configured);
  const log = createLog(config.log);
  const sweeping = startSweeping(config, Date.now);
  const workers = new Set<Child>();
  let stopping = false;

  async function add(): Promise<void> {
    const child = await spawnWorker(config);
    workers.add(child);
    void child.exited.then((code) => {
      if (!workers.delete(child) || stopping) return;
      log.event(`worker ${child.pid} ended with ${child.signalCode ?? code}: starting another`);
      keepTrying();
    });
  }
  const keepTrying = () =>
    void Bun.sleep(RESTART_MS)
      .then(() => (stopping ? undefined : add()))
      .catch((error) => {
        log.error("starting a worker", error);
        keepTrying();
      });
  async function retire(child: Child): Promise<void> {
    workers.delete(child);
    child.kill("SIGTERM");
    await child.exited;
  }
  /** The new one serves before the old one drains. One that does not start leaves the rest as they are. */
  async function replaceAll(): Promise<void> {
    try {
      for (const old of [...workers]) {
        if (stopping) return;
        await add();
        await retire(old);
      }
    } catch (error) {
      log.error("SIGHUP: a new worker did not start, so the ones that are left go on", error);
    }
  }
  let replaced = Promise.resolve();

  try {
    await Promise.all(Array.from({ length: config.workers }, add));
  } catch (error) {
    stopping = true;
    await Promise.all([...workers].map(retire));
    await sweeping.stop();
    data.close();
    throw error;
  }
  return {
    config,
    /** One after the other, however often it is asked for. */
    reload: () => (replaced = replaced.then(replaceAll)),
    async stop() {
      stopping = true;
      await Promise.all([...workers].map(retire));
      await sweeping.stop();
      await log.close();
      data.close();
    },
  };
}

/** The process that `spawnWorker` starts. None outlives its supervisor: a closed channel ends it at once. */
export async function runWorker(): Promise<{ stop(): Promise<void> }> {
  process.on("disconnect", () => process.exit(1));
  const { port, ...rest } = JSON.parse(process.env[CONFIG_VARIABLE]!) as Config;
  const service = await startWorker({ ...rest, port });
  process.send!("ready");
  return service;
}
