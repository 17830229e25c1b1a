/** From this process to the shared figures. */
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/** Once a second what this process counted joins what the others did. */
export function keepCounting(metrics: Metrics, log: Log): { stop(): void } {
  let dropped = 0;
  const flush = () => {
    metrics.count("svc_log_lines_dropped_total", log.dropped() - dropped);
    dropped = log.dropped();
    metrics.flush();
  };
  const timer = setInterval(flush, 1000);
  timer.unref();
  flush();
  return {
    stop() {
      clearInterval(timer);
      flush();
    },
  };
}
