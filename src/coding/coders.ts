/** Processes that code bodies for the serving process. Codes bodies in processes of their own: as many as there are
 *  cores and one that codes ahead, each started when it is needed and gone a minute after. On the serving process's
 *  threads the runtime's codings spoil its memory (docs/decisions/service.md), and what crashes in one would take the
 *  pages with it. */
import { availableParallelism } from "node:os";
import { type JobChild, restingChildren, startJobChild } from "../run/child.ts";
import { createGate } from "../run/gate.ts";
import type { Code } from "../http/codings.ts";
import type { Log } from "../run/log.ts";
import type { Bytes } from "../base/types.ts";
import { CODING_COMMAND, ownCommand } from "../run/program.ts";
import type { Coded, CodingJob } from "./job.ts";

export type CodingProcess = JobChild<CodingJob, Coded>;

const codingCommand = (): string[] => ownCommand(CODING_COMMAND, new URL("./entry.ts", import.meta.url));

export const startCodingProcess = (command: readonly string[] = codingCommand()): CodingProcess =>
  startJobChild(command);

export interface Coders {
  code: Code;
  /** Bodies that wait for a process, and for how long the first of them has waited. */
  load(): { waiting: number; oldest_ms: number };
  /** Gives up what is under way, ends the processes. */
  stop(): Promise<void>;
}

interface CoderOptions {
  log: Pick<Log, "error">;
  processes?: number;
  /** For one body: 10 MB take a second on an idle machine. */
  deadline_ms?: number;
  idle_ms?: number;
}

const DEADLINE_MS = 10_000;
/** Times as long for what is coded ahead, which waits for its core. */
const AHEAD = 6;
const IDLE_MS = 60_000;
/** A machine that gave no process is not asked again at once. */
const REST_MS = 1000;

/** Null while the machine gives none; the log hears of it once. */
function patiently(start: () => CodingProcess, log: CoderOptions["log"]): () => CodingProcess | null {
  let again_at = 0;
  return () => {
    if (performance.now() < again_at) return null;
    try {
      return start();
    } catch (error) {
      again_at = performance.now() + REST_MS;
      log.error("no coding process", error);
      return null;
    }
  };
}

/** Processes that code for a visitor who waits, and those that code ahead: these have lowered their priority for good. */
function restingByPriority({ log, idle_ms = IDLE_MS }: CoderOptions, startOne: () => CodingProcess) {
  const kindOf = () => {
    const resting = restingChildren(startOne, idle_ms);
    return { ...resting, take: patiently(resting.take, log) };
  };
  const kinds = [kindOf(), kindOf()] as const;
  return {
    kind: (ahead: boolean) => kinds[ahead ? 1 : 0],
    close: () => Promise.all(kinds.map(({ close }) => close())),
  };
}

export function createCoders(options: CoderOptions, startOne: () => CodingProcess = startCodingProcess): Coders {
  const { log, processes = Math.max(2, availableParallelism()) + 1, deadline_ms = DEADLINE_MS } = options;
  const { kind, close } = restingByPriority(options, startOne);
  const gate = createGate({ width: processes, clock: () => performance.now() });
  const busy = new Set<CodingProcess>();
  let stopped = false;

  async function runIn(process: CodingProcess, job: CodingJob): Promise<Bytes | null | undefined> {
    const patience_ms = job.ahead ? AHEAD * deadline_ms : deadline_ms;
    const over = performance.now() + patience_ms;
    const late = setTimeout(process.kill, patience_ms);
    busy.add(process);
    try {
      return await process.run(job);
    } catch (error) {
      if (stopped) return undefined;
      log.error(`a body of ${job.bytes.byteLength} bytes was not coded`, (error as Error).message);
      // The machine may have been busy: the caller tries once more.
      return job.ahead && performance.now() >= over ? undefined : null;
    } finally {
      clearTimeout(late);
      busy.delete(process);
      kind(job.ahead).giveBack(process);
    }
  }

  return {
    code: (bytes, coding, effort, ahead = false) =>
      gate.run(async () => {
        const process = stopped ? null : kind(ahead).take();
        return process === null ? undefined : runIn(process, { bytes, coding, effort, ahead });
      }),
    load: gate.load,
    async stop() {
      stopped = true;
      for (const process of busy) process.kill();
      await close();
    },
  };
}
