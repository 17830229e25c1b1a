/** The figures of a serving process itself in `/metrics`. Nothing here throws: it runs in a timer, and without a free descriptor
 *  the runtime cannot even read how much memory it has. */
import packageJson from "../../package.json" with { type: "json" };
import { allowedDescriptors } from "../config/machine.ts";
import type { DeployPool } from "../deploy/pool.ts";
import type { ProcessFigures, Sample } from "../run/metrics.ts";
import { SCHEMA } from "../store/index.ts";
import { openDescriptors } from "./connection-limit.ts";
import type { Listener } from "./listener.ts";

/** The last value that could be read. */
function lastKnown(read: () => number | null): () => number {
  let last = 0;
  return () => {
    try {
      last = read() ?? last;
    } catch {
      // The next turn may be able to.
    }
    return last;
  };
}

const slotsOf = ({ slots, busy, waiting }: ReturnType<DeployPool["load"]>) => ({
  deploy_slots: slots,
  busy_slots: busy,
  waiting_deploys: waiting,
});

interface Watched {
  listener: Pick<Listener, "connections" | "max_connections">;
  pool: Pick<DeployPool, "load">;
  now: () => number;
}

export function processFigures({ listener, pool, now }: Watched): () => ProcessFigures {
  const started_at = now();
  const max_fds = allowedDescriptors() ?? 0;
  const resident = lastKnown(() => process.memoryUsage.rss());
  const open = lastKnown(openDescriptors);
  const cpu = lastKnown(() => process.cpuUsage().user + process.cpuUsage().system);
  return () => ({
    ...slotsOf(pool.load()),
    resident_bytes: resident(),
    open_fds: open(),
    max_fds,
    cpu_us: cpu(),
    started_at,
    connections: listener.connections(),
    max_connections: listener.max_connections,
  });
}

export const buildInfo: Sample = {
  name: "svc_build_info",
  type: "gauge",
  help: "Always 1: which program it is, and the schema of its database.",
  label: `version="${packageJson.version}",schema="${SCHEMA}",bun="${Bun.version}"`,
  value: 1,
};
