/** The log's line of a start: what whoever reads it at night asks first. */
import { resolve } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import type { Config } from "../config/index.ts";
import type { Log } from "../run/log.ts";
import { SCHEMA } from "../store/index.ts";

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
