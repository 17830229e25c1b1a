/** The parts that a process is made of: children, threads, timers, gates, the log, the figures of /metrics. This file has
 *  the children of the server, which run its own program. Only a process can be ended for certain, whatever it
 *  does (`terminate()` stops neither a regular expression nor a native call), and only its own memory is what a fault of
 *  the runtime in it can spoil. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ownProgram } from "./program.ts";

/** It ended before it answered. */
export class ProcessDied extends Error {
  override readonly name = "ProcessDied";
  constructor(
    /** Null when it ended by itself, with an exit code. */
    readonly signal: NodeJS.Signals | null,
    message: string,
  ) {
    super(message);
  }
}

interface Child<To> {
  readonly pid: number;
  /** False once it has ended or is about to, for whatever reason. */
  alive(): boolean;
  /** Lost when it has ended. */
  send(message: To | string): void;
  /** Bytes that it alone holds in memory; 0 when the platform cannot tell. */
  memory(): number;
  /** Milliseconds of processor time that it has used; NaN when the platform cannot tell. */
  cpu(): number;
  /** At once, whatever it does. */
  kill(): void;
  /** Lets it put its things in order first. */
  close(): Promise<void>;
}

/** A child that is given one job after the other. */
export interface JobChild<Job, Answer> extends Omit<Child<Job>, "send"> {
  /** One job at a time. Rejects with `ProcessDied`. `reply` says what to send back for a question of the child; null sends
   *  nothing. */
  run(job: Job, reply?: (question: string) => string | null): Promise<Answer>;
}

interface ChildEvents<From> {
  message(message: From): void;
  /** Called once. */
  died(error: ProcessDied): void;
}

/** Nothing of the server's own: no token, no key, no proxy. A crash is not reported to anybody. Garbage is collected as on
 *  a machine of 256 MB: at no cost in time, and the largest honest deploys take a fifth less (bench/README.md, "Measured once"). */
const ENVIRONMENT = {
  BUN_ENABLE_CRASH_REPORTING: "0",
  DO_NOT_TRACK: "1",
  BUN_JSC_forceRAMSize: String(256 << 20),
};
/** The operator's own certificate authorities, for children that call others over TLS. Files, named from the server's folder. */
const AUTHORITIES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"] as const;
const authorities = (): Record<string, string> =>
  Object.fromEntries(
    AUTHORITIES.flatMap((name) => {
      const path = process.env[name];
      return path ? [[name, resolve(path)]] : [];
    }),
  );

/** The environment of an operator's own program: the server's, but for its settings, some of which are secret. */
export const environmentOfOthers = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      name.startsWith("SVC_") || value === undefined ? [] : [[name, value]],
    ),
  );

/** One that does not close in this time (stopped by a debugger, say) is killed: it has nothing to lose. */
const CLOSING_MS = 2000;
/** So many characters of what a process said when it crashed go to the log. */
const LAST_WORDS = 2000;

/** Its own memory alone: the program's pages are the server's, too. */
function memoryOf(pid: number): number {
  try {
    return Number(/^RssAnon:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) * 1024;
  } catch {
    return 0; // no /proc, or no descriptor: what is not known is not judged
  }
}

/** The kernel counts in hundredths of a second, on every Linux that there is a Bun for. */
const TICK_MS = 10;

function cpuOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // Behind the name, which may hold anything: the third field and so on. The 14th and 15th are in the program and in the kernel.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return NaN; // as above
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

type SpawnEvents = Required<
  Pick<Bun.SpawnOptions.OptionsObject<"ignore", "ignore", "pipe">, "ipc" | "onExit" | "detached">
>;

function spawn(command: readonly string[], env: Readonly<Record<string, string>>, events: SpawnEvents): Process {
  try {
    return Bun.spawn([...command], {
      argv0: "svc-server",
      cwd: "/",
      env: { ...ENVIRONMENT, ...env },
      stdio: ["ignore", "ignore", "pipe"],
      serialization: "advanced",
      ...events,
    });
  } catch (error) {
    throw new Error(`${command[0]} could not be started: ${(error as Error).message}`, { cause: error });
  }
}

/** Ends the child, and with a group of its own everything that it started. */
function end(child: Process, group: boolean): void {
  try {
    if (group) process.kill(-child.pid, "SIGKILL");
  } catch {} // nothing is left of it
  child.kill("SIGKILL");
}

interface ChildOptions {
  /** It leads a process group, which ends with it. */
  group?: boolean;
  /** It calls others, and takes the certificates that the server would take. */
  calls_out?: boolean;
}

/** Throws when the machine gives no process. */
function startChild<To, From>(
  command: readonly string[],
  heard: ChildEvents<From>,
  { group = false, calls_out = false }: ChildOptions = {},
): Child<To> {
  let alive = true;
  const child = spawn(command, calls_out ? authorities() : {}, {
    ipc: heard.message,
    onExit: () => void (alive = false),
    detached: group,
  });
  // One listener: one of each job would be kept, with its answer, for as long as the process lives.
  void death(child).then((error) => {
    alive = false; // this may come before `onExit`
    if (group) end(child, group);
    heard.died(error);
  });
  function kill(): void {
    alive = false;
    end(child, group);
  }
  function send(message: To | string): void {
    try {
      child.send(message);
    } catch {} // the channel is closed: its end says so
  }
  return {
    pid: child.pid,
    alive: () => alive,
    send,
    memory: () => memoryOf(child.pid),
    cpu: () => cpuOf(child.pid),
    kill,
    async close() {
      if (alive) send("close");
      const late = setTimeout(kill, CLOSING_MS);
      await child.exited.finally(() => clearTimeout(late));
    },
  };
}

/** Starts a child of the server's own program (`ownCommand`): messages that are text are its questions, any other is the
 *  answer to its job. Throws when the machine gives no process. */
export function startJobChild<Job, Answer extends object | null>(
  command: readonly string[],
  options: ChildOptions = {},
): JobChild<Job, Answer> {
  let died: ProcessDied | null = null;
  let answer: PromiseWithResolvers<Answer> | null = null;
  let replyTo: (question: string) => string | null = () => null;
  const { send, ...child } = startChild<Job, Answer | string>(
    command,
    {
      message(message) {
        if (typeof message !== "string") return answer?.resolve(message);
        const reply = replyTo(message);
        if (reply !== null) send(reply);
      },
      died(error) {
        died = error;
        answer?.reject(error);
      },
    },
    options,
  );
  return {
    ...child,
    run(job, reply = () => null) {
      replyTo = reply;
      const mine = (answer = Promise.withResolvers<Answer>());
      if (died !== null) mine.reject(died); // before it was asked
      send(job);
      return mine.promise;
    },
  };
}

/** A child that works at many things at a time. */
export interface CalledChild<Job, Answer> extends Omit<Child<Job>, "send"> {
  /** Rejects with `ProcessDied`. */
  call(job: Job): Promise<Answer>;
}

/** One of many jobs that are under way, and the answer to it, with its number. */
export type Numbered<Content> = { n: number; content: Content };

/** Starts a child that calls others for the server and answers each call when it is done. `died` hears of an end that
 *  nobody asked for. Throws when the machine gives no process. */
export function startCalledChild<Job, Answer>(
  command: readonly string[],
  died: (error: ProcessDied) => void,
): CalledChild<Job, Answer> {
  const calls = new Map<number, PromiseWithResolvers<Answer>>();
  let gone: ProcessDied | null = null;
  let last = 0;
  let closing = false;
  const { send, ...child } = startChild<Numbered<Job>, Numbered<Answer>>(
    command,
    {
      message({ n, content }) {
        calls.get(n)?.resolve(content);
        calls.delete(n);
      },
      died(error) {
        gone = error;
        for (const call of calls.values()) call.reject(error);
        calls.clear();
        if (!closing) died(error);
      },
    },
    { calls_out: true },
  );
  return {
    ...child,
    call(content) {
      const mine = Promise.withResolvers<Answer>();
      if (gone !== null) mine.reject(gone);
      else calls.set(++last, mine);
      send({ n: last, content });
      return mine.promise;
    },
    close() {
      closing = true;
      return child.close();
    },
  };
}

export type ServerChild = Bun.Subprocess<"ignore", "inherit", "inherit">;

/** The question of a process that was started so for what it shall do, and its word that it does it. */
export const [ASKS, IS_READY] = ["orders?", "ready"];

/** Starts this very server once more, also after an upgrade has put another file in its place: that one would bring the
 *  database up to date under the others. `orders` go to it by message, for they may be secret. Resolves when it does what it
 *  shall, rejects when it ends before. */
export function startServerChild(
  subcommand: string,
  env: Record<string, string | undefined>,
  orders: object,
): Promise<ServerChild> {
  const ready = Promise.withResolvers<ServerChild>();
  const program = Bun.isStandaloneExecutable ? [ownProgram()] : [ownProgram(), Bun.main];
  const child: ServerChild = Bun.spawn([...program, subcommand], {
    argv0: process.argv0,
    env,
    stdio: ["ignore", "inherit", "inherit"],
    ipc: (message) => (message === ASKS ? child.send(orders) : ready.resolve(child)),
    onExit: (_, code) => ready.reject(new Error(`a worker ended with ${code} before it served`)),
  });
  return ready.promise;
}

interface Resting {
  alive(): boolean;
  close(): Promise<void>;
}

/** Children between two jobs, each for `idle_ms` at most. */
interface RestingChildren<T> {
  /** The one that rested least, so that a quiet server keeps one warm; else a new one. */
  take(): T;
  giveBack(child: T): void;
  close(): Promise<unknown>;
}

export function restingChildren<T extends Resting>(startOne: () => T, idle_ms: number): RestingChildren<T> {
  const resting = new Map<T, Timer>();
  function wake(child: T): void {
    clearTimeout(resting.get(child));
    resting.delete(child);
  }
  return {
    take() {
      for (const child of [...resting.keys()].toReversed()) {
        wake(child);
        if (child.alive()) return child;
      }
      return startOne();
    },
    giveBack(child) {
      if (!child.alive()) return;
      const leave = () => {
        wake(child);
        void child.close();
      };
      resting.set(child, setTimeout(leave, idle_ms).unref());
    },
    close: () =>
      Promise.all(
        [...resting.keys()].map((child) => {
          wake(child);
          return child.close();
        }),
      ),
  };
}
