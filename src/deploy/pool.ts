/** Deploys in processes of their own: slots, deadlines, memory, the pipeline and the publishing. The pool
 *  takes an upload that routes/deploys/deploy.ts has read and allowed. It runs deploys off the
 *  serving process: as many at once as there are slots, which networks take in turn, each with a deadline that covers
 *  the pipeline and ends where publishing begins. One that hangs or crashes costs itself. */
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { restingChildren } from "../run/child.ts";
import { Refusal } from "../base/errors.ts";
import { createGate } from "../run/gate.ts";
import type { Log } from "../run/log.ts";
import { diskRefusal } from "../store/refusals.ts";
import type { Bytes, Limits } from "../base/types.ts";
import {
  busy,
  type DeployProcess,
  type Done,
  notStarted,
  startDeployProcess,
  startTask,
  stopping,
  type Task,
} from "./task.ts";
import { type UploadFile, noZip, type Pieces, receiveZip } from "./upload-file.ts";
import type { CarryJob, Deployed, DeployJob, PlanJob, Planned, RehearsalJob, Rehearsed } from "./job.ts";

interface PoolOptions {
  data_dir: string;
  limits: Limits;
  now: () => number;
  log: Pick<Log, "error">;
  /** Hears how long each deploy took, its wait for a slot included. */
  took?: (ms: number) => void;
  /** Deploys at once, and processes at most. */
  slots?: number;
  /** For the pipeline of one deploy. */
  deadline_ms?: number;
  /** For a free slot. */
  wait_ms?: number;
  memory_bytes?: number;
  /** How long a process without work stays. */
  idle_ms?: number;
}

export interface DeployPool {
  /** Takes an upload in, as a file for a job. Throws what `pieces` throw, and a Refusal when the disk fails. */
  receive(pieces: Pieces): Promise<UploadFile>;
  /** Throws a Refusal, or an error for the log alone. The caller must not use `job.zip` afterwards. */
  deploy(job: DeployJob): Promise<Deployed>;
  /** The same up to publishing: nothing is stored. */
  rehearse(job: RehearsalJob): Promise<Rehearsed>;
  /** Takes the threads of a site's comments along to its live version. */
  carry(job: CarryJob): Promise<void>;
  /** The caller must not use `job.list` afterwards. */
  plan(job: PlanJob): Promise<Planned>;
  load(): { slots: number; busy: number; waiting: number };
  /** Gives up what does not publish yet, waits for what does, ends the processes. */
  stop(): Promise<void>;
}

const MB = 1 << 20;
const WAIT_MS = 5000;
const DEADLINE_MS = 10_000;
const IDLE_MS = 60_000;

/** 256 MB for the 10 MB that a deploy may hold by default, and what more of them takes in proportion. */
const memoryFor = ({ max_bytes }: Limits): number => 256 * MB + 16 * Math.max(0, max_bytes - 10 * MB);

function deployedOf(done: Done): Deployed {
  if ("deployed" in done) return done.deployed;
  throw new Error("a dry run came back from a deploy");
}

function rehearsedOf(done: Done): Rehearsed {
  if ("rehearsed" in done) return done.rehearsed;
  throw new Error("a deploy came back from a dry run");
}

function plannedOf(done: Done): Planned {
  if ("planned" in done) return done.planned;
  throw new Error("a deploy came back from a plan");
}

const uploadOf = (job: Job): UploadFile | Bytes | null => ("zip" in job ? job.zip : "list" in job ? job.list : null);

/** Starts a process and takes an upload in. A failure of the machine becomes a refusal in the caller's words; the log has its
 *  own. */
function beginnings(data_dir: string, log: PoolOptions["log"], startOne: () => DeployProcess) {
  function refuseFor(error: unknown): never {
    if (error instanceof Refusal) throw error;
    log.error("a deploy could not begin", error);
    const refusal = diskRefusal(error);
    throw refusal instanceof Refusal ? refusal : notStarted();
  }
  return {
    start(): DeployProcess {
      try {
        return startOne();
      } catch (error) {
        return refuseFor(error);
      }
    },
    receive: (pieces: Pieces): Promise<UploadFile> => receiveZip(data_dir, pieces).catch(refuseFor),
  };
}

/** Runs a job, as soon as its slot is there. */
function createRunner(options: PoolOptions, startOne: () => DeployProcess) {
  const { limits, now, log, deadline_ms = DEADLINE_MS, memory_bytes = memoryFor(options.limits) } = options;
  const data_dir = resolve(options.data_dir);
  const { start, receive } = beginnings(data_dir, log, startOne);
  const processes = restingChildren(start, options.idle_ms ?? IDLE_MS);
  const tasks = new Set<Task>();
  let stopped = false;

  async function runIn(process: DeployProcess, whole: Job, zip: UploadFile): Promise<Done> {
    if (stopped) throw stopping();
    const { zip: _, list: __, customer: ___, network: ____, ...job } = { zip: null, list: null, ...whole };
    const around = { zip_path: zip.path, data_dir, limits, now: now(), version: packageJson.version };
    const task = startTask(process, { ...job, ...around }, zip, { deadline_ms, memory_bytes }, log);
    tasks.add(task);
    return task.outcome.finally(() => tasks.delete(task));
  }
  return {
    receive,
    async run(job: Job): Promise<Done> {
      if (stopped) throw stopping();
      const process = processes.take(); // it starts while the zip is written
      try {
        const handed = uploadOf(job) ?? noZip;
        const zip = "path" in handed ? handed : await receive([handed]);
        return await runIn(process, job, zip).finally(zip.remove);
      } finally {
        processes.giveBack(process);
      }
    },
    giveUp() {
      stopped = true;
      for (const task of tasks) task.giveUp(stopping);
    },
    close: processes.close,
  };
}

export function createPool(options: PoolOptions, startOne: () => DeployProcess = startDeployProcess): DeployPool {
  const { slots: width = Math.max(2, availableParallelism()), wait_ms = WAIT_MS } = options;
  const slots = createGate({ width, ms: wait_ms, late: busy });
  const runner = createRunner(options, startOne);
  const deploys = new Set<Promise<unknown>>();

  /** Known to `stop` until it has settled. */
  function runInSlot(job: Job): Promise<Done> {
    const running = slots.run(() => runner.run(job), [job.customer, job.network]);
    deploys.add(running);
    return running.finally(() => deploys.delete(running));
  }
  return {
    receive: runner.receive,
    async deploy(job) {
      const started = performance.now();
      const deployed = deployedOf(await runInSlot(job));
      options.took?.(performance.now() - started);
      return deployed;
    },
    rehearse: async (job) => rehearsedOf(await runInSlot(job)),
    carry: async (job) => void (await runInSlot(job)),
    plan: async (job) => plannedOf(await runInSlot(job)),
    load: () => ({ slots: width, ...slots.load() }),
    async stop() {
      slots.close();
      runner.giveUp();
      await Promise.allSettled(deploys);
      await runner.close();
    },
  };
}

type Job = DeployJob | RehearsalJob | CarryJob | PlanJob;
