/** A server as a process of its own on the store of `SVC_TEST_STORE` (JSON: a `StoreAddress`): no setting gives one yet. Its clock is
 *  `SVC_TEST_CLOCK` milliseconds ahead. */
const { now } = Date;
const ahead_ms = Number(process.env["SVC_TEST_CLOCK"] ?? 0);
Date.now = () => now() + ahead_ms;

const { readConfig } = await import("../../src/config/index.ts");
const { haveChildrenOf, WORKER_COMMAND } = await import("../../src/run/program.ts");
const { startService } = await import("../../src/server/service.ts");
const { runWorker, supervise } = await import("../../src/server/workers.ts");
type StoreAddress = import("../../src/store/index.ts").StoreAddress;

async function start(): Promise<{ stop(): Promise<void> }> {
  if (process.argv[2] === WORKER_COMMAND) return runWorker(process.env, Date.now);
  const { data_dir, ...stored } = JSON.parse(process.env["SVC_TEST_STORE"]!) as StoreAddress;
  const config = { ...readConfig(["--data-dir", data_dir, ...process.argv.slice(2)], process.env), ...stored };
  const several = config.workers > 1;
  if (!several) haveChildrenOf(process.env["SVC_TEST_SERVER"] || null); // several are started as this one was
  const service = several
    ? await supervise(config, process.env, Date.now)
    : await startService(config, { now: Date.now });
  console.log(`listening on http://127.0.0.1:${service.config.port}`);
  return service;
}

try {
  const service = await start();
  process.on("SIGTERM", () => void service.stop().then(() => process.exit(0)));
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
export {};
