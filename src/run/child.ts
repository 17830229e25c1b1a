/** A child of the server, of the server's own program, as the server sees it. Only a process can be ended for certain,
 *  whatever it does (`terminate()` stops neither a regular expression nor a native call), and only its own memory is
 *  what a fault of the runtime in it can spoil. */
import { readFileSync } from "node:fs";

/** It ended before it answered. */
export class ProcessDied extends Error {
  override readonly name = "ProcessDied";
  constructor(
    /** Null where it ended by itself, with an exit code. */
    readonly signal: NodeJS.Signals | null,
    message: string,
  ) {
    super(message);
  }
}

export interface Child<To> {
  readonly pid: number;
  /** False once it has ended or is about to, for whatever reason. */
  alive(): boolean;
  /** Lost where it has ended. */
  send(message: To | "close"): void;
  /** Bytes that it alone holds in memory; 0 where nobody tells. */
  memory(): number;
  /** At once, whatever it does. */
  kill(): void;
  /** Lets it put its things in order first. */
  close(): Promise<void>;
}

/** What is heard of one. */
interface Heard<From> {
  message(message: From): void;
  /** Once. */
  died(error: ProcessDied): void;
}

/** Nothing of the server's own: no token, no key, no proxy. A crash is not reported to anybody. Garbage is collected as on
 *  a machine of 256 MB: at no cost in time, and the largest honest deploys take a fifth less (bench/README.md, "Measured once"). */
const ENVIRONMENT = {
  BUN_ENABLE_CRASH_REPORTING: "0",
  DO_NOT_TRACK: "1",
  BUN_JSC_forceRAMSize: String(256 << 20),
};
/** One that does not close in this time (stopped by a debugger, say) is killed: it has nothing to lose. */
const CLOSING_MS = 2000;
/** What a process that crashed said of it, as far as the log wants it. */
const LAST_WORDS = 2000;

/** Of its own: the program's pages are the server's, too. */
function memoryOf(pid: number): number {
  try {
    return Number(/^RssAnon:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) * 1024;
  } catch {
    return 0; // no /proc, or no descriptor: what is not known is not judged
  }
}

type Process = Bun.Subprocess<"ignore", "ignore", "pipe">;

/** Resolves when it has ended. */
async function death(child: Process): Promise<ProcessDied> {
  await child.exited;
  const words = (await child.stderr.text().catch(() => "")).trim().slice(-LAST_WORDS);
  const how = child.signalCode ? `was ended by ${child.signalCode}` : `ended with ${child.exitCode}`;
  return new ProcessDied(
    child.signalCode as NodeJS.Signals | null,
    `process ${child.pid} ${how}${words && `: ${words}`}`,
  );
}

type Ears = Required<Pick<Bun.SpawnOptions.OptionsObject<"ignore", "ignore", "pipe">, "ipc" | "onExit" | "detached">>;

function spawn(command: readonly string[], ears: Ears): Process {
  try {
    return Bun.spawn([...command], {
      argv0: "svc-server",
      cwd: "/",
      env: ENVIRONMENT,
      stdio: ["ignore", "ignore", "pipe"],
      serialization: "advanced",
      ...ears,
    });
  } catch (error) {
    throw new Error(`${command[0]} could not be started: ${(error as Error).message}`, { cause: error });
  }
}

/** Ends the child, and with a group of its own whatever it started. */
function end(child: Process, group: boolean): void {
  try {
    if (group) process.kill(-child.pid, "SIGKILL");
  } catch {} // nothing is left of it
  child.kill("SIGKILL");
}

/** Throws where the machine gives no process. `group`: it leads a process group, which ends with it. */
export function startChild<To, From>(
  command: readonly string[],
  heard: Heard<From>,
  { group = false } = {},
): Child<To> {
  let alive = true;
  const child = spawn(command, { ipc: heard.message, onExit: () => void (alive = false), detached: group });
  // Heard once: each job's own listener would be kept, with its answer, for as long as the process lives.
  void death(child).then((error) => {
    alive = false; // who hears of it may be told before `onExit` is
    if (group) end(child, group);
    heard.died(error);
  });
  function kill(): void {
    alive = false;
    end(child, group);
  }
  function send(message: To | "close"): void {
    try {
      child.send(message);
    } catch {} // the channel is closed: its end says so
  }
  return {
    pid: child.pid,
    alive: () => alive,
    send,
    memory: () => memoryOf(child.pid),
    kill,
    async close() {
      if (alive) send("close");
      const late = setTimeout(kill, CLOSING_MS);
      await child.exited.finally(() => clearTimeout(late));
    },
  };
}
