/** The real server of one run: a process that is killed and started again, its workers and deploys' processes, its clock,
 *  two accounts, and the model. */
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { childrenOf, parentOf, run, type ServerProcess, startProcess } from "../../kit/process.ts";
import { until } from "../../kit/until.ts";
import { Violation } from "./reading.ts";
import type { ModelSite } from "./state.ts";

const CLOCKED = [process.execPath, join(import.meta.dir, "clocked-server.ts")];
const UNLIMITED = ["CLAIM", "BULK_ATTACH", "SIGN_IN", "SIGN_IN_ACCOUNT", "SIGN_IN_NAME", "REDEPLOY", "OWNED"].map(
  (name) => [`SVC_RATE_${name}`, "off"] as const,
);
/** What a worker starts, by the name that it gives itself. */
const HELPERS = new Set(["svc-deploy", "svc-coding"]);
export const TTL_MS = 14 * 24 * 60 * 60_000;
const PREVIEW_DAYS = 3;
export const PREVIEW_TTL_MS = PREVIEW_DAYS * 24 * 60 * 60_000;

/** How the server of a run is set up. */
export interface Setup {
  workers: number;
  /** `SVC_KEEP_VERSIONS`; null: all. */
  keep: number | null;
}

export interface World extends Setup {
  folder: string;
  data_dir: string;
  /** Null while the server is down. */
  port: number | null;
  /** Moves with each crash, before and after the death of a worker: a connection that was open meanwhile may be lost. */
  epoch: number;
  /** A deploy's process or a worker is being killed: a deploy may be answered 503, and nobody knows its outcome. */
  harmed: boolean;
  /** A worker is being killed: who is connected to it, or comes to it now, is cut off. */
  dying: boolean;
  sites: ModelSite[];
  /** Bearer tokens of the accounts' sessions. */
  sessions: string[];
  /** Sweeps that were refused because the clock seemed behind: nothing is lost by it, so it is only told. */
  refused_sweeps: number;
  now(): number;
  advance(ms: number): void;
  crash(): Promise<void>;
  restart(): Promise<void>;
  /** A serving process stands still for so long. */
  standStill(ms: number): Promise<void>;
  /** kill -9 for one of the processes that deploys run in, if there is one: `pick` of all there are. Resolves when the
   *  server has heard of it. */
  killDeploy(pick: number): Promise<void>;
  /** kill -9 for a worker; resolves when it and its deploys' processes are gone. */
  killWorker(pick: number): Promise<void>;
  /** Runs `gc` or `backup` by the moved clock. */
  operate(command: "gc" | "backup", folder?: string): ReturnType<typeof run>;
  /** A second server, on a restored folder. */
  serve(data_dir: string): Promise<ServerProcess>;
  /** The errors that the server has told of since its last start, for whoever looks for the cause of a violation. */
  said(): string;
  /** The server and its folder are gone afterwards. */
  stop(): Promise<void>;
}

async function call(port: number, path: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    keepalive: false,
  });
  if (response.status !== 200) throw new Violation(`${path} was answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

async function signUps(port: number, count: number): Promise<string[]> {
  const sessions: string[] = [];
  for (let n = 0; n < count; n++) {
    const body = { email: `model${n}@example.org`, password: "correct horse battery" };
    sessions.push(String((await call(port, "/auth/signup", body)).session_token));
  }
  return sessions;
}

function clockFile(path: string): Float64Array {
  const fd = openSync(path, "w");
  ftruncateSync(fd, 8);
  closeSync(fd);
  const mapped = Bun.mmap(path, { shared: true });
  return new Float64Array(mapped.buffer, mapped.byteOffset, 1);
}

const nameOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return ""; // it has ended
  }
};

/** How many sockets listen there: workers share a port. A line of the table has the address and, two fields on, the state. */
const listenersAt = (port: number): number =>
  ["tcp", "tcp6"]
    .flatMap((table) => readFileSync(`/proc/net/${table}`, "utf8").trim().split("\n").slice(1))
    .filter((line) => {
      const [, local, , state] = line.trim().split(/\s+/);
      return state === "0A" && Number.parseInt(local!.split(":")[1]!, 16) === port;
    }).length;

const below = (pid: number): number[] => childrenOf(pid).flatMap((child) => [child, ...below(child)]);

/** Of a process that may have ended by itself. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** kill -9, until whatever it leaves has ended too: a deploy that publishes does so to its end, and may still commit. */
async function killWhole(pid: number): Promise<void> {
  const rest = below(pid);
  signal(pid, "SIGKILL");
  await until(() => [pid, ...rest].every((one) => parentOf(one) === null));
}

export async function makeWorld(folder: string, accounts: number, { workers, keep }: Setup): Promise<World> {
  const data_dir = join(folder, "data");
  const clock = join(folder, "clock");
  const ahead = clockFile(clock);
  const env = {
    ...Object.fromEntries(UNLIMITED),
    SVC_TEST_CLOCK: clock,
    SVC_KEEP_VERSIONS: String(keep ?? "off"),
    SVC_PREVIEW_TTL: `${PREVIEW_DAYS}d`,
  };
  const serve = (dir: string, flags: string[] = []) =>
    startProcess(["--data-dir", dir, "--log", "off", ...flags], { command: CLOCKED, env });
  const start = () => serve(data_dir, ["--workers", String(workers)]);
  let server = await start();
  /** Those that serve. */
  const serving = (): number[] =>
    workers === 1 ? [server.pid] : childrenOf(server.pid).filter((pid) => !HELPERS.has(nameOf(pid)));
  const world: World = {
    folder,
    data_dir,
    workers,
    keep,
    port: server.port,
    epoch: 0,
    harmed: false,
    dying: false,
    sites: [],
    sessions: [],
    refused_sweeps: 0,
    said: () => server.stderr().slice(-4000),
    now: () => Date.now() + ahead[0]!,
    advance: (ms) => void (ahead[0] = ahead[0]! + ms),
    async crash() {
      world.port = null;
      world.epoch++;
      await killWhole(server.pid);
      await server.exited;
    },
    async standStill(ms) {
      const [pid] = serving();
      if (pid === undefined) return;
      signal(pid, "SIGSTOP");
      await Bun.sleep(ms);
      signal(pid, "SIGCONT");
    },
    async killDeploy(pick) {
      const deploys = below(server.pid).filter((pid) => nameOf(pid) === "svc-deploy");
      const pid = deploys[pick % deploys.length];
      if (pid === undefined) return;
      signal(pid, "SIGKILL");
      await until(() => !existsSync(`/proc/${pid}`)); // until its server has buried it, a deploy may be handed to it
    },
    async killWorker(pick) {
      const all = serving();
      if (all.length < 2 || listenersAt(server.port) < 2) return; // one is replaced already, or does not listen yet
      world.dying = true;
      world.epoch++;
      const pid = all[pick % all.length]!;
      await killWhole(pid);
      await until(() => !existsSync(`/proc/${pid}`)); // its threads hold its sockets until the supervisor has buried it
      world.epoch++;
      world.dying = false;
    },
    async restart() {
      server = await start();
      world.port = server.port;
    },
    operate: (command, dir = "") => run([...CLOCKED, command, data_dir, dir], { env }),
    serve,
    async stop() {
      world.port = null;
      await server.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  world.sessions.push(...(await signUps(server.port, accounts)));
  return world;
}
