/** The real server of one run: a process that is killed and started again, its clock, two accounts, and the model. */
import { closeSync, ftruncateSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { run, type ServerProcess, startProcess } from "../../kit/process.ts";
import { Violation } from "./reading.ts";
import type { ModelSite } from "./state.ts";

const CLOCKED = [process.execPath, join(import.meta.dir, "clocked-server.ts")];
const UNLIMITED = ["CLAIM", "BULK_ATTACH", "SIGN_IN", "SIGN_IN_ACCOUNT", "SIGN_IN_NAME", "REDEPLOY", "OWNED"].map(
  (name) => [`SVC_RATE_${name}`, "off"] as const,
);
export const TTL_MS = 14 * 24 * 60 * 60_000;

export interface World {
  folder: string;
  data_dir: string;
  /** Null while the server is down. */
  port: number | null;
  /** Moves with each crash. */
  epoch: number;
  sites: ModelSite[];
  /** Bearer tokens of the accounts' sessions. */
  sessions: string[];
  /** Sweeps that were refused because the clock seemed behind: nothing is lost by it, so it is only told. */
  refused_sweeps: number;
  now(): number;
  advance(ms: number): void;
  crash(): Promise<void>;
  restart(): Promise<void>;
  /** Runs `gc` or `backup` by the moved clock. */
  operate(command: "gc" | "backup", folder?: string): ReturnType<typeof run>;
  /** A second server, on a restored folder. */
  serve(data_dir: string): Promise<ServerProcess>;
  /** The server and its folder are gone afterwards. */
  stop(): Promise<void>;
}

async function call(port: number, path: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
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

export async function makeWorld(folder: string, accounts: number): Promise<World> {
  const data_dir = join(folder, "data");
  const clock = join(folder, "clock");
  const ahead = clockFile(clock);
  const env = { ...Object.fromEntries(UNLIMITED), SVC_TEST_CLOCK: clock };
  const serve = (dir: string) => startProcess(["--data-dir", dir, "--log", "off"], { command: CLOCKED, env });
  let server = await serve(data_dir);
  const world: World = {
    folder,
    data_dir,
    port: server.port,
    epoch: 0,
    sites: [],
    sessions: [],
    refused_sweeps: 0,
    now: () => Date.now() + ahead[0]!,
    advance: (ms) => void (ahead[0] = ahead[0]! + ms),
    async crash() {
      world.port = null;
      world.epoch++;
      server.kill("SIGKILL");
      await server.exited;
    },
    async restart() {
      server = await serve(data_dir);
      world.port = server.port;
    },
    operate: (command, dir = "") => run([...CLOCKED, command, data_dir, dir], { env }),
    serve,
    async stop() {
      world.port = null;
      server.kill("SIGKILL");
      await server.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
  world.sessions.push(...(await signUps(server.port, accounts)));
  return world;
}
