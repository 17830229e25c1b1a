/** A server as a process of its own on the store of `SVC_TEST_STORE` (JSON: a `StoreAddress`): no setting gives one yet. Its clock is
 *  `SVC_TEST_CLOCK` milliseconds ahead. */
const { now } = Date;
const ahead_ms = Number(process.env["SVC_TEST_CLOCK"] ?? 0);
Date.now = () => now() + ahead_ms;

const { readConfig } = await import("../../src/config/index.ts");
const { haveChildrenOf } = await import("../../src/run/program.ts");
const { startService } = await import("../../src/server/service.ts");
type StoreAddress = import("../../src/store/index.ts").StoreAddress;

const { data_dir, database_url, bucket, stale_ms } = JSON.parse(process.env["SVC_TEST_STORE"]!) as StoreAddress;
const config = readConfig(["--data-dir", data_dir, ...process.argv.slice(2)], process.env);
haveChildrenOf(process.env["SVC_TEST_SERVER"] || null);
try {
  const service = await startService(
    { ...config, ...(database_url && { database_url }), ...(bucket && { bucket }), ...(stale_ms && { stale_ms }) },
    { now: Date.now },
  );
  console.log(`listening on http://127.0.0.1:${service.config.port}`);
  process.on("SIGTERM", () => void service.stop().then(() => process.exit(0)));
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
export {};
