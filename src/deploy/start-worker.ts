/** A deploy's worker as its pool sees it: a thread, which this file alone knows. */
import { threadUrl } from "../thread-url.ts";
import type { Outcome, ToWorker, WorkerJob } from "./job.ts";

export interface DeployWorker {
  /** False once it has ended, for whatever reason. */
  alive(): boolean;
  /** One job at a time. Rejects where the worker ends before it answers. */
  run(job: WorkerJob): Promise<Outcome>;
  /** At once, whatever it does. */
  end(): void;
  /** Between two jobs: lets it close its database first. */
  close(): Promise<void>;
}

export function startDeployWorker(url = threadUrl("./src/deploy/worker.ts")): DeployWorker {
  const thread = new Worker(url);
  const closed = Promise.withResolvers<void>();
  let alive = true;
  let cause = "it ended by itself";
  let answer: PromiseWithResolvers<Outcome> | null = null;

  const send = (message: ToWorker, transfer: ArrayBuffer[] = []) => thread.postMessage(message, transfer);
  thread.onmessage = ({ data }: MessageEvent<Outcome>) => answer?.resolve(data);
  thread.onerror = ({ message }) => {
    cause = message;
  };
  thread.addEventListener("close", () => {
    alive = false;
    answer?.reject(new Error(`A deploy's worker is gone: ${cause}`));
    closed.resolve();
  });

  return {
    alive: () => alive,
    run(job) {
      answer = Promise.withResolvers();
      send(job, [job.zip.buffer]);
      return answer.promise;
    },
    end() {
      alive = false;
      thread.terminate();
    },
    close() {
      if (alive) send("close");
      return closed.promise;
    },
  };
}
