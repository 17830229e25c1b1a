/** One deploy in one process, from its zip to its outcome, with a deadline and a limit of memory. The process is ended before it
 *  publishes or not at all: never between blob and COMMIT. */

import { fromFailure, Refusal } from "../base/errors.ts";
import { visible } from "../base/visible.ts";
import { type JobChild, type ProcessDied, startJobChild } from "../run/child.ts";
import { every } from "../run/every.ts";
import type { Log } from "../run/log.ts";
import { DEPLOY_COMMAND, ownCommand } from "../run/program.ts";
import type { DeployAnswer, DeployOutcome, ProcessJob, ToProcess } from "./job.ts";
import type { DeployStep, UploadFile } from "./upload-file.ts";

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

/** On a system whose kernel does not keep a running program's file, an upgrade under a running server ends its deploys. */
const exchanged = (): Refusal =>
  new Refusal(
    "unavailable",
    "The server was upgraded and must be restarted before it takes deploys. Nothing was stored; tell its operator.",
    {},
    { "retry-after": "60" },
  );

/** The refusals for a deploy that was ended, died or never began. The log has the rest, for the operator. */

const SOON = { "retry-after": "1" };

export const busy = (): Refusal =>
  new Refusal("unavailable", "The server is busy with other deploys. Try again in a moment.", {}, SOON);

export const stopping = (): Refusal =>
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

const tooLarge = (step: DeployStep, memory_bytes: number): Refusal =>
  new Refusal(
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
export const notStarted = (): Refusal =>
  new Refusal(
    "unavailable",
    "The server could not start the program that reads deploys, and nothing was stored. Try again in a moment.",
    {},
    SOON,
  );
