/** A server whose clock goes an hour on with each SIGHUP: what it does each hour needs no hour. */
import { readConfig } from "../../src/config/index.ts";
import { startService } from "../../src/server/service.ts";

let ahead = 0;
process.on("SIGHUP", () => void (ahead += 3_600_000));
const config = readConfig(process.argv.slice(2), process.env);
const service = await startService(config, { now: () => Date.now() + ahead, goodbye_ms: 0 });
process.on("SIGTERM", () => void service.stop().then(() => process.exit(0)));
process.stdout.write(`svc-server listening on ${service.config.base_url}\n`);
