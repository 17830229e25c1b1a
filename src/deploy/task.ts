/** One deploy in one process, from the zip's handing over to its outcome: whose turn it is, the deadline, the memory. The
 *  process is ended before it publishes or not at all: never between blob and COMMIT. */
import type { ProcessDied } from "../run/child.ts";
import type { Refusal } from "../base/errors.ts";
import { every } from "../run/every.ts";
import { fromFailure } from "../base/errors.ts";
import type { Log } from "../run/log.ts";
import type { DeployProcess } from "./deploy-process.ts";
import { died, during, exchanged, tooLarge, tooLong } from "./failures.ts";
import type { HandedZip, Place } from "./handed-zip.ts";
import type { Outcome, ProcessJob } from "./job.ts";

interface TaskLimits {
  /** For all but publishing. */
  deadline_ms: number;
  /** Of the process, while it works. */
  memory_bytes: number;
}

export interface Task {
  outcome: Promise<Done>;
  /** Ends job and process, unless it publishes already. */
  giveUp(reason: (place: Place) => Refusal): void;
}

export type Done = Extract<
  Outcome,
  { deployed: unknown } | { rehearsed: unknown } | { carried: unknown } | { planned: unknown }
>;

const isDone = (outcome: Outcome): outcome is Done =>
  "deployed" in outcome || "rehearsed" in outcome || "carried" in outcome || "planned" in outcome;

/** How often memory is looked at: the fastest page of zeros fills 100 MB in this time. */
const WATCH_MS = 50;
/** A process that grew past this is not kept: the next deploy would begin with what is left of this one. */
const KEPT_BYTES = 96 << 20;

function doneOf(outcome: Outcome, log: Pick<Log, "error">): Done {
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
  const deadline = setTimeout(() => giveUp((place) => tooLong(place, deadline_ms)), deadline_ms);
  const look = (): void => {
    if (process.memory() > memory_bytes) giveUp((place) => tooLarge(place, memory_bytes));
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
  zip: HandedZip,
  limits: TaskLimits,
  log: Pick<Log, "error">,
): Task {
  let turn: "working" | "publishing" | "given up" = "working";
  const given_up = Promise.withResolvers<never>();

  function giveUp(reason: (place: Place) => Refusal): void {
    if (turn !== "working") return;
    turn = "given up";
    process.kill();
    void zip.place().then((place) => given_up.reject(reason(place)));
  }
  function mayPublish(): boolean {
    if (turn === "working") turn = "publishing";
    return turn === "publishing";
  }
  async function refuseDead(error: ProcessDied): Promise<never> {
    if (turn === "given up") return given_up.promise;
    const place = turn === "publishing" ? { stage: "publishing", file: null } : await zip.place();
    log.error(`a deploy died ${during(place)}`, error.message);
    throw died(error.signal, place, turn === "publishing");
  }

  const watching = watch(process, limits, giveUp);
  const answered = process.run(job, mayPublish).then(({ outcome, spent }) => {
    if (spent || process.memory() > KEPT_BYTES) process.kill();
    return doneOf(outcome, log);
  }, refuseDead);
  return { outcome: Promise.race([answered, given_up.promise]).finally(watching.stop), giveUp };
}
