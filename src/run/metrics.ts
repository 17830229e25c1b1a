/** The figures of `/metrics` (CONTRACT 7): counted in plain numbers where requests are answered, added up once a second
 *  in a page that all processes share, written out in Prometheus' text format when somebody asks. */
import { ERROR_CODES, type ErrorCode } from "../base/errors.ts";
import { UNIT_MS } from "../base/units.ts";
import { every, loggedBy } from "./every.ts";
import type { Log } from "./log.ts";

/** Figures of each serving process in the shared page: numbers, in the order of these rows. */

/** Figures that a process has of itself. */
export interface ProcessFigures {
  resident_bytes: number;
  open_fds: number;
  /** 0: no limit is known. */
  max_fds: number;
  /** User and system time, microseconds. */
  cpu_us: number;
  /** Epoch milliseconds. */
  started_at: number;
  connections: number;
  /** 0: they are not counted here. */
  max_connections: number;
  deploy_slots: number;
  busy_slots: number;
  waiting_deploys: number;
  /** For how long the first of them has waited, in milliseconds. */
  oldest_deploy_ms: number;
  waiting_codings: number;
  oldest_coding_ms: number;
  /** Seconds until its certificate ends, below zero where it has ended; 0 means that it has none. */
  certificate_s: number;
}

interface Row {
  key: keyof ProcessFigures;
  name: string;
  type: "counter" | "gauge";
  help: string;
  /** In the unit of the name. */
  shown?: (value: number) => number;
  /** One line for all processes: their sum, the greatest, or the least that is not 0, and none where all are 0. Without it
   *  there is a line for each. */
  joined?: "sum" | "greatest" | "least";
}

/** Null if there is nothing to say. */
function joined(values: readonly number[], how: NonNullable<Row["joined"]>): number | null {
  if (how === "sum") return values.reduce((sum, value) => sum + value, 0);
  if (how === "greatest") return Math.max(0, ...values);
  const known = values.filter((value) => value !== 0);
  return known.length === 0 ? null : Math.min(...known);
}

const ROWS: readonly Row[] = [
  {
    key: "resident_bytes",
    name: "process_resident_memory_bytes",
    type: "gauge",
    help: "Memory that each serving process holds.",
  },
  { key: "open_fds", name: "process_open_fds", type: "gauge", help: "File descriptors that are open." },
  { key: "max_fds", name: "process_max_fds", type: "gauge", help: "File descriptors that may be open." },
  {
    key: "cpu_us",
    name: "process_cpu_seconds_total",
    type: "counter",
    help: "User and system time of the processor.",
    shown: (us) => us / 1e6,
  },
  {
    key: "started_at",
    name: "process_start_time_seconds",
    type: "gauge",
    help: "When the process began to serve, since the epoch.",
    shown: (ms) => ms / 1e3,
  },
  { key: "connections", name: "svc_connections", type: "gauge", help: "Connections that are open.", joined: "sum" },
  {
    key: "max_connections",
    name: "svc_connections_allowed",
    type: "gauge",
    help: "Connections that may be open; past it new ones are closed.",
    joined: "sum",
  },
  {
    key: "deploy_slots",
    name: "svc_deploy_slots",
    type: "gauge",
    help: "Deploys that may run at once.",
    joined: "sum",
  },
  {
    key: "busy_slots",
    name: "svc_deploy_slots_busy",
    type: "gauge",
    help: "Deploys and dry runs that run now.",
    joined: "sum",
  },
  {
    key: "waiting_deploys",
    name: "svc_deploys_waiting",
    type: "gauge",
    help: "Deploys and dry runs that wait for a slot.",
    joined: "sum",
  },
  {
    key: "oldest_deploy_ms",
    name: "svc_deploys_oldest_seconds",
    type: "gauge",
    help: "For how long the first of them has waited.",
    shown: (ms) => ms / 1e3,
    joined: "greatest",
  },
  {
    key: "waiting_codings",
    name: "svc_codings_waiting",
    type: "gauge",
    help: "Bodies that wait to be compressed.",
    joined: "sum",
  },
  {
    key: "oldest_coding_ms",
    name: "svc_codings_oldest_seconds",
    type: "gauge",
    help: "For how long the first of them has waited.",
    shown: (ms) => ms / 1e3,
    joined: "greatest",
  },
  {
    key: "certificate_s",
    name: "svc_certificate_expires_seconds",
    type: "gauge",
    help: "Seconds until the certificate ends that new connections get.",
    joined: "least",
  },
];

const asNumbers = (figures: ProcessFigures): number[] => ROWS.map(({ key }) => figures[key]);

/** One figure of each process that is alive, whose numbers `all` has. */
export function ofProcesses(all: readonly (readonly number[])[], key: keyof ProcessFigures): number[] {
  const n = ROWS.findIndex((row) => row.key === key);
  return all.map((numbers) => numbers[n] ?? 0);
}

/** From so long before its end on, the log and the notices say each day that the certificate ends. */
export const CERTIFICATE_MS = 14 * UNIT_MS.d;

/** The milliseconds that the certificate of new connections has left, the least of all processes; Infinity without one. */
export const certificateLeft = ({ processes }: Pick<Shared, "processes">): number =>
  Math.min(...ofProcesses(processes(), "certificate_s").filter((seconds) => seconds !== 0)) * 1000;

/** `all`: the numbers of each process that is alive. */
const processSamples = (all: readonly (readonly number[])[]): Sample[] =>
  ROWS.flatMap(({ name, type, help, shown = (value) => value, joined: how }, n): Sample[] => {
    const values = all.map((numbers) => shown(numbers[n] ?? 0));
    const value = how && joined(values, how);
    if (value !== undefined) return [{ name, type, help, value }];
    return values.map((value, worker) => ({ name, type, help, label: `worker="${worker}"`, value }));
  });

/** The figures that are counted, a row each. Their order is that of the slots in the shared page, which every start
 *  empties. */

interface Series<Name extends string = string> {
  name: Name;
  type: "counter" | "gauge" | "histogram";
  help: string;
  /** `class="2xx"`; empty where the name says all. */
  label: string;
}

const CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const;

/** Upper bounds in seconds; one more slot counts what is above all of them. */
const BOUNDS = {
  svc_request_duration_seconds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  svc_deploy_duration_seconds: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120],
} as const;

type Histogram = keyof typeof BOUNDS;

/** The page holds whole numbers: a histogram's sum is kept in microseconds. */
const SUM_UNIT = 1e6;

const series = <const Name extends string>(
  type: Series["type"],
  name: Name,
  help: string,
  labels: readonly string[] = [""],
): Series<Name>[] => labels.map((label) => ({ name, type, help, label }));

/** A slot for each bound, one for what is above them, one for the sum. */
const histogram = <const Name extends Histogram>(name: Name, help: string): Series<Name>[] =>
  series("histogram", name, help, [...BOUNDS[name].map((bound) => `le="${bound}"`), 'le="+Inf"', "sum"]);

const SERIES = [
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
  ...series("counter", "svc_certificate_failures_total", "Orders of certificates that failed: the log says why."),
  ...series("counter", "svc_sweep_failures_total", "Sweeps that refused or failed: the log says why."),
  ...series("counter", "svc_swept_sites_total", "Expired sites that were removed."),
  ...series("counter", "svc_swept_blobs_total", "Orphaned files that were removed."),
  ...series("gauge", "svc_last_sweep_timestamp_seconds", "When a sweep last ran to its end; 0 before the first."),
  ...series("gauge", "svc_last_verify_timestamp_seconds", "When stored files were last re-hashed; 0 before the first."),
  ...series(
    "gauge",
    "svc_last_backup_timestamp_seconds",
    "When the last good backup off the box was taken; 0 without one.",
  ),
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
  ...series("counter", "svc_webhooks_refused_total", "Webhooks that were not kept: a thousand of their site waited."),
  ...series("gauge", "svc_webhooks_waiting", "Webhooks that wait for their receivers."),
  ...series("gauge", "svc_webhooks_oldest_seconds", "Age of the webhook that has waited longest; 0 if none waits."),
  ...series("counter", "svc_notices_delivered_total", "Notices that their receiver took."),
  ...series("counter", "svc_notices_failed_total", "Tries of notices that failed and are made again."),
  ...series("counter", "svc_notices_given_up_total", "Notices whose last try failed: the log says why."),
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
  ...histogram(
    "svc_deploy_duration_seconds",
    "From a deploy's head to its answer's, its upload and its wait for a slot included: `ms` of its line in the log.",
  ),
];

type SeriesName = (typeof SERIES)[number]["name"];

/** Figures that are counted by their name alone. */
export type Figure = Exclude<SeriesName, Histogram | "svc_requests_total" | "svc_refusals_total">;

/** The first slot of a name. */
export const slotOf = (name: SeriesName): number => SERIES.findIndex((row) => row.name === name);

/** Figures in Prometheus' text format: each name with its HELP and its TYPE, once, before its lines. */

/** One line of the answer. */
export interface Sample {
  name: string;
  type: "counter" | "gauge" | "histogram";
  help: string;
  /** `state="live"`; left out where the name says all. */
  label?: string;
  /** Null means that there is no line now: the figure is described all the same. */
  value: number | null;
  /** The end of the name of a histogram's line. */
  suffix?: "_bucket" | "_sum" | "_count";
}

/** The samples in the slots of the shared page. A histogram's buckets hold all that is below their bound. */
function storedSamples(get: (slot: number) => number): Sample[] {
  let below = 0;
  return SERIES.flatMap(({ name, type, help, label }, slot): Sample[] => {
    const value = get(slot);
    if (type !== "histogram") return [{ name, type, help, label, value }];
    if (label === "sum") {
      const count = below;
      below = 0;
      return [
        { name, type, help, value: value / SUM_UNIT, suffix: "_sum" },
        { name, type, help, value: count, suffix: "_count" },
      ];
    }
    below += value;
    return [{ name, type, help, label, value: below, suffix: "_bucket" }];
  });
}

const line = ({ name, suffix, label, value }: Sample): string =>
  value === null ? "" : `${name}${suffix ?? ""}${label ? `{${label}}` : ""} ${value}\n`;

/** Puts the samples of one name together. */
const metricsText = (samples: readonly Sample[]): string =>
  samples
    .map((sample, n) => {
      const { name, type, help } = sample;
      const preamble = name === samples[n - 1]?.name ? "" : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
      return preamble + line(sample);
    })
    .join("");

const STATUS_CLASSES = slotOf("svc_requests_total");
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
      counts[STATUS_CLASSES + ((status / 100) | 0) - 1]!++;
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

/** Once a second what this process counted joins what the others did, and `tell` is called. */
export function keepCounting(metrics: Metrics, log: Log, tell: () => void): { stop(): void } {
  let dropped = 0;
  const flush = () => {
    metrics.count("svc_log_lines_dropped_total", log.dropped() - dropped);
    dropped = log.dropped();
    metrics.flush();
    tell();
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
