/** What `/metrics` shows (CONTRACT 7): counted in plain numbers where requests are answered, added up once a second
 *  in a page that all processes share, written out in Prometheus' text format when somebody asks. */
import { ERROR_CODES, type ErrorCode } from "../errors.ts";
import { every, loggedBy } from "../every.ts";
import type { Log } from "../log.ts";
import { asNumbers, type ProcessFigures, processSamples } from "./process.ts";
import { BOUNDS, type Figure, type Histogram, SERIES, slotOf, SUM_UNIT } from "./series.ts";
import { metricsText, type Sample, storedSamples } from "./text.ts";

export { type Figure, slotOf } from "./series.ts";
export type { ProcessFigures } from "./process.ts";
export type { Sample } from "./text.ts";

const CLASSES = slotOf("svc_requests_total");
const BYTES = slotOf("svc_response_bytes_total");
const REQUESTS = slotOf("svc_request_duration_seconds");
const FIRST_REFUSAL = slotOf("svc_refusals_total");
const refusalSlots = new Map<ErrorCode, number>(ERROR_CODES.map((code, n) => [code, FIRST_REFUSAL + n]));

/** The shared page, as far as it is needed here. */
interface Shared {
  add(slot: number, amount: number): void;
  get(slot: number): number;
  putProcess(numbers: readonly number[]): void;
  processes(): number[][];
}

export interface Metrics {
  /** On the path of every request: a few additions. */
  answered(status: number, bytes: number, ms: number): void;
  refused(code: ErrorCode): void;
  observe(histogram: Histogram, ms: number): void;
  count(figure: Figure, amount?: number): void;
  /** Brings what this process counted into the shared page. */
  flush(): void;
  text(samples: readonly Sample[]): string;
}

/** `own`: what this process says of itself now. */
export function createMetrics(shared: Shared, own: () => ProcessFigures): Metrics {
  const counts = new Float64Array(SERIES.length);
  function flush(): void {
    counts.forEach((amount, slot) => {
      const whole = Math.trunc(amount); // a histogram's sum has a fraction, which waits for more
      if (whole === 0) return;
      shared.add(slot, whole);
      counts[slot]! -= whole;
    });
    shared.putProcess(asNumbers(own()));
  }
  function observe(first: number, bounds: readonly number[], ms: number): void {
    const seconds = ms / 1000;
    let n = 0;
    while (n < bounds.length && seconds > bounds[n]!) n++;
    counts[first + n]!++;
    counts[first + bounds.length + 1]! += seconds * SUM_UNIT;
  }
  return {
    answered(status, bytes, ms) {
      counts[CLASSES + ((status / 100) | 0) - 1]!++;
      counts[BYTES]! += bytes;
      observe(REQUESTS, BOUNDS.svc_request_duration_seconds, ms);
    },
    refused: (code) => void counts[refusalSlots.get(code)!]!++,
    observe: (histogram, ms) => observe(slotOf(histogram), BOUNDS[histogram], ms),
    count: (figure, amount = 1) => void (counts[slotOf(figure)]! += amount),
    flush,
    text(samples) {
      flush();
      return metricsText([...storedSamples(shared.get), ...processSamples(shared.processes()), ...samples]);
    },
  };
}

/** Once a second what this process counted joins what the others did. */
export function keepCounting(metrics: Metrics, log: Log): { stop(): void } {
  let dropped = 0;
  const flush = () => {
    metrics.count("svc_log_lines_dropped_total", log.dropped() - dropped);
    dropped = log.dropped();
    metrics.flush();
  };
  const failed = loggedBy(log, "counting for /metrics");
  const timer = every(1000, flush, (error, in_a_row) => {
    metrics.count("svc_timer_failures_total");
    failed(error, in_a_row);
  });
  flush();
  return {
    stop() {
      timer.stop();
      flush();
    },
  };
}
