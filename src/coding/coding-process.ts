/** A coding process as those see it who have something to code. */
import { type Child, type ProcessDied, startChild } from "../run/child.ts";
import { CODING_COMMAND, ownCommand } from "../run/program.ts";
import type { Coded, CodingJob } from "./job.ts";

export interface CodingProcess extends Pick<Child<CodingJob>, "pid" | "alive" | "memory" | "kill" | "close"> {
  /** One job at a time. Rejects with `ProcessDied`. */
  run(job: CodingJob): Promise<Coded>;
}

const codingCommand = (): string[] => ownCommand(CODING_COMMAND, new URL("./entry.ts", import.meta.url));

export function startCodingProcess(command: readonly string[] = codingCommand()): CodingProcess {
  let died: ProcessDied | null = null;
  let answer: PromiseWithResolvers<Coded> | null = null;
  const child = startChild<CodingJob, Coded>(command, {
    message: (coded) => answer?.resolve(coded),
    died: (error) => answer?.reject((died = error)),
  });
  return {
    ...child,
    run(job) {
      const mine = (answer = Promise.withResolvers<Coded>());
      if (died !== null) mine.reject(died); // before it was asked
      child.send(job);
      return mine.promise;
    },
  };
}
