/** The data directory before anything listens. */
import type { Config } from "../config/index.ts";
import { prepareDataDir } from "../store/index.ts";

/** Throws `DataDirInUse` where another server has it. With webhooks turned off, what waits is not sent later either: to an
 *  owner it would be news of long ago. */
export const prepareData = ({ data_dir, webhooks }: Config, now: number): { close(): void } =>
  prepareDataDir(data_dir, { now, drops_deliveries: webhooks === "off" });
