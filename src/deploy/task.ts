/** One deploy in one process, from its zip to its outcome, with a deadline and a limit of memory. The process is ended before it
 *  publishes or not at all: never between blob and COMMIT. */
import { type JobChild, type ProcessDied, startJobChild } from "../run/child.ts";
import { DEPLOY_COMMAND, ownCommand } from "../run/program.ts";
import type { Refusal } from "../base/errors.ts";
import { every } from "../run/every.ts";
import { fromFailure } from "../base/errors.ts";
import type { Log } from "../run/log.ts";
import { died, during, exchanged, tooLarge, tooLong } from "./failures.ts";
import type { UploadFile, DeployStep } from "./upload-file.ts";
import type { DeployAnswer, DeployOutcome, ProcessJob, ToProcess } from "./job.ts";

export type DeployProcess = JobChild<ProcessJob, DeployAnswer>;

const deployCommand = (): string[] => ownCommand(DEPLOY_COMMAND, new URL("./entry.ts", import.meta.url));

export const startDeployProcess = (command: readonly string[] = deployCommand()): DeployProcess =>
  startJobChild(command);

interface TaskLimits {
  /** For all but publishing. */
  deadline_ms: number;
  /** The process may hold so much while it works. */
  memory_bytes: number;
}

export interface Task {
  outcome: Promise<Done>;
  /** Ends job and process, unless it publishes already. */
  giveUp(reason: (step: DeployStep) => Refusal): void;
}

export type Done = Extract<
  DeployOutcome,
  { deployed: unknown } | { rehearsed: unknown } | { carried: unknown } | { planned: unknown }
>;

const isDone = (outcome: DeployOutcome): outcome is Done =>
  "deployed" in outcome || "rehearsed" in outcome || "carried" in outcome || "planned" in outcome;

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
  const deadline = setTimeout(() => giveUp((step) => tooLong(step, deadline_ms)), deadline_ms);
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

export function startTask(
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
