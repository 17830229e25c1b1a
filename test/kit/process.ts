/** svc-server as a process of its own: real signals, real exit codes, the ready line. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { ROOT } from "./paths.ts";
import { until } from "./until.ts";

/** SVC_TEST_SERVER: the compiled program, as `verify` gives it, for it is what people run. Without it the source. */
const COMPILED = process.env["SVC_TEST_SERVER"];
export const SVC_SERVER = COMPILED ? [COMPILED] : [process.execPath, join(ROOT, "server.ts")];

export interface ServerProcess {
  pid: number;
  port: number;
  base_url: string;
  ready_line: string;
  kill(signal: NodeJS.Signals): void;
  /** Ends it and its workers at once, without a drain: what was answered is on the disk. */
  end(): Promise<void>;
  /** Its exit code, when all of stderr has been read. */
  exited: Promise<number>;
  /** All of stderr so far. */
  stderr(): string;
}

/** A clean environment: what the developer's shell has set must not reach the server under test. */
const environment = (extra: Record<string, string>): Record<string, string> => ({
  PATH: process.env.PATH ?? "",
  HOME: process.env.HOME ?? "",
  SVC_RATE_DEPLOY: "off", // all tests come from one address
  SVC_RATE_REDEPLOY: "off",
  SVC_RATE_OWNED: "off",
  SVC_QUOTA_ADDRESS: "off",
  SVC_QUOTA_ACCOUNT: "off",
  SVC_DISK_HIGH: "off",
  ...extra,
});

/** Runs a command to its end. */
export async function run(argv: string[], options: { env?: Record<string, string>; cwd?: string } = {}) {
  const child = Bun.spawn(argv, {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    cwd: options.cwd ?? ROOT,
    env: environment(options.env ?? {}),
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, code };
}

/** Starts a server and waits for its ready line; throws with its stderr where it ends before. */
export async function startProcess(
  flags: string[],
  options: { command?: string[]; env?: Record<string, string>; cwd?: string } = {},
): Promise<ServerProcess> {
  const child = Bun.spawn([...(options.command ?? SVC_SERVER), "--port", "0", ...flags], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    cwd: options.cwd ?? ROOT,
    env: environment(options.env ?? {}),
  });
  endWithThisProcess(child);
  let stderr = "";
  const read = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) stderr += decoder.decode(chunk, { stream: true });
  })();
  const ready_line = await firstLine(child.stdout);
  if (ready_line === null) {
    await child.exited;
    throw new Error(`the server ended with ${child.exitCode}: ${stderr}`);
  }
  const base_url = /listening on (\S+)/.exec(ready_line)![1]!;
  return {
    pid: child.pid,
    port: Number(new URL(base_url).port),
    base_url,
    ready_line,
    kill: (signal) => void child.kill(signal),
    async end() {
      const children = childrenOf(child.pid);
      const processes = [child.pid, ...children, ...children.flatMap(childrenOf)];
      child.kill("SIGKILL");
      for (const pid of processes.slice(1)) kill(pid);
      await child.exited;
      await until(() => processes.every((pid) => parentOf(pid) === null));
    },
    exited: Promise.all([child.exited, read]).then(([code]) => code),
    stderr: () => stderr,
  };
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it ended with its parent
  }
}

/** A run of tests that is killed leaves no server behind: the shell waits for the end of its standard input, which comes
 *  when this process has ended, however that was. */
function endWithThisProcess(child: Bun.Subprocess): void {
  if (process.platform === "win32") return;
  const script = 'trap "" HUP INT TERM; read -r _; kill -9 "$1"';
  const guard = Bun.spawn(["sh", "-c", script, "sh", String(child.pid)], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.unref();
  void child.exited.then(() => guard.kill("SIGKILL"));
}

export const local = ({ port }: Pick<ServerProcess, "port">): string => `http://127.0.0.1:${port}`;

/** A line of `/metrics` without labels. */
export async function figure(server: Pick<ServerProcess, "port">, name: string): Promise<number> {
  const text = await (await fetch(`${local(server)}/metrics`)).text();
  return Number(new RegExp(`^${name} (.+)$`, "m").exec(text)![1]);
}

/** Its exit code after this signal. */
export function ended(server: ServerProcess, signal: NodeJS.Signals): Promise<number> {
  server.kill(signal);
  return server.exited;
}

/** Whether it says so: from the signal on, each answer closes its connection. */
export const drains = async (server: ServerProcess): Promise<boolean> =>
  (await fetch(`${local(server)}/healthz`)).headers.get("connection") === "close";

/** The parent of a process that runs; null where there is none, or only its exit code still waits to be read. */
export function parentOf(pid: number): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return /^State:\s*Z/m.test(status) ? null : Number(/^PPid:\s*(\d+)/m.exec(status)![1]);
  } catch {
    return null;
  }
}

export const isRunning = (pid: number): boolean => parentOf(pid) !== null;

/** Processor time of a process so far, in steps of 10 ms; 0 where there is no /proc. */
export function cpuSecondsOf(pid: number): number {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return 0;
  // The second field is the program's name in brackets, which may hold spaces.
  const fields = readFileSync(path, "utf8").split(") ").at(-1)!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The nice value of each thread of a process: 0 to 19. */
export const niceOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).map((thread) => {
    const fields = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8").split(") ").at(-1)!.split(" ");
    return Number(fields[16]);
  });

/** Finds none if there is no /proc. */
export function childrenOf(pid: number): number[] {
  if (!existsSync("/proc/self")) return [];
  const running = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return running.map(Number).filter((child) => parentOf(child) === pid);
}

const childrenThat = (pid: number, entry: RegExp): number[] =>
  childrenOf(pid).filter((child) => {
    try {
      return entry.test(readFileSync(`/proc/${child}/cmdline`, "utf8"));
    } catch {
      return false; // it has just ended
    }
  });

/** The processes that a server, or a pool in this process, runs deploys in. */
export const deployProcesses = (pid: number): number[] => childrenThat(pid, /\0__deploy\0|\/deploy\/entry\.ts\0/);
/** A browser that this process drives by Bun.WebView. */
export const browserProcesses = (pid: number): number[] => childrenThat(pid, /--remote-debugging-pipe/);
/** The processes in which a server has bodies coded. */
export const codingProcesses = (pid: number): number[] => childrenThat(pid, /\0__code\0|\/coding\/entry\.ts\0/);

/** The process in which a server posts webhooks. */
export const postingProcesses = (pid: number): number[] => childrenThat(pid, /\0__webhooks\0|\/webhooks\/entry\.ts\0/);

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string | null> {
  let text = "";
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return null;
    text += decoder.decode(value, { stream: true });
    const end = text.indexOf("\n");
    if (end !== -1) {
      reader.releaseLock();
      return text.slice(0, end);
    }
  }
}

/** The names of the pages that a server on this data directory shares with its children and commands. */
export function sharedPages(data_dir: string): string[] {
  if (process.platform !== "linux") return ["generation", "metrics"].map((name) => join(data_dir, name));
  const { dev, ino } = statSync(data_dir, { bigint: true });
  return ["generation", "metrics"].map((name) => `/dev/shm/svc-${dev}-${ino}-${name}`);
}

/** A server that was killed leaves its pages to the next one on its folder; here there is none. */
export async function removeFolder(path: string): Promise<void> {
  const below = existsSync(path) ? readdirSync(path, { withFileTypes: true }).filter((one) => one.isDirectory()) : [];
  for (const folder of [path, ...below.map(({ name }) => join(path, name))]) {
    if (existsSync(folder)) for (const page of sharedPages(folder)) await rm(page, { force: true, recursive: true });
  }
  await rm(path, { recursive: true, force: true });
}

/** A temporary folder, gone at the end of the block: `await using dir = await temporaryFolder()`. */
export async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "svc-test-"));
  return { path, [Symbol.asyncDispose]: () => removeFolder(path) };
}
