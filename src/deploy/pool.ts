/** The entry of src/deploy/, where routes/deploy.ts hands an upload that it has read and allowed.
 *  Runs deploys off the serving thread: as many at once as there are slots, each with a deadline that covers the
 *  pipeline and ends where publishing begins. A worker that hangs or crashes costs its own deploy and is replaced. */
import { availableParallelism } from "node:os";
import { fromPlain, Refusal } from "../errors.ts";
import { createGate } from "../gate.ts";
import type { Bytes, Limits } from "../types.ts";
import { visible } from "../visible.ts";
import { type HandOver, handOver, type Place } from "./hand-over.ts";
import type { Deployed, DeployJob, Job, Outcome, PlainError, RehearsalJob, Rehearsed, WorkerJob } from "./job.ts";
import { type DeployWorker, startDeployWorker } from "./start-worker.ts";

interface PoolOptions {
  data_dir: string;
  limits: Limits;
  now: () => number;
  /** Deploys at once, and workers at most. */
  slots?: number;
  /** For the pipeline of one deploy. */
  deadline_ms?: number;
  /** For a free slot. */
  wait_ms?: number;
}

export interface DeployPool {
  /** Throws a Refusal, or an error for the log alone. `job.zip` cannot be read afterwards. */
  deploy(job: DeployJob): Promise<Deployed>;
  /** The same up to publishing: nothing is stored. */
  rehearse(job: RehearsalJob): Promise<Rehearsed>;
  /** Gives up what does not publish yet, waits for what does, ends the workers. */
  stop(): Promise<void>;
}

const SOON = { "retry-after": "1" };

const busy = (): Refusal =>
  new Refusal("unavailable", "The server is busy with other deploys. Try again in a moment.", {}, SOON);

const stopping = (): Refusal =>
  new Refusal("unavailable", "The server is restarting, and nothing was stored. Try again in a moment.", {}, SOON);

const tooComplex = ({ stage, file }: Place, deadline_ms: number): Refusal =>
  new Refusal(
    "too_complex",
    `The deploy could not be read within ${deadline_ms / 1000} seconds: it hung while ${stage}${file ? ` ${visible(file)}` : ""}. ` +
      "Make that file simpler or leave it out, then deploy again.",
    { stage, ...(file !== null && { path: file }) },
  );

/** An error of the worker as if it had been thrown here: the log shows its own stack. */
const thrown = ({ name, message, stack }: PlainError): Error => Object.assign(new Error(message), { name, stack });

type Done = Exclude<Outcome, { refusal: unknown } | { error: unknown }>;

function refuseFailed(outcome: Outcome): Done {
  if ("deployed" in outcome || "rehearsed" in outcome) return outcome;
  throw "refusal" in outcome ? fromPlain(outcome.refusal) : thrown(outcome.error);
}

function deployedOf(done: Done): Deployed {
  if ("deployed" in done) return done.deployed;
  throw new Error("a dry run came back from a deploy");
}

function rehearsedOf(done: Done): Rehearsed {
  if ("rehearsed" in done) return done.rehearsed;
  throw new Error("a deploy came back from a dry run");
}

/** Only a whole buffer can be handed over; a part of one would take its neighbours along. */
const ownBuffer = (zip: Bytes): Bytes => (zip.byteLength === zip.buffer.byteLength ? zip : zip.slice());

/** A job in a worker. */
interface Task {
  outcome: Promise<Outcome>;
  /** Ends job and worker, unless it publishes already. */
  giveUp(reason: Refusal): void;
}

function start(worker: DeployWorker, job: WorkerJob, turn: HandOver): Task {
  const given_up = Promise.withResolvers<never>();
  return {
    outcome: Promise.race([worker.run(job), given_up.promise]),
    giveUp(reason) {
      if (!turn.end()) return;
      worker.end();
      given_up.reject(reason);
    },
  };
}

/** The job in this worker, known to `tasks` until it has settled. */
async function runIn(worker: DeployWorker, job: Job, options: PoolOptions, tasks: Set<Task>): Promise<Done> {
  const { data_dir, limits, now, deadline_ms = 10_000 } = options;
  const turn = handOver();
  const around = { data_dir, limits, now: now(), hand_over: turn.memory };
  const task = start(worker, { ...job, ...around, zip: ownBuffer(job.zip) }, turn);
  const deadline = setTimeout(() => task.giveUp(tooComplex(turn.place(), deadline_ms)), deadline_ms);
  tasks.add(task);
  try {
    return refuseFailed(await task.outcome);
  } finally {
    clearTimeout(deadline);
    tasks.delete(task);
  }
}

/** Workers between two jobs. */
function restingWorkers(startOne: () => DeployWorker) {
  let resting: DeployWorker[] = [];
  return {
    /** The one that rested least, so that a quiet server keeps one warm. */
    take(): DeployWorker {
      resting = resting.filter((worker) => worker.alive());
      return resting.pop() ?? startOne();
    },
    giveBack: (worker: DeployWorker) => void (worker.alive() && resting.push(worker)),
    close: () => Promise.all(resting.map((worker) => worker.close())),
  };
}

export function createPool(options: PoolOptions, startOne: () => DeployWorker = startDeployWorker): DeployPool {
  const { slots: width = Math.max(2, availableParallelism()), wait_ms = 5000 } = options;
  const slots = createGate(width, { ms: wait_ms, late: busy });
  const workers = restingWorkers(startOne);
  const tasks = new Set<Task>();
  const deploys = new Set<Promise<unknown>>();
  let stopped = false;

  async function run(job: Job): Promise<Done> {
    if (stopped) throw stopping();
    const worker = workers.take();
    return runIn(worker, job, options, tasks).finally(() => workers.giveBack(worker));
  }

  /** Known to `stop` until it has settled. */
  function runInSlot(job: Job): Promise<Done> {
    const running = slots.run(() => run(job));
    deploys.add(running);
    return running.finally(() => deploys.delete(running));
  }

  async function stop(): Promise<void> {
    stopped = true;
    slots.close();
    for (const task of tasks) task.giveUp(stopping());
    await Promise.allSettled(deploys);
    await workers.close();
  }

  return {
    deploy: async (job) => deployedOf(await runInSlot(job)),
    rehearse: async (job) => rehearsedOf(await runInSlot(job)),
    stop,
  };
}
