/** A server as a process of its own on the store of `SVC_TEST_STORE` (JSON: a `StoreAddress`): no setting gives one yet. */
import { readConfig } from "../../src/config/index.ts";
import { haveChildrenOf } from "../../src/run/program.ts";
import { startService } from "../../src/server/service.ts";
import type { StoreAddress } from "../../src/store/index.ts";

const { data_dir, database_url, bucket, stale_ms } = JSON.parse(process.env["SVC_TEST_STORE"]!) as StoreAddress;
const config = readConfig(["--data-dir", data_dir, ...process.argv.slice(2)], process.env);
haveChildrenOf(process.env["SVC_TEST_SERVER"] || null);
const service = await startService(
  { ...config, ...(database_url && { database_url }), ...(bucket && { bucket }), ...(stale_ms && { stale_ms }) },
  { now: Date.now },
);
console.log(`listening on http://127.0.0.1:${service.config.port}`);
process.on("SIGTERM", () => void service.stop().then(() => process.exit(0)));
