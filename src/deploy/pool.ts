/** Deploys in processes of their own: slots, deadlines, memory, the pipeline and the publishing. The pool
 *  takes an upload that routes/deploys/deploy.ts has read and allowed. It runs deploys off the
 *  serving process: as many at once as there are slots, which networks take in turn, each with a deadline that covers
 *  the pipeline and ends where publishing begins. One that hangs or crashes costs itself. */
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { type JobChild, type ProcessDied, restingChildren, startJobChild } from "../run/child.ts";
import { fromFailure, Refusal } from "../base/errors.ts";
import { createGate } from "../run/gate.ts";
import type { Log } from "../run/log.ts";
import { diskRefusal } from "../store/refusals.ts";
import type { Bytes, Limits } from "../base/types.ts";
import {
  type DeployStep,
  noZip,
  type Pieces,
  receiveZip,
  type UploadFile,
  type PackedVersion,
  packedFile,
} from "./zip-files.ts";
import type {
  CarryJob,
  DeployAnswer,
  Deployed,
  DeployJob,
  DeployOutcome,
  PackJob,
  PlanJob,
  Planned,
  ProcessJob,
  RehearsalJob,
  Rehearsed,
  ToProcess,
} from "./job.ts";
import { addressOf, type StoreAddress } from "../store/index.ts";
import { visible } from "../base/visible.ts";
import { every } from "../run/every.ts";
import { DEPLOY_COMMAND, ownCommand } from "../run/program.ts";

interface PoolOptions extends StoreAddress {
  limits: Limits;
  now: () => number;
  log: Pick<Log, "error">;
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
  /** A stored version as a zip. `done` is called when it is read, when nobody reads on, and when this throws. */
  pack(job: PackJob, done: () => void): Promise<PackedVersion>;
  load(): { slots: number; busy: number; waiting: number; oldest_ms: number };
  /** Gives up what does not publish yet, waits for what does, ends the processes. */
  stop(): Promise<void>;
}

const MB = 1 << 20;
const WAIT_MS = 5000;
const DEADLINE_MS = 10_000;
const IDLE_MS = 60_000;

/** 256 MB for the 10 MB that a deploy may hold by default, and what more of them takes in proportion. */
const memoryFor = ({ max_bytes }: Limits): number => 256 * MB + 16 * Math.max(0, max_bytes - 10 * MB);

/** The answer of the kind that a job was for. */
function resultOf<Kind extends string>(done: Done, kind: Kind): Extract<Done, Readonly<Record<Kind, unknown>>>[Kind] {
  if (kind in done) return (done as Extract<Done, Readonly<Record<Kind, unknown>>>)[kind];
  throw new Error(`something else than ${kind} came back from a deploy's process`);
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
  const address = { ...addressOf(options), data_dir: resolve(options.data_dir) };
  const { start, receive } = beginnings(address.data_dir, log, startOne);
  const processes = restingChildren(start, options.idle_ms ?? IDLE_MS);
  const tasks = new Set<Task>();
  /** Those that had a job. */
  const warm = new WeakSet<DeployProcess>();
  let stopped = false;

  async function runIn(process: DeployProcess, whole: Job, zip: UploadFile): Promise<Done> {
    if (stopped) throw stopping();
    const { zip: _, list: __, customer: ___, network: ____, ...job } = { zip: null, list: null, ...whole };
    const around = { zip_path: zip.path, ...address, limits, now: now(), version: packageJson.version };
    const task = startTask(process, { ...job, ...around }, zip, { deadline_ms, memory_bytes }, log);
    tasks.add(task);
    return task.outcome.finally(() => tasks.delete(task));
  }
  /** A warm process holds up to KEPT_BYTES of other deploys, and Markdown may take what is left: it is tried once more where it has
   *  all of the memory, or an honest text would be refused at one time and not at another. */
  async function runOrAgain(process: DeployProcess, job: Job, zip: UploadFile): Promise<Done> {
    const was_warm = warm.has(process);
    warm.add(process);
    try {
      return await runIn(process, job, zip);
    } catch (error) {
      if (!(was_warm && error instanceof TooLarge && error.details["stage"] === "rendering Markdown")) throw error;
    }
    await zip.putBack();
    const fresh = start();
    return runOrAgain(fresh, job, zip).finally(() => processes.giveBack(fresh));
  }
  return {
    receive,
    async run(job: Job): Promise<Done> {
      if (stopped) throw stopping();
      const process = processes.take(); // it starts while the zip is written
      try {
        const handed = uploadOf(job) ?? noZip;
        const zip = "path" in handed ? handed : await receive([handed]);
        return await runOrAgain(process, job, zip).finally(zip.remove);
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
  const slots = createGate({ width, ms: wait_ms, late: busy, clock: () => performance.now() });
  const runner = createRunner(options, startOne);
  const deploys = new Set<Promise<unknown>>();

  /** Known to `stop` until it has settled. `entered` is called when the slot is there. */
  function runInSlot(job: Job, entered = (): void => {}): Promise<Done> {
    const running = slots.run(() => (entered(), runner.run(job)), [job.customer, job.network]);
    deploys.add(running);
    return running.finally(() => deploys.delete(running));
  }
  return {
    receive: runner.receive,
    async deploy(job) {
      const asked = performance.now();
      let waiting = 0;
      const entered = () => void (waiting = performance.now() - asked);
      const deployed = resultOf(await runInSlot(job, entered), "deployed");
      return { ...deployed, stages: { waiting, ...deployed.stages } };
    },
    rehearse: async (job) => resultOf(await runInSlot(job), "rehearsed"),
    carry: async (job) => void (await runInSlot(job)),
    plan: async (job) => resultOf(await runInSlot(job), "planned"),
    pack(job, done) {
      const packing = (path: string) => runInSlot({ ...job, pack: { ...job.pack, path } });
      return packedFile(options.data_dir, async (path) => resultOf(await packing(path), "packed").bytes, done);
    },
    load: () => ({ slots: width, ...slots.load() }),
    async stop() {
      slots.close();
      runner.giveUp();
      await Promise.allSettled(deploys);
      await runner.close();
    },
  };
}

type Job = DeployJob | RehearsalJob | CarryJob | PlanJob | (PackJob & { pack: { path: string } });

// A task is one job in one process, from its zip to its outcome, with a deadline and a limit of memory. The process is ended
// before it publishes or not at all: never between blob and COMMIT.

export type DeployProcess = JobChild<ProcessJob, DeployAnswer>;

const deployCommand = (): string[] => ownCommand(DEPLOY_COMMAND, new URL("./entry.ts", import.meta.url));

export const startDeployProcess = (command: readonly string[] = deployCommand()): DeployProcess =>
  startJobChild(command, { calls_out: true }); // a state that boxes share is on other machines

interface TaskLimits {
  /** For all but publishing. */
  deadline_ms: number;
  /** The process may hold so much while it works. */
  memory_bytes: number;
}

interface Task {
  outcome: Promise<Done>;
  /** Ends job and process, unless it publishes already. */
  giveUp(reason: (step: DeployStep) => Refusal): void;
}

type Done = Extract<
  DeployOutcome,
  { deployed: unknown } | { rehearsed: unknown } | { carried: unknown } | { planned: unknown } | { packed: unknown }
>;

const isDone = (outcome: DeployOutcome): outcome is Done =>
  ["deployed", "rehearsed", "carried", "planned", "packed"].some((kind) => kind in outcome);

/** How often memory is looked at: the fastest page of zeros fills 100 MB in this time. */
const WATCH_MS = 50;
/** A process that grew past this is not kept: the next deploy would begin with what is left of this one. */
const KEPT_BYTES = 96 << 20;

function doneOf(outcome: DeployOutcome, log: Pick<Log, "error">): Done {
  if ("deployed" in outcome && outcome.deployed.not_carried !== undefined) {
    log.error("comments were not carried to a new version", outcome.deployed.not_carried);
  }
  if (isDone(outcome)) return outcome;
  if ("other_version" in outcome) {
    log.error("deploy", `the program was exchanged for ${outcome.other_version}: restart the server`);
    throw exchanged();
  }
  const error = fromFailure(outcome);
  if (error.cause !== undefined) log.error("a deploy was refused", error.cause);
  throw error;
}

/** Calls back once the time is over or the memory too much. */
function watch(process: DeployProcess, limits: TaskLimits, giveUp: Task["giveUp"]): { stop(): void } {
  const { deadline_ms, memory_bytes } = limits;
  const before = process.cpu();
  const deadline = setTimeout(() => {
    // A machine that works for others costs no file its place.
    const starved = process.cpu() - before < deadline_ms / 2;
    giveUp((step) => (starved ? tooBusy() : tooLong(step, deadline_ms)));
  }, deadline_ms);
  const look = (): void => {
    if (process.memory() > memory_bytes) giveUp((step) => tooLarge(step, memory_bytes));
  };
  const memory = every(WATCH_MS, look, () => {}); // the deadline holds all the same
  return {
    stop() {
      clearTimeout(deadline);
      memory.stop();
    },
  };
}

function startTask(
  process: DeployProcess,
  job: ProcessJob,
  zip: UploadFile,
  limits: TaskLimits,
  log: Pick<Log, "error">,
): Task {
  let turn: "working" | "publishing" | "given up" = "working";
  const given_up = Promise.withResolvers<never>();

  function giveUp(reason: (step: DeployStep) => Refusal): void {
    if (turn !== "working") return;
    turn = "given up";
    process.kill();
    void zip.step().then((step) => given_up.reject(reason(step)));
  }
  /** It asks one thing, once. */
  function mayPublish(): Extract<ToProcess, "publish"> | null {
    if (turn === "working") turn = "publishing";
    return turn === "publishing" ? "publish" : null;
  }
  async function refuseDead(error: ProcessDied): Promise<never> {
    if (turn === "given up") return given_up.promise;
    const step = turn === "publishing" ? { stage: "publishing", file: null } : await zip.step();
    log.error(`a deploy died ${during(step)}`, error.message);
    throw died(error.signal, step, turn === "publishing");
  }

  const watching = watch(process, limits, giveUp);
  const answered = process.run(job, mayPublish).then(({ outcome, spent }) => {
    if (spent || process.memory() > KEPT_BYTES) process.kill();
    return doneOf(outcome, log);
  }, refuseDead);
  return { outcome: Promise.race([answered, given_up.promise]).finally(watching.stop), giveUp };
}

/** On a system whose kernel does not keep a running program's file, an upgrade under a running server ends its deploys. */
const exchanged = (): Refusal =>
  new Refusal(
    "unavailable",
    "The server was upgraded and must be restarted before it takes deploys. Nothing was stored; tell its operator.",
    {},
    { "retry-after": "60" },
  );

// The refusals for a deploy that was ended, died or never began. The log has the rest, for the operator.

const SOON = { "retry-after": "1" };

const busy = (): Refusal =>
  new Refusal("unavailable", "The server is busy with other deploys. Try again in a moment.", {}, SOON);

const stopping = (): Refusal =>
  new Refusal("unavailable", "The server is restarting, and nothing was stored. Try again in a moment.", {}, SOON);

/** `while unpacking a.html`: the log's words too. */
const during = ({ stage, file }: DeployStep): string => `while ${stage}${file ? ` ${visible(file)}` : ""}`;

const whereOf = ({ stage, file }: DeployStep) => ({ stage, ...(file !== null && { path: file }) });

const tooLong = (step: DeployStep, deadline_ms: number): Refusal =>
  new Refusal(
    "too_complex",
    `The deploy could not be read within ${deadline_ms / 1000} seconds: it hung ${during(step)}. ` +
      "Make that file simpler or leave it out, then deploy again.",
    whereOf(step),
  );

const TOO_BUSY =
  "The server is busy and could not read the deploy in time. Nothing was stored, and your files need no change. Try again in a moment.";

const tooBusy = (): Refusal => new Refusal("unavailable", TOO_BUSY, {}, { "retry-after": "5" });

class TooLarge extends Refusal {}

const tooLarge = (step: DeployStep, memory_bytes: number): Refusal =>
  new TooLarge(
    "too_complex",
    `The deploy could not be read within ${Math.round(memory_bytes / (1 << 20))} MB of memory: it took more ${during(step)}. ` +
      "Make that file simpler or leave it out, then deploy again.",
    whereOf(step),
  );

/** A bug of the runtime that this very upload may bring about again. */
const crashed = (step: DeployStep): Refusal =>
  new Refusal(
    "internal",
    `The program that reads deploys crashed ${during(step)}, and nothing was stored. ` +
      "Leave that file out or try again; if it stays, tell the server's operator.",
    whereOf(step),
  );

/** An operator, a service manager, or a kernel that is out of memory. */
const ended = (): Refusal =>
  new Refusal(
    "unavailable",
    "The process that read this deploy was ended from outside, and nothing was stored. Try again in a moment.",
    {},
    SOON,
  );

/** No Retry-After: a program that obeys it would repeat a first deploy, and make a second site where the first one is. */
const outcomeUnknown = (): Refusal =>
  new Refusal(
    "unavailable",
    "The process that stored this deploy died before it could answer. Look whether your change is there before you repeat it.",
  );

const FROM_OUTSIDE: ReadonlySet<string> = new Set(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"]);

/** For a process that ended by itself, or by a signal that was not the pool's. */
function died(signal: string | null, step: DeployStep, publishing: boolean): Refusal {
  if (publishing) return outcomeUnknown();
  return signal !== null && FROM_OUTSIDE.has(signal) ? ended() : crashed(step);
}

/** The machine has no process, no descriptor or no memory left, or the program's file is gone. */
const notStarted = (): Refusal =>
  new Refusal(
    "unavailable",
    "The server could not start the program that reads deploys, and nothing was stored. Try again in a moment.",
    {},
    SOON,
  );
