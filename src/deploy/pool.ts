/** The entry of src/deploy/, where routes/deploy.ts hands an upload that it has read and allowed.
 *  Runs deploys off the serving thread: as many at once as there are slots, each with a deadline that covers the
 *  pipeline and ends where publishing begins. A thread that hangs or crashes costs its own deploy and is replaced. */
import { availableParallelism } from "node:os";
import { fromPlain, Refusal } from "../errors.ts";
import type { Limits } from "../types.ts";
import { visible } from "../visible.ts";
import { type HandOver, handOver, type Place } from "./hand-over.ts";
import type { Deployed, DeployJob, Outcome, PlainError, RehearsalJob, Rehearsed, ThreadJob } from "./job.ts";
import { createSlots } from "./slots.ts";
import { type DeployThread, startThread } from "./start-thread.ts";

export type { Deployed, DeployJob, Rehearsed } from "./job.ts";

export interface PoolOptions {
  data_dir: string;
  limits: Limits;
  now: () => number;
  /** Deploys at once, and threads at most. */
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
  /** Gives up what does not publish yet, waits for what does, ends the threads. */
  stop(): Promise<void>;
}

const tooComplex = ({ stage, file }: Place, deadline_ms: number): Refusal =>
  new Refusal(
    "too_complex",
    `The deploy could not be read within ${deadline_ms / 1000} seconds: it hung while ${stage}${file ? ` ${visible(file)}` : ""}. ` +
      "Make that file simpler or leave it out, then deploy again.",
    { stage, ...(file !== null && { path: file }) },
  );

const stopping = (): Refusal =>
  new Refusal(
    "unavailable",
    "The server is restarting, and nothing was stored. Try again in a moment.",
    {},
    {
      "retry-after": "1",
    },
  );

/** An error of the thread as if it had been thrown here: the log shows its own stack. */
const thrown = ({ name, message, stack }: PlainError): Error => Object.assign(new Error(message), { name, stack });

function refuseFailed(outcome: Outcome): Exclude<Outcome, { refusal: unknown } | { error: unknown }> {
  if ("deployed" in outcome || "rehearsed" in outcome) return outcome;
  throw "refusal" in outcome ? fromPlain(outcome.refusal) : thrown(outcome.error);
}

/** A job in a thread. */
interface Task {
  outcome: Promise<Outcome>;
  /** Ends job and thread, unless it publishes already. */
  giveUp(reason: Refusal): void;
}

function start(thread: DeployThread, job: ThreadJob, turn: HandOver): Task {
  const given_up = Promise.withResolvers<never>();
  return {
    outcome: Promise.race([thread.run(job), given_up.promise]),
    giveUp(reason) {
      if (!turn.end()) return;
      thread.end();
      given_up.reject(reason);
    },
  };
}

export function createPool(options: PoolOptions, startOne: () => DeployThread = startThread): DeployPool {
  const { data_dir, limits, now, deadline_ms = 10_000, wait_ms = 5000 } = options;
  const slots = createSlots(options.slots ?? Math.max(2, availableParallelism()), wait_ms);
  const tasks = new Set<Task>();
  const deploys = new Set<Promise<unknown>>();
  let idle: DeployThread[] = [];
  let stopped = false;

  /** The thread that rested least, so that a quiet server keeps one warm. */
  function takeThread(): DeployThread {
    idle = idle.filter((thread) => thread.alive());
    return idle.pop() ?? startOne();
  }

  async function run({ zip, ...job }: DeployJob | RehearsalJob) {
    const turn = handOver();
    const thread = takeThread();
    // Only a whole buffer can be handed over; a part of one would take its neighbours along.
    const own = zip.byteLength === zip.buffer.byteLength ? zip : zip.slice();
    const shared = { data_dir, limits, clock_offset: now() - Date.now(), hand_over: turn.memory };
    const task = start(thread, { ...job, ...shared, zip: own }, turn);
    tasks.add(task);
    const deadline = setTimeout(() => task.giveUp(tooComplex(turn.place(), deadline_ms)), deadline_ms);
    try {
      return refuseFailed(await task.outcome);
    } finally {
      clearTimeout(deadline);
      tasks.delete(task);
      if (thread.alive()) idle.push(thread);
    }
  }

  async function runInSlot(job: DeployJob | RehearsalJob) {
    const release = await slots.take();
    try {
      if (stopped) throw stopping();
      return await run(job);
    } finally {
      release();
    }
  }

  /** Known to `stop` until it has settled. */
  function counted(job: DeployJob | RehearsalJob) {
    const running = runInSlot(job);
    deploys.add(running);
    return running.finally(() => deploys.delete(running));
  }

  return {
    async deploy(job) {
      const outcome = await counted(job);
      if ("deployed" in outcome) return outcome.deployed;
      throw new Error("a dry run came back from a deploy");
    },
    async rehearse(job) {
      const outcome = await counted(job);
      if ("rehearsed" in outcome) return outcome.rehearsed;
      throw new Error("a deploy came back from a dry run");
    },
    async stop() {
      stopped = true;
      slots.close();
      for (const task of tasks) task.giveUp(stopping());
      await Promise.allSettled(deploys);
      await Promise.all(idle.map((thread) => thread.close()));
    },
  };
}
