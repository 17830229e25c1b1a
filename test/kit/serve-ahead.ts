/** A server as a process of its own whose clock is `SVC_TEST_CLOCK` milliseconds ahead, with children of the compiled program. */
const { now } = Date;
const ahead_ms = Number(process.env["SVC_TEST_CLOCK"] ?? 0);
Date.now = () => now() + ahead_ms;

const { readConfig } = await import("../../src/config/index.ts");
const { haveChildrenOf, WORKER_COMMAND } = await import("../../src/run/program.ts");
const { startService } = await import("../../src/server/service.ts");
const { runWorker, supervise } = await import("../../src/server/workers.ts");

async function start(): Promise<{ stop(): Promise<void> }> {
  if (process.argv[2] === WORKER_COMMAND) return runWorker(Date.now);
  const config = readConfig(process.argv.slice(2), process.env);
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
