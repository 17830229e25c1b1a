/** What `/metrics` shows (CONTRACT 7): counted in plain numbers where requests are answered, added up once a second
 *  in a page that all processes share, written out in Prometheus' text format when somebody asks. */
import { ERROR_CODES, type ErrorCode } from "./errors.ts";
import type { Log } from "./log.ts";

interface Series {
  name: string;
  type: "counter" | "gauge";
  help: string;
  /** `class="2xx"`; empty where the name says all. */
  label: string;
}

const series = (type: Series["type"], name: string, help: string, labels: readonly string[] = [""]): Series[] =>
  labels.map((label) => ({ name, type, help, label }));

const CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const;

/** The order is that of the slots in the shared page, which every start empties. */
const SERIES: readonly Series[] = [
  ...series(
    "counter",
    "svc_requests_total",
    "Answers by class of status.",
    CLASSES.map((name) => `class="${name}"`),
  ),
  ...series("counter", "svc_response_bytes_total", "Bytes of all bodies sent."),
  ...series("counter", "svc_deploys_total", "Deploys that were answered 200."),
  ...series("counter", "svc_abuse_reports_total", "Abuse reports taken."),
  ...series("counter", "svc_blob_failures_total", "Requests that met a missing or damaged blob."),
  ...series("counter", "svc_log_lines_dropped_total", "Log lines dropped because nobody read them."),
  ...series("counter", "svc_sweeps_total", "Sweeps that ran to their end."),
  ...series("counter", "svc_sweep_failures_total", "Sweeps that refused or failed: the log says why."),
  ...series("counter", "svc_swept_sites_total", "Expired sites that were removed."),
  ...series("counter", "svc_swept_blobs_total", "Orphaned files that were removed."),
  ...series("gauge", "svc_last_sweep_timestamp_seconds", "When a sweep last ran to its end."),
  ...series(
    "gauge",
    "svc_blobs_missing",
    "Blobs of live versions that are missing or in quarantine: restore or redeploy.",
  ),
  ...series(
    "gauge",
    "svc_database_missing",
    "1 where the database was deleted or replaced while the server runs: deploys are refused.",
  ),
  ...series(
    "counter",
    "svc_refusals_total",
    "Errors answered, by code.",
    ERROR_CODES.map((code) => `code="${code}"`),
  ),
];

export type Figure =
  | "svc_response_bytes_total"
  | "svc_deploys_total"
  | "svc_abuse_reports_total"
  | "svc_blob_failures_total"
  | "svc_log_lines_dropped_total"
  | "svc_sweeps_total"
  | "svc_sweep_failures_total"
  | "svc_swept_sites_total"
  | "svc_swept_blobs_total"
  | "svc_last_sweep_timestamp_seconds"
  | "svc_blobs_missing"
  | "svc_database_missing";

export const slotOf = (figure: Figure): number => SERIES.findIndex(({ name }) => name === figure);

const BYTES = slotOf("svc_response_bytes_total");
const FIRST_REFUSAL = SERIES.findIndex(({ name }) => name === "svc_refusals_total");
const refusalSlots = new Map<ErrorCode, number>(ERROR_CODES.map((code, n) => [code, FIRST_REFUSAL + n]));

/** The shared page, as far as it is needed here. */
interface Shared {
  add(slot: number, amount: number): void;
  get(slot: number): number;
  putMemory(bytes: number): void;
  memories(): number[];
}

/** A figure that is looked up when it is asked for. */
export interface Sample {
  name: string;
  help: string;
  label?: string;
  value: number;
}

export interface Metrics {
  /** On the path of every request: two additions. */
  answered(status: number, bytes: number): void;
  refused(code: ErrorCode): void;
  count(figure: Figure, amount?: number): void;
  /** Brings what this process counted into the shared page. */
  flush(): void;
  text(samples: readonly Sample[]): string;
}

export function createMetrics(shared: Shared): Metrics {
  const counts = new Float64Array(SERIES.length);
  function flush(): void {
    counts.forEach((amount, slot) => {
      if (amount === 0) return;
      shared.add(slot, amount);
      counts[slot] = 0;
    });
    shared.putMemory(process.memoryUsage.rss());
  }
  return {
    answered(status, bytes) {
      counts[((status / 100) | 0) - 1]!++;
      counts[BYTES]! += bytes;
    },
    refused: (code) => void counts[refusalSlots.get(code)!]!++,
    count: (figure, amount = 1) => void (counts[slotOf(figure)]! += amount),
    flush,
    text(samples) {
      flush();
      const stored = SERIES.map((row, slot) => ({ ...row, value: shared.get(slot) }));
      const memory = shared.memories().map((value, n) => gauge(`worker="${n}"`, value));
      return [...stored, ...memory, ...samples.map((sample) => ({ type: "gauge", label: "", ...sample }))]
        .map((row, n, all) => (row.name === all[n - 1]?.name ? "" : preamble(row)) + line(row))
        .join("");
    },
  };
}

const gauge = (label: string, value: number) => ({
  name: "process_resident_memory_bytes",
  type: "gauge",
  help: "Memory that each serving process holds.",
  label,
  value,
});
const preamble = ({ name, type, help }: { name: string; type: string; help: string }): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
const line = ({ name, label, value }: { name: string; label: string; value: number }): string =>
  `${name}${label && `{${label}}`} ${value}\n`;

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
