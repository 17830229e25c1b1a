/** A deploy's process as its pool sees it. */
import { type Child, ProcessDied, startChild } from "../run/child.ts";
import { deployCommand } from "./program.ts";
import type { FromProcess, Outcome, ProcessJob, ToProcess } from "./job.ts";

interface Answer {
  outcome: Outcome;
  spent: boolean;
}

export interface DeployProcess extends Omit<Child<ToProcess>, "send"> {
  /** One job at a time. `mayPublish` is asked once, at most. Rejects with `ProcessDied`. */
  run(job: ProcessJob, mayPublish: () => boolean): Promise<Answer>;
}

export function startDeployProcess(command: readonly string[] = deployCommand()): DeployProcess {
  let died: ProcessDied | null = null;
  let answer: PromiseWithResolvers<Answer> | null = null;
  let mayPublish = () => false;
  const child = startChild<ToProcess, FromProcess>(command, {
    message(message) {
      if (message !== "may I publish") return answer?.resolve(message);
      if (mayPublish()) child.send("publish");
    },
    died: (error) => answer?.reject((died = error)),
  });
  return {
    ...child,
    run(job, ask) {
      mayPublish = ask;
      const mine = (answer = Promise.withResolvers<Answer>());
      if (died !== null) mine.reject(died); // before it was asked
      child.send(job);
      return mine.promise;
    },
  };
}
