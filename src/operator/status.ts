/** `status`: how the server is, on one screen (CONTRACT 7). It reads what all its processes share, as `/metrics` does, and
 *  the database; it asks the server nothing, so that it answers beside one that hangs. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { humanSize, UNIT_MS } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import { type Bulletin, errorsOf, hourOf, readBulletins, trafficOf } from "../run/bulletin.ts";
import { certificateLeft, type Figure, ofProcesses, type ProcessFigures, slotOf } from "../run/metrics.ts";
import { diskRoom, isServed, type Operations } from "../store/operations.ts";
import { JSON_FLAG, type OperatorCommand } from "./command.ts";
import { counted, json } from "./print.ts";

const iso = (ms: number): string => new Date(ms).toISOString();

/** The figures of a server that runs; beside one that does not, those of its last run may still be there. */
function figuresOf({ figures }: Operations, running: boolean, now: number) {
  const processes = running ? figures.processes() : [];
  const values = (key: keyof ProcessFigures) => ofProcesses(processes, key);
  const sum = (key: keyof ProcessFigures) => values(key).reduce((all, one) => all + one, 0);
  /** For how long the first that waits has waited; null while none waits. */
  const oldest = (key: keyof ProcessFigures, waiting: number) =>
    waiting === 0 ? null : Math.max(0, ...values(key)) / 1000;
  const at = (figure: Figure) => (running ? figures.get(slotOf(figure)) : 0);
  const instant = (figure: Figure) => (at(figure) === 0 ? null : iso(at(figure) * 1000));
  const left_ms = running ? certificateLeft(figures) : Infinity;
  const deploys = sum("waiting_deploys");
  const codings = sum("waiting_codings");
  return {
    processes: processes.length,
    up_since: processes.length === 0 ? null : iso(Math.min(...values("started_at"))),
    deploys: {
      slots: sum("deploy_slots"),
      running: sum("busy_slots"),
      waiting: deploys,
      oldest_seconds: oldest("oldest_deploy_ms", deploys),
    },
    codings: { waiting: codings, oldest_seconds: oldest("oldest_coding_ms", codings) },
    last_sweep_at: instant("svc_last_sweep_timestamp_seconds"),
    last_verify_at: instant("svc_last_verify_timestamp_seconds"),
    last_backup_at: instant("svc_last_backup_timestamp_seconds"),
    certificate_ends_at: left_ms === Infinity ? null : iso(now + left_ms),
  };
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

function diskOf(data_dir: string) {
  const database = join(data_dir, "db");
  return {
    free_bytes: diskRoom.freeBytes(data_dir),
    used_percent: Math.floor(diskRoom.use(data_dir)),
    database_bytes: sizeOf(database) + sizeOf(`${database}-wal`),
  };
}

/** The hour that runs and the one before, with the hosts that got the most bytes. */
const hoursOf = (bulletins: readonly Bulletin[], now: number) =>
  [hourOf(now), hourOf(now) - 1].map((hour) => ({
    hour: iso(hour * UNIT_MS.h),
    hosts: trafficOf(bulletins, hour).map(([host, bytes]) => ({ host, bytes })),
  }));

async function read(operations: Operations, data_dir: string, now: number) {
  const running = isServed(data_dir);
  const bulletins = running ? readBulletins(operations.figures.texts()) : [];
  const { processes, up_since, deploys, codings, ...times } = figuresOf(operations, running, now);
  const { renders, webhooks, reports, quarantined } = await operations.waiting();
  const queue = ({ waiting, since }: typeof renders) => ({
    waiting,
    oldest_seconds: since === null ? null : Math.max(0, (now - Date.parse(since)) / 1000),
  });
  return {
    running,
    version: bulletins[0]?.version ?? null,
    up_since,
    processes,
    address: (await operations.serverAddress())?.base_url ?? null,
    data_dir,
    disk: diskOf(data_dir),
    sites: await operations.census(now),
    queues: { deploys, codings, renders: queue(renders), webhooks: queue(webhooks) },
    ...times,
    open_reports: reports,
    quarantined,
    notices: await operations.noticeState(),
    traffic: hoursOf(bulletins, now),
    errors: errorsOf(bulletins),
  };
}

type Status = Awaited<ReturnType<typeof read>>;
type Notices = NonNullable<Status["notices"]>;

/** `4 min`: whole units, cut off. */
function span(ms: number): string {
  const units = [
    ["day", UNIT_MS.d],
    ["h", UNIT_MS.h],
    ["min", UNIT_MS.m],
    ["s", UNIT_MS.s],
  ] as const;
  const [unit, size] = units.find(([, size]) => ms >= size) ?? units.at(-1)!;
  const n = Math.floor(ms / size);
  return unit === "day" ? counted(n, "day") : `${n} ${unit}`;
}

/** `2026-11-24 06:40 UTC`. */
const minute = (at: string): string => `${at.slice(0, 16).replace("T", " ")} UTC`;
function ago(at: string | null, now: number, never: string): string {
  if (at === null) return never;
  const past = now - Date.parse(at);
  return `${minute(at)}, ${past < UNIT_MS.s ? "just now" : `${span(past)} ago`}`;
}

function queueText({ waiting, oldest_seconds }: { waiting: number; oldest_seconds: number | null }): string {
  if (waiting === 0) return "none waiting";
  return `${waiting} waiting${oldest_seconds === null ? "" : `, the first for ${span(oldest_seconds * 1000)}`}`;
}

function certificateText(end: string | null, now: number): string {
  if (end === null) return "none: the server speaks HTTP";
  const left = Date.parse(end) - now;
  return left > 0 ? `ends ${minute(end)}, in ${span(left)}` : `has ended ${minute(end)}: renew it`;
}

function headOf({ running, version, up_since, processes, address, data_dir }: Status, now: number): string[] {
  const where = `${address ?? "never started"}, data in ${data_dir}`;
  if (!running) return ["No server runs on this data folder.", where];
  if (processes === 0) return ["A server runs, but its figures cannot be seen from here: ask in its container.", where];
  const up = up_since === null ? "" : `, up since ${minute(up_since)} (${span(now - Date.parse(up_since))})`;
  return [
    `svc-server ${version ?? "of another version"}${up}${processes > 1 ? `, ${processes} processes` : ""}`,
    where,
  ];
}

function noticesText(notices: Notices, now: number): string {
  const { waiting, last_delivered_at, failing_since, last_error, ended_at, lost } = notices;
  if (ended_at !== null) {
    return `ended ${minute(ended_at)} by 410, ${lost} lost: svc-server notify --test begins them again`;
  }
  const letters = waiting === 0 ? "none waiting" : `${waiting} waiting`;
  if (failing_since !== null) return `${letters}, not taken since ${minute(failing_since)}: ${last_error}`;
  if (last_delivered_at === null) return `${letters}, none taken yet`;
  return `${letters}, the last one taken ${ago(last_delivered_at, now, "")}`;
}

function factsOf(status: Status, now: number): [name: string, fact: string][] {
  const { running, disk, sites, queues, open_reports, quarantined, notices } = status;
  const { versions, ...states } = sites;
  const { deploys } = queues;
  const by_state = Object.entries(states).filter(([state, n]) => n > 0 || state === "live");
  const judge = open_reports + quarantined > 0 ? " (svc-server reports)" : "";
  const stored: [string, string][] = [
    [
      "Disk",
      `${humanSize(disk.free_bytes)} free, ${disk.used_percent} % in use; database ${humanSize(disk.database_bytes)}`,
    ],
    ["Sites", `${by_state.map(([state, n]) => `${n} ${state}`).join(", ")}; ${counted(versions, "version")}`],
    ["Renders", queueText(queues.renders)],
    ["Webhooks", queueText(queues.webhooks)],
    ...(notices === null ? [] : [["Notices", noticesText(notices, now)] as [string, string]]),
    ["To judge", `${counted(open_reports, "open report")}, ${counted(quarantined, "site")} in quarantine${judge}`],
  ];
  if (!running) return stored;
  return [
    ...stored.slice(0, 2),
    ["Deploys", `${deploys.running} of ${deploys.slots} slots busy, ${queueText(deploys)}`],
    ["Codings", queueText(queues.codings)],
    ...stored.slice(2),
    ["Last sweep", ago(status.last_sweep_at, now, "none since the start")],
    ["Last verify", ago(status.last_verify_at, now, "none since the start")],
    ["Last backup", ago(status.last_backup_at, now, "none")],
    ["Certificate", certificateText(status.certificate_ends_at, now)],
  ];
}

/** Hosts that fit on the screen; `--json` has them all. */
const SHOWN_HOSTS = 10;
/** For so long the hour before tells more. */
const YOUNG_MS = 10 * UNIT_MS.m;

function trafficText({ traffic }: Status, now: number): string[] {
  const [current, before] = traffic as [Status["traffic"][number], Status["traffic"][number]];
  const young = now - Date.parse(current.hour) < YOUNG_MS && before.hosts.length > 0;
  const { hour, hosts } = young ? before : current;
  if (hosts.length === 0) return [`Nothing was sent since ${hour.slice(11, 16)} UTC.`];
  const sizes = hosts.slice(0, SHOWN_HOSTS).map(({ host, bytes }) => [humanSize(bytes), host] as const);
  const width = Math.max(...sizes.map(([size]) => size.length));
  const title = young
    ? `from ${hour.slice(11, 16)} to ${current.hour.slice(11, 16)} UTC`
    : `since ${hour.slice(11, 16)} UTC`;
  return [`Busiest hosts ${title}`, ...sizes.map(([size, host]) => `  ${size.padStart(width)}  ${host}`)];
}

const errorsText = ({ errors }: Status): string[] =>
  errors.length === 0
    ? ["No error since the start."]
    : ["Last errors", ...errors.map(({ at, message }) => `  ${minute(at)}  ${message}`)];

/** `columns`: of the terminal; what is longer is cut. */
function screen(status: Status, now: number, columns: number): string {
  const facts = factsOf(status, now).map(([name, fact]) => `${name.padEnd(13)}${fact}`);
  const parts = [headOf(status, now), facts, ...(status.running ? [trafficText(status, now), errorsText(status)] : [])];
  const cut = (line: string) => (line.length <= columns ? line : `${line.slice(0, columns - 1)}…`);
  return `${parts.map((lines) => lines.map((line) => cut(visible(line))).join("\n")).join("\n\n")}\n`;
}

export const status: OperatorCommand = {
  name: "status",
  arguments: [],
  flags: [JSON_FLAG],
  summary: "show how the server is, on one screen; exit code 1 beside a stopped one",
  details: [
    "Version, disk, sites by state, what waits and for how long, the last sweep, verify and backup, the certificate's end, what is to be judged, the busiest hosts of the hour and the last ten errors. A terminal gets lines of its width, --json all of them whole.",
  ],
  async run({ data_dir, open, print }, given) {
    const now = Date.now();
    const status = await read(await open(), data_dir, now);
    print(given.json ? json(status) : screen(status, now, process.stdout.columns ?? Infinity));
    return status.running ? 0 : 1;
  },
};
