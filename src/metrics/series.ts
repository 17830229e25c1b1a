/** The figures that are counted, a row each. Their order is that of the slots in the shared page, which every start
 *  empties. */
import { ERROR_CODES } from "../errors.ts";

interface Series {
  name: string;
  type: "counter" | "gauge" | "histogram";
  help: string;
  /** `class="2xx"`; empty where the name says all. */
  label: string;
}

const CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const;

/** Upper bounds in seconds; one more slot counts what is above all of them. */
export const BOUNDS = {
  svc_request_duration_seconds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  svc_deploy_duration_seconds: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
} as const;

export type Histogram = keyof typeof BOUNDS;

/** The page holds whole numbers: a histogram's sum is kept in microseconds. */
export const SUM_UNIT = 1e6;

const series = (type: Series["type"], name: string, help: string, labels: readonly string[] = [""]): Series[] =>
  labels.map((label) => ({ name, type, help, label }));

/** A slot for each bound, one for what is above them, one for the sum. */
const histogram = (name: Histogram, help: string): Series[] =>
  series("histogram", name, help, [...BOUNDS[name].map((bound) => `le="${bound}"`), 'le="+Inf"', "sum"]);

export const SERIES: readonly Series[] = [
  ...series(
    "counter",
    "svc_requests_total",
    "Answers by class of status.",
    CLASSES.map((name) => `class="${name}"`),
  ),
  ...series("counter", "svc_response_bytes_total", "Bytes of all bodies sent."),
  ...series("counter", "svc_deploys_total", "Deploys that were answered 200."),
  ...series("counter", "svc_abuse_reports_total", "Abuse reports taken."),
  ...series("counter", "svc_skew_answers_total", "Files of former versions that open pages were given."),
  ...series("counter", "svc_blob_failures_total", "Requests that met a missing or damaged blob."),
  ...series("counter", "svc_log_lines_dropped_total", "Log lines dropped because nobody read them."),
  ...series("counter", "svc_connections_refused_total", "Connections closed because there were too many."),
  ...series("counter", "svc_timer_failures_total", "Turns of work beside the requests that failed: the log says why."),
  ...series("counter", "svc_sweeps_total", "Sweeps that ran to their end."),
  ...series("counter", "svc_sweep_failures_total", "Sweeps that refused or failed: the log says why."),
  ...series("counter", "svc_swept_sites_total", "Expired sites that were removed."),
  ...series("counter", "svc_swept_blobs_total", "Orphaned files that were removed."),
  ...series("gauge", "svc_last_sweep_timestamp_seconds", "When a sweep last ran to its end; 0 before the first."),
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
  ...series("counter", "svc_webhooks_delivered_total", "Webhooks that their receiver took."),
  ...series("counter", "svc_webhooks_failed_total", "Tries of webhooks that failed and are made again."),
  ...series("counter", "svc_webhooks_given_up_total", "Webhooks whose last try failed: the log says why."),
  ...series("counter", "svc_renders_done_total", "Versions that the render engine saw to their end."),
  ...series("counter", "svc_renders_failed_total", "Versions that it could not see: the log says why."),
  ...series("gauge", "svc_renders_waiting", "Versions that wait for it."),
  ...series(
    "counter",
    "svc_refusals_total",
    "Errors answered, by code.",
    ERROR_CODES.map((code) => `code="${code}"`),
  ),
  ...histogram(
    "svc_request_duration_seconds",
    "From a request's head to its answer's, the body's way not counted; 0 for what waits for nothing.",
  ),
  ...histogram("svc_deploy_duration_seconds", "From a whole upload to a live version, waiting for a slot included."),
];

/** What is counted by its name alone. */
export type Figure =
  | "svc_response_bytes_total"
  | "svc_deploys_total"
  | "svc_abuse_reports_total"
  | "svc_skew_answers_total"
  | "svc_blob_failures_total"
  | "svc_log_lines_dropped_total"
  | "svc_connections_refused_total"
  | "svc_timer_failures_total"
  | "svc_sweeps_total"
  | "svc_sweep_failures_total"
  | "svc_swept_sites_total"
  | "svc_swept_blobs_total"
  | "svc_last_sweep_timestamp_seconds"
  | "svc_webhooks_delivered_total"
  | "svc_webhooks_failed_total"
  | "svc_webhooks_given_up_total"
  | "svc_renders_done_total"
  | "svc_renders_failed_total"
  | "svc_renders_waiting"
  | "svc_blobs_missing"
  | "svc_database_missing";

/** The first slot of a name. */
export const slotOf = (name: Figure | Histogram | "svc_refusals_total" | "svc_requests_total"): number =>
  SERIES.findIndex((row) => row.name === name);
