/** Several servers with one state, for their operator: `boxes`, and what `doctor` looks at beside the machine (SCALE 7). */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { ConfigError } from "../config/index.ts";
import { openFound, probeBucket } from "../store/operations.ts";
import { type Finding, JSON_FLAG, type OperatorCommand, type OperatorContext, type Patient } from "./command.ts";
import { counted, list } from "./print.ts";

/** Throws for a data directory of its own. */
export function needsShared({ settings }: OperatorContext, command: string): void {
  if (settings(null).shared !== null) return;
  throw new ConfigError(
    `svc-server ${command} is for several servers with one state: set SVC_DATABASE_URL and SVC_BLOBS as they have them.`,
  );
}

export const boxes: OperatorCommand = {
  name: "boxes",
  arguments: [],
  flags: [JSON_FLAG],
  summary: "list the servers that share this state and were heard of in the last minute",
  details: ["Each with its version, when it started, when it was last heard of, and the work that it does for all."],
  async run(context, given) {
    needsShared(context, "boxes");
    const rows = await (await context.open()).shared!.boxes();
    const shown = rows.map(({ settings: _, ...row }) => row);
    await list(context, given, shown, {
      HOST: ({ host }) => host,
      VERSION: ({ version }) => version,
      STARTED: ({ started_at }) => started_at,
      HEARD: ({ beat_s }) => `${beat_s.toFixed(1)} s ago`,
      SEEN: ({ seen }) => seen,
      TURNS: ({ turns }) => turns.join(" ") || null,
    });
  },
};

type SharedOperations = NonNullable<Awaited<ReturnType<typeof openFound>>["shared"]>;

/** Asks the store, and closes it. */
async function asked<T>({ config, now }: Patient, ask: (shared: SharedOperations) => Promise<T>): Promise<T> {
  const data_dir = existsSync(config.data_dir) ? config.data_dir : tmpdir(); // nothing is read or written there
  const operations = await openFound({ data_dir, ...config.shared, now: () => now });
  return ask(operations.shared!).finally(() => operations.close());
}

const SLOW_MS = 20;

async function database(patient: Patient): Promise<Finding> {
  const look = await asked(patient, (shared) => shared.look());
  const { version, answers_in_ms, connections, max_connections, fsync, synchronous_commit } = look;
  const state = `PostgreSQL ${version} answers in ${answers_in_ms.toFixed(1)} ms, with ${connections} of ${max_connections} connections in use`;
  if (fsync !== "on" || synchronous_commit === "off") {
    const off = fsync === "on" ? "synchronous_commit is off: a crash" : "fsync is off: a power cut";
    return { status: "fail", message: `${state}. Its ${off} loses deploys that were answered. Turn it on.` };
  }
  if (connections > 0.8 * max_connections) return { status: "warn", message: `${state}: raise max_connections.` };
  if (answers_in_ms > SLOW_MS) {
    return {
      status: "warn",
      message: `${state}: a publish takes some eight answers, one behind the other. Bring it nearer.`,
    };
  }
  return { status: "ok", message: `${state}.` };
}

async function bucket({ config }: Patient): Promise<Finding> {
  const { url } = config.shared!.bucket!;
  const { gives_back, keeps_off } = await probeBucket(config.shared!.bucket!);
  if (!gives_back) return { status: "fail", message: `${url} did not give back what was written there.` };
  if (keeps_off) return { status: "ok", message: `${url} keeps, gives back and removes what it is given.` };
  const why = "takes a second object in the place of the first (If-None-Match: * was not answered with 412)";
  return { status: "warn", message: `${url} ${why}: make sure that no other service is given this prefix.` };
}

async function others(patient: Patient): Promise<Finding> {
  const rows = await asked(patient, (shared) => shared.boxes());
  if (rows.length === 0) return { status: "warn", message: "No server was heard of in the last minute: start one." };
  const names = rows.map(({ host, version }) => `${host} (${version})`).join(", ");
  const state = `${counted(rows.length, "server")}: ${names}`;
  if (new Set(rows.map(({ version }) => version)).size > 1) {
    return { status: "warn", message: `${state}. They are of several versions: upgrade the others too.` };
  }
  const keys = [...new Set(rows.flatMap(({ settings }) => Object.keys(settings)))];
  const differing = keys.filter((key) => new Set(rows.map(({ settings }) => settings[key])).size > 1);
  if (differing.length === 0) return { status: "ok", message: `${state}.` };
  return { status: "warn", message: `${state}. Settings differ: ${differing.join(", ")}. Give all of them the same.` };
}

/** The checks of `doctor` for several servers with one state. */
export const SHARED_CHECKS = { database, bucket, boxes: others };
