/** A deploy's process as its pool sees it: a child of the server, of the server's own program. Only a process can be ended
 *  for certain, whatever it does: `terminate()` stops neither a regular expression nor a native call. */
import { readFileSync } from "node:fs";
import { deployCommand } from "./program.ts";
import type { FromProcess, Outcome, ProcessJob, ToProcess } from "./job.ts";

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

interface Answer {
  outcome: Outcome;
  spent: boolean;
}

export interface DeployProcess {
  readonly pid: number;
  /** False once it has ended or is about to, for whatever reason. */
  alive(): boolean;
  /** One job at a time. `mayPublish` is asked once, at most. Rejects with `ProcessDied`. */
  run(job: ProcessJob, mayPublish: () => boolean): Promise<Answer>;
  /** Bytes that it alone holds in memory; 0 where nobody tells. */
  memory(): number;
  /** At once, whatever it does. */
  kill(): void;
  /** Between two jobs: lets it close its database first. */
  close(): Promise<void>;
}

/** Nothing of the server's own: no token, no key, no proxy. A crash is not reported to anybody. Garbage is collected as on
 *  a machine of 256 MB: at no cost in time, and the largest honest deploys take a fifth less (docs/decisions/service.md). */
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

type Child = Bun.Subprocess<"ignore", "ignore", "pipe">;

/** Resolves when it has ended. */
async function death(child: Child): Promise<ProcessDied> {
  await child.exited;
  const words = (await child.stderr.text().catch(() => "")).trim().slice(-LAST_WORDS);
  const how = child.signalCode ? `was ended by ${child.signalCode}` : `ended with ${child.exitCode}`;
  return new ProcessDied(
    child.signalCode as NodeJS.Signals | null,
    `process ${child.pid} ${how}${words && `: ${words}`}`,
  );
}

type Heard = Required<Pick<Bun.SpawnOptions.OptionsObject<"ignore", "ignore", "pipe">, "ipc" | "onExit">>;

function spawn(command: readonly string[], heard: Heard): Child {
  try {
    return Bun.spawn([...command], {
      argv0: "svc-server",
      cwd: "/",
      env: ENVIRONMENT,
      stdio: ["ignore", "ignore", "pipe"],
      serialization: "advanced",
      ...heard,
    });
  } catch (error) {
    throw new Error(`${command[0]} could not be started: ${(error as Error).message}`, { cause: error });
  }
}

export function startDeployProcess(command: readonly string[] = deployCommand()): DeployProcess {
  let alive = true;
  let died: ProcessDied | null = null;
  let answer: PromiseWithResolvers<Answer> | null = null;
  let mayPublish = () => false;
  const child = spawn(command, {
    ipc(message: FromProcess) {
      if (message !== "may I publish") return answer?.resolve(message);
      if (mayPublish()) send("publish");
    },
    onExit: () => void (alive = false),
  });
  // Heard once: each job's own listener would be kept, with its answer, for as long as the process lives.
  void death(child).then((error) => answer?.reject((died = error)));
  const send = (message: ToProcess) => child.send(message);
  function kill(): void {
    alive = false;
    child.kill("SIGKILL");
  }
  return {
    pid: child.pid,
    alive: () => alive,
    run(job, ask) {
      mayPublish = ask;
      const mine = (answer = Promise.withResolvers<Answer>());
      if (died !== null) mine.reject(died); // before it was asked
      try {
        send(job);
      } catch {} // the channel is closed: its end says so
      return mine.promise;
    },
    memory: () => memoryOf(child.pid),
    kill,
    async close() {
      if (alive) send("close");
      const late = setTimeout(kill, CLOSING_MS);
      await child.exited.finally(() => clearTimeout(late));
    },
  };
}
