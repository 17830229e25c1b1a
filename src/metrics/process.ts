/** What each serving process says of itself, side by side in the shared page: numbers, in the order of these rows. */
import type { Sample } from "./text.ts";

/** What a process knows of itself. */
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
}

interface Row {
  key: keyof ProcessFigures;
  name: string;
  type: "counter" | "gauge";
  help: string;
  /** In the unit of the name. */
  shown?: (value: number) => number;
  /** Added up for all processes; else a line for each. */
  summed?: true;
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
  { key: "connections", name: "svc_connections", type: "gauge", help: "Connections that are open.", summed: true },
  {
    key: "max_connections",
    name: "svc_connections_allowed",
    type: "gauge",
    help: "Connections that may be open; past it new ones are closed.",
    summed: true,
  },
  {
    key: "deploy_slots",
    name: "svc_deploy_slots",
    type: "gauge",
    help: "Deploys that may run at once.",
    summed: true,
  },
  {
    key: "busy_slots",
    name: "svc_deploy_slots_busy",
    type: "gauge",
    help: "Deploys and dry runs that run now.",
    summed: true,
  },
  {
    key: "waiting_deploys",
    name: "svc_deploys_waiting",
    type: "gauge",
    help: "Deploys and dry runs that wait for a slot.",
    summed: true,
  },
];

export const asNumbers = (figures: ProcessFigures): number[] => ROWS.map(({ key }) => figures[key]);

/** `all`: the numbers of each process that is alive. */
export const processSamples = (all: readonly (readonly number[])[]): Sample[] =>
  ROWS.flatMap(({ name, type, help, shown = (value) => value, summed }, n): Sample[] => {
    const values = all.map((numbers) => shown(numbers[n] ?? 0));
    if (summed) return [{ name, type, help, value: values.reduce((sum, value) => sum + value, 0) }];
    return values.map((value, worker) => ({ name, type, help, label: `worker="${worker}"`, value }));
  });
